//! Two regions, each with an operator, a Kubernetes and a ring of its own, that share one store of
//! locks. To the lock the two are one ring; gossip between them is not shown.

use super::World;
use super::manifests::{NAMESPACE, a_cluster};
use super::world::REST;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Nonce;
use palladion_cassandra::facts::region::REGION;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::operator::Life;
use palladion_plan::sim::{Activity, Locks};
use serde_json::json;

/// A round in which something happened takes this long.
const ROUND: SignedDuration = SignedDuration::from_millis(100);
/// Locks are renewed while they are held: longer than any story here.
const ROUNDS: usize = 6_000;

/// The two.
#[derive(Clone)]
pub struct Regions {
    pub east: World,
    pub west: World,
    pub locks: Locks,
    /// How many rings may be initialized, over both.
    pub initializations_allowed: usize,
    /// Turns that were seen on record.
    seen: Vec<(&'static str, Nonce)>,
    /// Which region began what under the lock, in order.
    pub begun: Vec<(&'static str, String)>,
}

/// Which region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    East,
    West,
}

impl Of {
    pub fn name(self) -> &'static str {
        match self {
            Of::East => "east",
            Of::West => "west",
        }
    }
}

impl Regions {
    /// With operators that know their regions, and where locks are; no clusters yet.
    pub fn new() -> Self {
        Self {
            east: region(Of::East),
            west: region(Of::West),
            locks: Locks::default(),
            initializations_allowed: 1,
            seen: Vec::new(),
            begun: Vec::new(),
        }
    }

    /// A ring in each, at rest, of so many members in one rack each. The second one was allowed
    /// by a person: nobody else initializes two rings of one name.
    pub fn with_rings(racks: &[(&str, i32)]) -> Self {
        let mut regions = Self::new();
        regions.create(Of::East, racks);
        regions.settle();
        regions.create(Of::West, racks);
        regions.settle();
        regions.allow(Of::West);
        regions.settle();
        regions.begun.clear();
        regions
    }

    pub fn of(&mut self, of: Of) -> &mut World {
        match of {
            Of::East => &mut self.east,
            Of::West => &mut self.west,
        }
    }

    /// A person creates the cluster of a region.
    pub fn create(&mut self, of: Of, racks: &[(&str, i32)]) {
        let mut cluster = a_cluster(racks);
        cluster["spec"]["ring"] = json!({ "lock": "Region" });
        self.of(of).apply(&cluster);
    }

    /// A person allows the initialization that is refused.
    pub fn allow(&mut self, of: Of) {
        self.initializations_allowed += 1;
        let world = self.of(of);
        let degraded = world.condition("Degraded");
        assert!(degraded.contains("InitializedElsewhere"), "{degraded}\n{}", world.last_words());
        let (_, from) = degraded.split_once("allow-initialization=").expect("a nonce is shown");
        let nonce = from.split('`').next().unwrap_or_default().to_string();
        world.annotate_cluster("palladion.dev/allow-initialization", &nonce);
    }

    pub fn now(&self) -> Timestamp {
        self.east.store.now.max(self.west.store.now)
    }

    /// Who holds the lock.
    pub fn holder(&self) -> Option<String> {
        self.locks.holder("demo", self.now()).map(str::to_string)
    }

    pub fn settle(&mut self) {
        for _ in 0..ROUNDS {
            if !self.tick() {
                return;
            }
        }
        panic!("no rest; {}", self.last_words());
    }

    pub fn until(&mut self, is_so: impl Fn(&Regions) -> bool) {
        for _ in 0..ROUNDS {
            if is_so(self) {
                return;
            }
            if !self.tick() {
                break;
            }
        }
        assert!(is_so(self), "it never came to that; {}", self.last_words());
    }

    /// Go on for some seconds.
    pub fn pass(&mut self, seconds: i64) {
        let end = self.now() + SignedDuration::from_secs(seconds);
        while self.now() < end && self.tick() {}
        for world in [&mut self.east, &mut self.west] {
            world.store.now = world.store.now.max(end);
        }
    }

    pub fn last_words(&self) -> String {
        format!("east: {}\nwest: {}", self.east.last_words(), self.west.last_words())
    }

    /// One round in both, and on to the time at which the next thing happens; false at rest.
    fn tick(&mut self) -> bool {
        let mut all = Activity::default();
        let now = self.now();
        for of in [Of::East, Of::West] {
            let mut locks = std::mem::take(&mut self.locks);
            let world = self.of(of);
            world.store.now = now;
            std::mem::swap(&mut world.store.locks, &mut locks);
            all = all.and(world.round());
            world.check().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
            std::mem::swap(&mut world.store.locks, &mut locks);
            self.locks = locks;
            self.look(of);
        }
        let next = match all.next {
            _ if all.acted => now + ROUND,
            Some(next) if next <= now + REST => next.max(now + SignedDuration::from_millis(1)),
            Some(_) | None => return false,
        };
        (self.east.store.now, self.west.store.now) = (next, next);
        true
    }

    /// The invariants over both regions.
    fn look(&mut self, of: Of) {
        let (holder, name) = (self.holder(), of.name());
        let world = self.of(of);
        let begun = std::mem::take(&mut world.ring.begun_under_lock);
        let turn = world.status()["turn"].clone();
        let runs = world.operators.len() == 1 && world.operators[0].life() == Life::Running;
        let words = world.last_words();
        for member in begun {
            assert_eq!(holder.as_deref(), Some(name), "{member} of {name} has begun; {words}");
            self.begun.push((name, member));
        }
        if let Some(nonce) = turn["nonce"].as_str() {
            let is_new = (name, Nonce::new(nonce));
            // A leader that was frozen in the middle of its write takes a turn with which
            // nothing begins.
            if !self.seen.contains(&is_new) && runs {
                let lock = turn["lockToken"].as_str();
                assert!(lock.is_some(), "a turn of {name} without the lock; {words}");
                assert_eq!(holder.as_deref(), Some(name), "a turn of {name}; {words}");
            }
            self.seen.push(is_new);
        }
        let founders = self.east.ring.founders.len() + self.west.ring.founders.len();
        assert!(founders <= self.initializations_allowed, "{founders} rings; {words}");
    }
}

/// A region without a ring.
fn region(of: Of) -> World {
    let mut world = World::new();
    world.settings.insert(REGION.to_string(), of.name().to_string());
    world.operators.clear();
    world.start_operator();
    if of == Of::West {
        // No uid is given twice, in whichever Kubernetes.
        for number in 0..100 {
            let name = format!("earlier-{number}");
            let key = ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, &name);
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": name, "namespace": NAMESPACE },
            });
            world.store.create(&key, &object).expect("it is created");
            world.store.remove(&key);
        }
    }
    world.set_operator_config(json!({
        "regionLock": { "etcd": { "endpoints": ["https://etcd.example.com:2379"] } },
    }));
    world
}

impl World {
    /// A person sets the operator's settings.
    pub fn set_operator_config(&mut self, spec: serde_json::Value) {
        let key = ObjectKey::new(kinds::OPERATOR_CONFIG, "", "default");
        let object = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "OperatorConfig",
            "metadata": { "name": "default" }, "spec": spec,
        });
        let done = match self.store.get(&key) {
            None => self.store.create(&key, &object).map(drop),
            Some(_) => {
                let part = palladion_plan::Subresource::None;
                self.store.merge(&key, &json!({ "spec": spec }), part).map(drop)
            }
        };
        done.expect("settings should be accepted");
    }
}

/// Longer than any story.
const FOR_GOOD: SignedDuration = SignedDuration::from_hours(24 * 365);

impl World {
    /// The operator ends, and nobody starts another.
    pub fn operator_goes_away(&mut self) {
        self.tell("the operator is gone");
        self.operators.clear();
        self.restart_at = Some(self.now() + FOR_GOOD);
    }

    /// It is started again.
    pub fn operator_comes_back(&mut self) {
        self.tell("the operator is started");
        self.restart_at = None;
        self.start_operator();
    }
}
