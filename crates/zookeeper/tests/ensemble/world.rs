//! The whole: API server, controllers, disks, operator processes, agents and servers,
//! one step after the other, with every invariant looked at after each.

use super::agent::{Agent, Faithless};
use super::model::Ensemble;
use super::volume::{Part, Volume};
use jiff::{SignedDuration, Timestamp};
use palladion_api::service_member::EnsembleView;
use palladion_plan::sim::kubernetes::RULES;
use palladion_plan::sim::operator::{End, Life, Write};
use palladion_plan::sim::{Activity, Done, Faults, Kubernetes, Operator, Store};
use palladion_plan::{ObjectKey, Subresource};
use palladion_zookeeper::{ZookeeperMind, resources as kinds};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub const NAMESPACE: &str = "coordination";
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
    pub ensemble: Ensemble,
    pub operators: Vec<Operator<ZookeeperMind>>,
    pub faults: Faults,
    pub(super) agents: BTreeMap<String, Agent>,
    pub(super) volumes: usize,
    pub faithless: Faithless,
    /// Members whose servers do not start.
    pub unlucky: BTreeSet<String>,
    /// Members whose agents refuse every permit.
    pub refusing: BTreeSet<String>,
    /// Members whose agents do not come to carry out orders.
    pub slow: BTreeSet<String>,
    /// Members whose volumes take nothing more, not even a note of their agents.
    pub full: BTreeSet<String>,
    /// Members whose agents reach the API server no more: they hear nothing and report
    /// nothing, and their servers go on.
    pub cut_off: BTreeSet<String>,
    /// Members whose servers open no session: they answer nothing.
    pub sessionless: BTreeSet<String>,
    /// Members whose agents have not looked at their servers since, and what they saw last. To
    /// a question they look again.
    pub looked: BTreeMap<String, EnsembleView>,
    epoch: i64,
    /// When a new process of the operator starts, where none runs.
    pub(super) restart_at: Option<Timestamp>,
    /// Rules of ZooKeeper or ours that were broken.
    pub broken: Vec<String>,
    /// What the operator has written, but for its status.
    pub writes: Vec<String>,
    pub story: Vec<String>,
    /// Reasons of waits, troubles and events that were seen.
    pub reasons: BTreeSet<String>,
}

impl World {
    /// Three nodes, and a leader of the operator.
    pub fn new() -> Self {
        let mut rules = RULES.to_vec();
        rules.push(fixed_member_fields);
        let mut store = Store::new(START, rules);
        let nodes = [("n1", "z1"), ("n2", "z2"), ("n3", "z3")];
        let kube = Kubernetes::new(&mut store, &nodes);
        let mut world = World {
            store,
            kube,
            ensemble: Ensemble::default(),
            operators: Vec::new(),
            faults: Faults::default(),
            agents: BTreeMap::new(),
            volumes: 0,
            faithless: Faithless::default(),
            unlucky: BTreeSet::new(),
            refusing: BTreeSet::new(),
            slow: BTreeSet::new(),
            full: BTreeSet::new(),
            cut_off: BTreeSet::new(),
            sessionless: BTreeSet::new(),
            looked: BTreeMap::new(),
            epoch: 0,
            restart_at: None,
            broken: Vec::new(),
            writes: Vec::new(),
            story: Vec::new(),
            reasons: BTreeSet::new(),
        };
        world.start_operator();
        world
    }

    /// A person applies an ensemble of so many servers.
    pub fn with(mut self, servers: i64) -> Self {
        self.create(&json!({ "servers": servers, "version": "3.8.4" }));
        self
    }

    /// A person applies an ensemble.
    pub fn create(&mut self, spec: &Value) {
        let object = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "ZookeeperCluster",
            "metadata": { "name": CLUSTER, "namespace": NAMESPACE }, "spec": spec,
        });
        self.store.create(&cluster_key(), &object).unwrap();
    }

    /// An ensemble at rest that has acknowledged writes.
    pub fn settled(servers: i64) -> Self {
        let mut world = World::new().with(servers);
        world.settle();
        world.expect(servers);
        world.story.clear();
        world.writes.clear();
        world
    }

    /// A new leader of the operator.
    pub fn start_operator(&mut self) {
        self.epoch += 1;
        let settings =
            BTreeMap::from([("agentImage".to_string(), "palladion.dev/agent:1".to_string())]);
        let operator = Operator::new(ZookeeperMind, cluster_key(), &settings, self.epoch);
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
        let servers = &self.ensemble.servers;
        format!(
            "{}\nwaits: {waits:#?}\n{servers:#?}\n{:#}",
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
                return self.has_no_ghost();
            }
        }
        Err(format!("no rest after {ROUNDS} rounds"))
    }

    /// A server that was a member once and is in the configuration no more serves nobody.
    fn has_no_ghost(&self) -> Result<(), String> {
        let Some(leader) = self.ensemble.leader() else {
            return Ok(());
        };
        let is_ghost = |s: &&super::model::Server| {
            let was_member = self.kube.disks[&s.disk].content.ledger.part == Part::Joined;
            was_member && s.leader.is_some() && !leader.config.servers.contains_key(&s.id)
        };
        match self.ensemble.servers.values().find(is_ghost) {
            Some(ghost) => Err(format!("server {} serves outside the configuration", ghost.id)),
            None => Ok(()),
        }
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
        let mut all = self.step_operators();
        all = all.and(self.kube.step(&mut self.store));
        let pods = self.kube.pods(&self.store);
        let mut gone: Vec<String> = self.ensemble.servers.keys().cloned().collect();
        gone.retain(|uid| !pods.iter().any(|p| p.uid.as_str() == uid));
        for uid in gone {
            self.ensemble.stop(&uid);
        }
        for pod in &pods {
            all = all.and(self.step_agent(pod));
        }
        all.acted |= self.ensemble.step(&mut self.kube.disks);
        // Clients write as often as they can.
        let _ = self.ensemble.write(&mut self.kube.disks);
        all
    }

    fn step_operators(&mut self) -> Activity {
        let mut all = Activity::default();
        for i in 0..self.operators.len() {
            all = all.and(self.operators[i].step(&mut self.store, &mut self.faults));
            let waits: Vec<String> =
                self.operators[i].waits.iter().map(|w| w.reason.to_string()).collect();
            self.reasons.extend(waits);
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

    /// Whoever ends the pod of a server that votes, or has its agent stop it, leaves a
    /// majority, but for a server alone.
    pub fn spared(&mut self, pod: &str) {
        let pods = self.kube.pods(&self.store);
        let uid = pods.iter().find(|p| p.key.name == pod).map(|p| p.uid.to_string());
        let Some(server) = uid.as_ref().and_then(|uid| self.ensemble.servers.get(uid)) else {
            return;
        };
        let voters = server.config.voters();
        let serve = |(other, s): &(&String, &super::model::Server)| {
            Some(*other) != uid.as_ref() && s.leader.is_some() && voters.contains(&s.id)
        };
        let rest = self.ensemble.servers.iter().filter(serve).count();
        let counts = voters.contains(&server.id) && server.leader.is_some();
        if counts && voters.len() > 1 && rest * 2 <= voters.len() {
            self.broken.push(format!("pod {pod} was ended, and {rest} of {voters:?} serve"));
        }
    }

    /// What must hold at every moment.
    fn check(&mut self) -> Result<(), String> {
        if let Some(leader) = self.ensemble.leader() {
            let log = &self.kube.disks[&leader.disk].content.data.clone().unwrap_or_default().log;
            let has: BTreeSet<u32> = log.values().flatten().copied().collect();
            let lost: Vec<&u32> = self.ensemble.acknowledged.difference(&has).take(3).collect();
            if !lost.is_empty() {
                return Err(format!(
                    "server {} leads without acknowledged writes {lost:?}",
                    leader.id
                ));
            }
        }
        if self.ensemble.begun > 1 {
            return Err("the ensemble was initialized twice".to_string());
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

    /// At rest there are so many servers, all of which vote, serve and are ready, and
    /// every acknowledged write is there.
    #[track_caller]
    pub fn expect(&mut self, servers: i64) {
        let leader =
            self.ensemble.leader().unwrap_or_else(|| panic!("nobody leads\n{}", self.last_words()));
        let voters = leader.config.voters();
        let count = usize::try_from(servers).unwrap();
        assert_eq!(voters.len(), count, "{}", self.last_words());
        assert_eq!(leader.config.servers.len(), count, "{}", self.last_words());
        assert_eq!(self.ensemble.servers.len(), count, "{}", self.last_words());
        assert!(!self.ensemble.acknowledged.is_empty());
        let status = self.status();
        assert_eq!(
            status["servers"],
            json!(format!("{servers}/{servers}")),
            "{}",
            self.last_words()
        );
        assert_eq!(status["turn"], Value::Null, "{}", self.last_words());
        let nodes = status["service"]["nodes"].as_array().cloned().unwrap_or_default();
        assert_eq!(nodes.len(), count, "{}", self.last_words());
        assert_eq!(status["service"]["active"], json!(true));
    }

    pub fn status(&self) -> Value {
        self.store.get(&cluster_key()).map(|c| c["status"].clone()).unwrap_or_default()
    }

    /// `status reason: message` of a condition.
    pub fn condition(&self, type_: &str) -> String {
        let status = self.status();
        let all = status["conditions"].as_array().cloned().unwrap_or_default();
        let found = all.iter().find(|c| c["type"] == type_).cloned().unwrap_or_default();
        let text = |field: &str| found[field].as_str().unwrap_or_default().to_string();
        format!("{} {}: {}", text("status"), text("reason"), text("message"))
    }

    /// A person changes the spec of the ensemble.
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
    let (old, new) = (&old["spec"], &new["spec"]);
    let same_volume = old["volumeID"].is_string() && old["volumeID"] == new["volumeID"];
    if same_volume && !old["serverID"].is_null() && old["serverID"] != new["serverID"] {
        return Err("spec.serverID: belongs to the volume".to_string());
    }
    if same_volume && new["starts"].as_i64() < old["starts"].as_i64() {
        return Err("spec.starts: never decreases".to_string());
    }
    if old["run"] == "Terminated" && new["run"] != "Terminated" {
        return Err("spec.run: Terminated is final".to_string());
    }
    Ok(())
}
