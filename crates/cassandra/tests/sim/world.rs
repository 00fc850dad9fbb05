//! The whole: API server, controllers, disks, operator processes, agents and
//! servers, one step after the other, with every invariant looked at after each.

use super::agent::Agent;
use super::balancers::Balancers;
use super::manifests::{CLUSTER, NAMESPACE};
use super::ring::Ring;
use super::volume::Volume;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;
use palladion_cassandra::facts::ADMISSION_POLICIES;
use palladion_cassandra::{CassandraMind, resources as kinds};
use palladion_plan::sim::kubernetes::RULES;
use palladion_plan::sim::{Activity, Faults, Feed, Kubernetes, Operator, Random, Store};
use palladion_plan::{ObjectKey, Resource, Subresource};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Where every history starts.
pub const START: Timestamp = Timestamp::constant(1_767_225_600, 0);
/// A round in which something happened takes this long.
const ROUND: SignedDuration = SignedDuration::from_millis(100);
/// Nothing to do for this long is rest.
pub(super) const REST: SignedDuration = SignedDuration::from_secs(900);
/// A history that does not come to rest in so many rounds never will.
const ROUNDS: usize = 6_000;
/// From the end of an operator process to its successor.
pub const RESTART: SignedDuration = SignedDuration::from_secs(2);

/// Can pods reach the API server?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Reachable,
    Away,
}

/// What is left between one member's agent and the API server. Its kubelet is not meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It hears, and what it writes does not arrive.
    Mute,
    /// Nothing.
    Cut,
}

/// Does a history go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    GoesOn,
    Rest,
}

/// Everything.
#[derive(Clone)]
pub struct World {
    pub store: Store,
    pub kube: Kubernetes<Volume>,
    pub ring: Ring,
    pub operators: Vec<Operator<CassandraMind>>,
    pub faults: Faults,
    pub api: Api,
    /// The controller of load balancers of the cloud.
    pub balancers: Balancers,
    /// Members whose agents do not reach the API server, or not in both directions.
    pub links: BTreeMap<String, Link>,
    pub(super) agents: BTreeMap<String, (Agent, Option<Timestamp>)>,
    /// What the clock of a member's machine is ahead, where it is.
    pub clocks: BTreeMap<String, SignedDuration>,
    pub(super) volumes: usize,
    /// Permits and intents that were looked at.
    pub(super) given: BTreeSet<String>,
    epoch: i64,
    /// The release of operators that start from now on.
    pub mind: CassandraMind,
    /// What operators that start from now on are started with.
    pub(super) settings: BTreeMap<String, String>,
    pub(super) restart_at: Option<Timestamp>,
    random: Option<Random>,
    /// Host IDs that a person has given up.
    pub given_up: BTreeSet<HostId>,
    /// How often a ring may be founded; more than once only where a person said so.
    pub initializations_allowed: usize,
    /// The version of the member protocol of agents that are started.
    pub protocol: u32,
    /// Pods and claims that were ended, each with the reason, in order.
    pub destructive: Vec<String>,
    /// StatefulSets whose replicas a person has changed.
    pub(super) scaled_by_hand: BTreeSet<String>,
    /// Pods that were evicted, in order.
    pub evicted: Vec<String>,
    /// Pods that were not ready when another was ended by the operator.
    pub unready_at_stop: Vec<String>,
    /// Members that the operator has ordered to be stopped.
    pub(super) stopped: BTreeSet<String>,
    /// Writes of the operator that were sent, by what they did.
    pub writes: Vec<String>,
    /// Reasons of the events that went with them.
    pub events: BTreeSet<Reason>,
    /// How often what was counted with them, by the name of the counter and its labels.
    pub counts: BTreeMap<String, usize>,
    pub story: Vec<String>,
}

impl World {
    /// Three nodes in three zones; a keyspace with two copies.
    pub fn new() -> Self {
        let mut rules = RULES.to_vec();
        rules.push(fixed_member_fields);
        let mut store = Store::new(START, rules);
        let kube = Kubernetes::new(&mut store, &[("n1", "z1"), ("n2", "z2"), ("n3", "z3")]);
        let mut world = World {
            store,
            kube,
            ring: Ring::new(2),
            operators: Vec::new(),
            faults: Faults::default(),
            api: Api::Reachable,
            balancers: Balancers::default(),
            links: BTreeMap::new(),
            agents: BTreeMap::new(),
            clocks: BTreeMap::new(),
            volumes: 0,
            given: BTreeSet::new(),
            epoch: 0,
            mind: CassandraMind::default(),
            settings: agent_image("palladion.dev/agent:0.1.0"),
            restart_at: None,
            random: None,
            given_up: BTreeSet::new(),
            initializations_allowed: 1,
            protocol: palladion_api::member::PROTOCOL,
            destructive: Vec::new(),
            scaled_by_hand: BTreeSet::new(),
            evicted: Vec::new(),
            unready_at_stop: Vec::new(),
            stopped: BTreeSet::new(),
            writes: Vec::new(),
            events: BTreeSet::new(),
            counts: BTreeMap::new(),
            story: Vec::new(),
        };
        world.start_operator();
        world
    }

    /// Things happen in an order that the seed chooses.
    pub fn shuffled(mut self, seed: u64) -> Self {
        self.random = Some(Random::new(seed));
        self
    }

    /// A person applies a cluster.
    pub fn with(mut self, cluster: &Value) -> Self {
        self.apply(cluster);
        self
    }

    pub fn apply(&mut self, cluster: &Value) {
        let key = cluster_key();
        match self.store.get(&key) {
            None => self.store.create(&key, cluster).map(|_| ()),
            Some(_) => self
                .store
                .merge(&key, &json!({ "spec": cluster["spec"] }), Subresource::None)
                .map(|_| ()),
        }
        .expect("a person's cluster should be accepted");
    }

    /// A new leader.
    pub fn start_operator(&mut self) {
        self.epoch += 1;
        self.operators.push(Operator::new(self.mind, cluster_key(), &self.settings, self.epoch));
    }

    /// Palladion itself is upgraded: the operator starts again with another image
    /// of the agent.
    pub fn upgrade_palladion(&mut self, agent: &str) {
        self.tell("Palladion is upgraded");
        self.settings = agent_image(agent);
        self.operators.clear();
        self.start_operator();
    }

    /// How the leader's watch of a kind follows.
    pub fn set_feed(&mut self, resource: Resource, feed: Feed) {
        self.tell(&format!("the watch of {} is {feed:?}", resource.plural));
        for operator in &mut self.operators {
            operator.cache.set_feed(resource, feed);
            operator.resync();
        }
    }

    /// The frozen leader goes on with the plan that it had, and learns then
    /// that it is the leader no more.
    pub fn wake_and_end_the_old_leader(&mut self) {
        self.tell("the old leader wakes up");
        self.operators[0].thaw();
        while self.operators[0].is_busy() {
            let _ = self.operators[0].step(&mut self.store, &mut self.faults);
            for done in std::mem::take(&mut self.operators[0].done) {
                self.note(&done);
            }
        }
        self.operators.remove(0);
        self.tell("the old leader is gone");
    }

    pub fn now(&self) -> Timestamp {
        self.store.now
    }

    /// Seconds since the start.
    pub fn clock(&self) -> i64 {
        self.now().duration_since(START).as_secs()
    }

    pub fn tell(&mut self, what: &str) {
        self.story.push(format!("{:>4}s  {what}", self.clock()));
    }

    /// Go on until nothing happens any more.
    pub fn settle(&mut self) {
        if let Err(why) = self.try_settle() {
            panic!("{why}\n{}", self.last_words());
        }
    }

    pub fn try_settle(&mut self) -> Result<(), String> {
        for _ in 0..ROUNDS {
            if self.tick()? == Tick::Rest {
                return Ok(());
            }
        }
        Err(format!("no rest after {ROUNDS} rounds"))
    }

    /// One round, and on to the time at which the next thing happens.
    pub fn tick(&mut self) -> Result<Tick, String> {
        self.tick_until(self.now() + REST)
    }

    /// The same; what happens later than that is for another time.
    fn tick_until(&mut self, horizon: Timestamp) -> Result<Tick, String> {
        let activity = self.round();
        self.check()?;
        match activity.next {
            _ if activity.acted => self.store.now += ROUND,
            Some(next) if next <= horizon => {
                self.store.now = next.max(self.now() + SignedDuration::from_millis(1))
            }
            Some(_) | None => return Ok(Tick::Rest),
        }
        Ok(Tick::GoesOn)
    }

    /// Go on until something is so, as it must be.
    pub fn until(&mut self, is_so: impl Fn(&World) -> bool) {
        let came = self.comes_to(is_so);
        assert!(came, "it never came to that; {}", self.last_words());
    }

    /// Go on until something is so; false = it came to rest without.
    #[must_use]
    pub fn comes_to(&mut self, is_so: impl Fn(&World) -> bool) -> bool {
        for _ in 0..ROUNDS {
            if is_so(self) {
                return true;
            }
            match self.tick() {
                Ok(Tick::GoesOn) => {}
                Ok(Tick::Rest) => return is_so(self),
                Err(why) => panic!("{why}\n{}", self.last_words()),
            }
        }
        false
    }

    /// Processes on all machines end; pods stay.
    pub fn forget_processes(&mut self) {
        self.beat();
        for uid in std::mem::take(&mut self.agents).into_keys() {
            self.ring.stop(&uid, self.store.now);
        }
    }

    /// Go on for some seconds; what is due within them happens at its time.
    pub fn pass(&mut self, seconds: i64) {
        if let Err(why) = self.try_pass(seconds) {
            panic!("{why}\n{}", self.last_words());
        }
    }

    pub fn try_pass(&mut self, seconds: i64) -> Result<(), String> {
        let end = self.now() + SignedDuration::from_secs(seconds);
        for _ in 0..ROUNDS {
            let horizon = end.max(self.now() + REST);
            if self.now() >= end || self.tick_until(horizon)? == Tick::Rest {
                break;
            }
        }
        self.store.now = self.now().max(end);
        self.beat();
        Ok(())
    }

    /// Everybody once.
    pub(super) fn round(&mut self) -> Activity {
        self.beat();
        self.follow_services();
        let balanced = self.step_balancers();
        let mut actors = [Actor::Operators, Actor::Kubernetes, Actor::Agents, Actor::Ring];
        if let Some(random) = &mut self.random {
            random.shuffle(&mut actors);
        }
        let mut all = balanced;
        for actor in actors {
            all = all.and(match actor {
                Actor::Operators => self.step_operators(),
                Actor::Kubernetes => self.step_kubernetes(),
                Actor::Agents => self.step_agents(),
                Actor::Ring => {
                    self.ring.step(self.store.now, &mut self.kube.disks, &mut self.random)
                }
            });
            for line in std::mem::take(&mut self.ring.told) {
                self.tell(&line);
            }
        }
        all
    }
}

#[derive(Clone, Copy)]
enum Actor {
    Operators,
    Kubernetes,
    Agents,
    Ring,
}

fn agent_image(image: &str) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("agentImage".to_string(), image.to_string()),
        (ADMISSION_POLICIES.to_string(), "true".to_string()),
    ])
}

pub fn cluster_key() -> ObjectKey {
    ObjectKey::new(kinds::CLUSTER, NAMESPACE, CLUSTER)
}

/// What the CRD's transition rules refuse.
fn fixed_member_fields(key: &ObjectKey, old: Option<&Value>, new: &Value) -> Result<(), String> {
    let Some(old) = old.filter(|_| key.resource == kinds::MEMBER) else {
        return Ok(());
    };
    for field in ["cluster", "ring", "datacenter", "rack"] {
        if old["spec"][field] != new["spec"][field] {
            return Err(format!("spec.{field}: the {field} of a member is fixed"));
        }
    }
    let given_up = |spec: &Value| {
        let volume = new["spec"]["volumeID"].is_string();
        volume && spec["wanted"]["volumeID"] == new["spec"]["volumeID"]
    };
    if given_up(&old["spec"]) && !given_up(&new["spec"]) {
        return Err("spec.wanted: this member was terminated, which is final".into());
    }
    Ok(())
}
