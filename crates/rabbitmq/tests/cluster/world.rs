//! The whole: API server, controllers, disks, operator processes, agents and nodes,
//! one step after the other, with every invariant looked at after each.

use super::agent::{Agent, Faithless};
use super::lag::Api;
use super::model::{App, Rabbit, data};
use super::volume::Volume;
use jiff::{SignedDuration, Timestamp};
use palladion_api::service_member::{Alarm, BrokerView};
use palladion_plan::sim::kubernetes::RULES;
use palladion_plan::sim::operator::{End, Life, Write};
use palladion_plan::sim::{Activity, Done, Faults, Kubernetes, Operator, Store};
use palladion_plan::{ObjectKey, Subresource};
use palladion_rabbitmq::{RabbitmqMind, resources as kinds};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub const NAMESPACE: &str = "messaging";
pub const CLUSTER: &str = "demo";
/// Where every history starts.
const START: Timestamp = Timestamp::constant(1_767_225_600, 0);
/// A round in which something happened takes this long.
const ROUND: SignedDuration = SignedDuration::from_millis(100);
/// Nothing to do for this long is rest.
const REST: SignedDuration = SignedDuration::from_secs(900);
/// A history that does not come to rest in so many rounds never will.
const ROUNDS: usize = 6_000;
/// From the end of an operator process to its successor.
const RESTART: SignedDuration = SignedDuration::from_secs(2);

/// Everything.
#[derive(Clone)]
pub struct World {
    pub store: Store,
    pub kube: Kubernetes<Volume>,
    pub rabbit: Rabbit,
    pub operators: Vec<Operator<RabbitmqMind>>,
    pub faults: Faults,
    pub(super) agents: BTreeMap<String, Agent>,
    pub(super) volumes: usize,
    pub faithless: Faithless,
    /// Members whose nodes do not start.
    pub unlucky: BTreeSet<String>,
    /// Members whose agents refuse every permit.
    pub refusing: BTreeSet<String>,
    /// Members whose nodes run and get into no cluster.
    pub stuck: BTreeSet<String>,
    /// Members whose management API does not answer, whatever the node does.
    pub hangs: BTreeSet<String>,
    /// Members whose agents do not come to carry out orders.
    pub slow: BTreeSet<String>,
    /// Members whose volumes take nothing more, not even a note of their agents.
    pub full: BTreeSet<String>,
    /// Queues that refuse every change of their replicas.
    pub sick: BTreeSet<String>,
    /// Members whose agents do not come to an end with what they do.
    pub busy: BTreeSet<String>,
    /// Members whose agents fail at every order.
    pub failing: BTreeSet<String>,
    /// Queues whose replicas cannot be deleted: the command runs out of time.
    pub stubborn: BTreeSet<String>,
    /// Members whose applications are drained and do not stop.
    pub unstoppable: BTreeSet<String>,
    /// Members whose pods are not ready, whatever their nodes do.
    pub unready: BTreeSet<String>,
    /// Members whose agents cannot read the queues: they answer in part.
    pub half: BTreeSet<String>,
    /// Members whose agents come to nothing at all; what their nodes have begun goes on.
    pub absent: BTreeSet<String>,
    /// Members whose agents have not looked at their nodes since, and what they saw last. To a
    /// question they look again.
    pub looked: BTreeMap<String, BrokerView>,
    /// Permits that agents refused, and why.
    pub refused: Vec<String>,
    /// The Secret as kubelets mount it: none, where somebody has deleted it.
    pub secret_is_gone: bool,
    /// Files that stand for definitions, by their hash.
    pub definitions: Option<String>,
    /// RabbitMQ refuses them before the first node serves.
    pub definitions_are_refused: bool,
    /// Those that a node has imported.
    pub imported: BTreeSet<String>,
    /// Somebody has enabled `khepri_db`.
    pub khepri: bool,
    /// Reasons that agents give, by member, whatever else they would say.
    pub says: BTreeMap<String, &'static str>,
    /// Stable feature flags that are not enabled.
    pub flags_disabled: Vec<String>,
    /// Is the flag enabled that came with 3.11?
    pub new_flag_enabled: bool,
    /// Alarms of nodes.
    pub alarms: Vec<Alarm>,
    pub(super) api: Api,
    epoch: i64,
    /// When a new process of the operator starts, where none runs.
    pub(super) restart_at: Option<Timestamp>,
    /// Rules that were broken.
    pub broken: Vec<String>,
    /// What the operator has written, but for its status.
    pub writes: Vec<String>,
    pub story: Vec<String>,
    /// Reasons of waits, troubles and events that were seen: of `Degraded` in every state that
    /// somebody else could have read.
    pub reasons: BTreeSet<String>,
    /// What events have said.
    pub events: Vec<String>,
}

impl World {
    /// Three nodes, and a leader of the operator.
    pub fn new() -> Self {
        let mut rules = RULES.to_vec();
        rules.push(fixed_member_fields);
        rules.push(super::lengths::fits);
        let mut store = Store::new(START, rules);
        let nodes = [("n1", "z1"), ("n2", "z2"), ("n3", "z3")];
        let kube = Kubernetes::new(&mut store, &nodes);
        let mut world = World {
            store,
            kube,
            rabbit: Rabbit::default(),
            operators: Vec::new(),
            faults: Faults::default(),
            agents: BTreeMap::new(),
            refused: Vec::new(),
            volumes: 0,
            faithless: Faithless::default(),
            unlucky: BTreeSet::new(),
            refusing: BTreeSet::new(),
            stuck: BTreeSet::new(),
            hangs: BTreeSet::new(),
            slow: BTreeSet::new(),
            full: BTreeSet::new(),
            sick: BTreeSet::new(),
            busy: BTreeSet::new(),
            failing: BTreeSet::new(),
            stubborn: BTreeSet::new(),
            unstoppable: BTreeSet::new(),
            half: BTreeSet::new(),
            unready: BTreeSet::new(),
            absent: BTreeSet::new(),
            looked: BTreeMap::new(),
            secret_is_gone: false,
            definitions: None,
            definitions_are_refused: false,
            imported: BTreeSet::new(),
            khepri: false,
            says: BTreeMap::new(),
            flags_disabled: Vec::new(),
            new_flag_enabled: false,
            alarms: Vec::new(),
            api: Api::default(),
            epoch: 0,
            restart_at: None,
            broken: Vec::new(),
            writes: Vec::new(),
            story: Vec::new(),
            reasons: BTreeSet::new(),
            events: Vec::new(),
        };
        world.start_operator();
        world
    }

    /// A person applies a cluster of so many nodes.
    pub fn with(mut self, nodes: i64) -> Self {
        self.create(&json!({ "nodes": nodes, "version": "3.10.8" }));
        self
    }

    /// A person applies a cluster.
    pub fn create(&mut self, spec: &Value) {
        let object = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "RabbitmqCluster",
            "metadata": { "name": CLUSTER, "namespace": NAMESPACE }, "spec": spec,
        });
        self.store.create(&cluster_key(), &object).unwrap();
    }

    /// A cluster at rest with a queue that has confirmed messages.
    pub fn settled(nodes: i64) -> Self {
        let mut world = World::new().with(nodes);
        world.settle();
        world.declare("orders", 3);
        world.pass(3);
        world.settle();
        world.expect(nodes);
        world.story.clear();
        world.writes.clear();
        world.reasons.clear();
        world
    }

    /// A new leader of the operator.
    pub fn start_operator(&mut self) {
        self.epoch += 1;
        let settings =
            BTreeMap::from([("agentImage".to_string(), "palladion.dev/agent:1".to_string())]);
        let operator = Operator::new(RabbitmqMind, cluster_key(), &settings, self.epoch);
        self.operators.push(operator);
    }

    pub fn now(&self) -> Timestamp {
        self.store.now
    }

    pub fn tell(&mut self, what: &str) {
        let at = self.now().duration_since(START).as_secs();
        self.story.push(format!("{at:>4}s  {what}"));
    }

    pub fn last_words(&self) -> String {
        let from = self.story.len().saturating_sub(60);
        let status = self.store.get(&cluster_key()).map(|c| c["status"].clone());
        let waits: Vec<String> =
            self.operators.iter().flat_map(|o| &o.waits).map(|w| w.message.to_string()).collect();
        let nodes = &self.rabbit.nodes;
        let queues = self.rabbit.queues(&self.kube.disks);
        format!(
            "{}\nwaits: {waits:#?}\n{nodes:#?}\n{queues:#?}\n{:#}",
            self.story[from..].join("\n"),
            status.unwrap_or_default()
        )
    }

    /// Go on until nothing happens any more.
    pub fn settle(&mut self) {
        if let Err(why) = self.try_settle() {
            panic!("{why}\n{}", self.last_words());
        }
    }

    pub fn try_settle(&mut self) -> Result<(), String> {
        for _ in 0..ROUNDS {
            if !self.tick()? {
                return Ok(());
            }
        }
        Err(format!("no rest after {ROUNDS} rounds"))
    }

    /// Go on for some seconds.
    pub fn pass(&mut self, seconds: i64) {
        let end = self.now() + SignedDuration::from_secs(seconds);
        let mut rounds = 0;
        while self.now() < end {
            match self.tick() {
                Ok(true) => {}
                Ok(false) => break,
                Err(why) => panic!("{why}\n{}", self.last_words()),
            }
            rounds += 1;
            assert!(rounds < ROUNDS, "no rest in {seconds} s: {}", self.last_words());
        }
        self.store.now = self.now().max(end);
    }

    /// Go on until something is so, as it must be.
    pub fn until(&mut self, is_so: impl Fn(&World) -> bool) {
        for _ in 0..ROUNDS {
            if is_so(self) {
                return;
            }
            match self.tick() {
                Ok(true) => {}
                Ok(false) => break,
                Err(why) => panic!("{why}\n{}", self.last_words()),
            }
        }
        assert!(is_so(self), "it never came to that; {}", self.last_words());
    }

    /// One round, and on to the time at which the next thing happens; false = rest.
    pub fn tick(&mut self) -> Result<bool, String> {
        let activity = self.round();
        self.check()?;
        match activity.next {
            _ if activity.acted => self.store.now += ROUND,
            Some(next) if next <= self.now() + REST => {
                self.store.now = next.max(self.now() + SignedDuration::from_millis(1));
            }
            Some(_) | None => return Ok(false),
        }
        Ok(true)
    }

    /// Everybody once.
    fn round(&mut self) -> Activity {
        let mut all = Activity::default();
        if self.api == Api::Reachable {
            all = self.step_operators().and(self.kube.step(&mut self.store));
        }
        let pods = self.kube.pods(&self.store);
        let mut gone: Vec<String> = self.rabbit.nodes.keys().cloned().collect();
        gone.retain(|uid| !pods.iter().any(|p| p.uid.as_str() == uid));
        for uid in gone {
            self.rabbit.stop(&uid, &mut self.kube.disks);
        }
        if self.api == Api::Reachable {
            for pod in &pods {
                all = all.and(self.step_agent(pod));
            }
        }
        all.acted |= self.rabbit.step(&mut self.kube.disks);
        self.broken.append(&mut self.rabbit.broken);
        // Clients publish as often as they can.
        self.rabbit.publish(&mut self.kube.disks);
        all
    }

    /// Everybody but the operator once.
    pub fn round_without_operator(&mut self) {
        self.store.now += ROUND;
        let _ = self.kube.step(&mut self.store);
        for pod in &self.kube.pods(&self.store) {
            let _ = self.step_agent(pod);
        }
        let _ = self.rabbit.step(&mut self.kube.disks);
    }

    fn step_operators(&mut self) -> Activity {
        let mut all = Activity::default();
        for i in 0..self.operators.len() {
            all = all.and(self.operators[i].step(&mut self.store, &mut self.faults));
            let waits: Vec<String> =
                self.operators[i].waits.iter().map(|w| w.reason.to_string()).collect();
            self.reasons.extend(waits);
            self.reasons.extend(self.degraded());
            for done in std::mem::take(&mut self.operators[i].done) {
                self.note(&done);
            }
        }
        self.operators.retain(|o| o.life() != Life::Dead);
        if self.operators.is_empty() {
            let at = *self.restart_at.get_or_insert(self.store.now + RESTART);
            if at <= self.now() {
                self.restart_at = None;
                self.start_operator();
                self.tell("the operator starts again");
                return all.and(Activity::ACTED);
            }
            all = all.at(at);
        }
        all
    }

    fn note(&mut self, done: &Done) {
        let end = match &done.end {
            End::Done => String::new(),
            other => format!(" ({other:?})"),
        };
        if let Some(event) = &done.event {
            self.reasons.insert(event.reason.to_string());
            self.events.push(event.message.to_string());
        }
        let was_done = matches!(done.end, End::Done | End::AnswerLost | End::DiedAfter);
        if done.write == Write::Status {
            return;
        }
        if was_done {
            self.writes.push(done.doing.clone());
        }
        self.tell(&format!("operator: {}{end}", done.doing));
        let ends_a_pod = matches!(done.write, Write::DeleteProcess | Write::Evict);
        if ends_a_pod && was_done {
            self.spared(&done.object.name);
        }
    }

    /// Whoever ends the pod of a node that runs leaves a majority, but for a node alone, and
    /// no queue without its quorum that had one. One with two replicas pauses: nobody could
    /// wait for a third.
    pub fn spared(&mut self, pod: &str) {
        let pods = self.kube.pods(&self.store);
        let uid = pods.iter().find(|p| p.key.name == pod).map(|p| p.uid.to_string());
        let Some(process) = uid.and_then(|uid| self.rabbit.nodes.get(&uid)).cloned() else {
            return;
        };
        if process.app != App::Running {
            return;
        }
        let cluster = data(&self.kube.disks, &process).cluster.len();
        let rest = self.rabbit.running().iter().filter(|p| p.name != process.name).count();
        if cluster > 1 && rest * 2 <= cluster {
            self.broken.push(format!("pod {pod} was ended, and {rest} of {cluster} nodes run"));
        }
        for (name, queue) in self.rabbit.queues(&self.kube.disks) {
            let online = self.rabbit.online(&name, &queue);
            let stay = online.iter().filter(|p| p.name != process.name).count();
            let has = online.len() * 2 > queue.replicas.len() && queue.replicas.len() > 2;
            let loses = queue.replicas.contains(&process.name) && stay * 2 <= queue.replicas.len();
            if has && loses {
                self.broken.push(format!("pod {pod} was ended, and {name} has lost its quorum"));
            }
        }
    }

    /// What must hold at every moment.
    fn check(&mut self) -> Result<(), String> {
        if let Some(ghost) = self.ghost() {
            return Err(ghost);
        }
        if let Some(lost) = self.rabbit.lost(&self.kube.disks) {
            return Err(lost);
        }
        if self.rabbit.begun > 1 {
            return Err("the cluster was initialized twice".to_string());
        }
        for operator in &self.operators {
            if let Some(violation) = operator.violations.first() {
                return Err(format!("the linter refused a plan: {violation}"));
            }
            if operator.past_wakes > 20 {
                return Err("the operator asks to be woken in the past".to_string());
            }
        }
        match self.broken.first() {
            Some(broken) => Err(broken.clone()),
            None => Ok(()),
        }
    }

    /// A node that runs on another volume than the one that its member has on record.
    fn ghost(&self) -> Option<String> {
        self.rabbit.nodes.values().find_map(|process| {
            let host = process.name.strip_prefix("rabbit@")?;
            let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, host.split('.').next()?);
            let recorded = self.store.get(&key)?["spec"]["volumeID"].clone();
            let own = self.kube.disks.get(&process.disk)?.content.id.clone();
            (json!(own) != recorded)
                .then(|| format!("{} runs on volume {own:?}, which is not on record", process.name))
        })
    }

    /// At rest there are so many nodes, all of which run, know each other and are ready,
    /// every quorum queue has its replicas, and every confirmed message is there.
    #[track_caller]
    pub fn expect(&mut self, nodes: i64) {
        let count = usize::try_from(nodes).unwrap();
        assert_eq!(self.rabbit.nodes.len(), count, "{}", self.last_words());
        let running = self.rabbit.running();
        assert_eq!(running.len(), count, "{}", self.last_words());
        assert!(running.iter().all(|p| p.open), "{}", self.last_words());
        for process in running {
            let cluster = &data(&self.kube.disks, process).cluster;
            assert_eq!(cluster.len(), count, "{}", self.last_words());
        }
        for (name, queue) in self.rabbit.queues(&self.kube.disks) {
            let wanted = queue.wanted.min(count);
            assert!(queue.replicas.len() >= wanted, "{name}: {}", self.last_words());
        }
        assert_eq!(self.rabbit.lost(&self.kube.disks), None);
        let status = self.status();
        assert_eq!(status["nodes"], json!(format!("{nodes}/{nodes}")), "{}", self.last_words());
        assert_eq!(status["turn"], Value::Null, "{}", self.last_words());
        let of_record = status["service"]["nodes"].as_array().cloned().unwrap_or_default();
        assert_eq!(of_record.len(), count, "{}", self.last_words());
        assert_eq!(status["service"]["active"], json!(true));
        assert_eq!(status["rebalancePending"], Value::Null, "{}", self.last_words());
    }

    pub fn status(&self) -> Value {
        self.store.get(&cluster_key()).map(|c| c["status"].clone()).unwrap_or_default()
    }

    /// The reason of `Degraded`, where it is true.
    fn degraded(&self) -> Option<String> {
        let said = self.condition("Degraded");
        let reason = said.strip_prefix("True ")?.split(':').next()?;
        Some(reason.to_string())
    }

    /// `status reason: message` of a condition.
    pub fn condition(&self, type_: &str) -> String {
        let status = self.status();
        let all = status["conditions"].as_array().cloned().unwrap_or_default();
        let found = all.iter().find(|c| c["type"] == type_).cloned().unwrap_or_default();
        let text = |field: &str| found[field].as_str().unwrap_or_default().to_string();
        format!("{} {}: {}", text("status"), text("reason"), text("message"))
    }

    /// A person changes the spec of the cluster.
    pub fn patch_spec(&mut self, patch: &Value) {
        self.tell(&format!("a person changes the spec: {patch}"));
        self.store.merge(&cluster_key(), &json!({ "spec": patch }), Subresource::None).unwrap();
    }
}

pub fn cluster_key() -> ObjectKey {
    ObjectKey::new(kinds::CLUSTER, NAMESPACE, CLUSTER)
}

/// What the CRD's transition rules refuse.
fn fixed_member_fields(key: &ObjectKey, old: Option<&Value>, new: &Value) -> Result<(), String> {
    let Some(old) = old.filter(|_| key.resource == kinds::MEMBER) else {
        return Ok(());
    };
    let is_empty = old["status"]["volume"]["state"] == "Empty";
    let (old, new) = (&old["spec"], &new["spec"]);
    let same_volume = old["volumeID"].is_string() && old["volumeID"] == new["volumeID"];
    let is_renamed = !old["nodeName"].is_null() && old["nodeName"] != new["nodeName"];
    if same_volume && is_renamed && !is_empty {
        return Err("spec.nodeName: belongs to the volume".to_string());
    }
    if same_volume && new["starts"].as_i64() < old["starts"].as_i64() {
        return Err("spec.starts: never decreases".to_string());
    }
    if old["run"] == "Terminated" && new["run"] != "Terminated" {
        return Err("spec.run: Terminated is final".to_string());
    }
    Ok(())
}
