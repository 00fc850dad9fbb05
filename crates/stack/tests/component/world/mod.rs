//! A small world: the simulator's store and operator, a StatefulSet controller,
//! and a kubelet whose pods run the agent's own gate.

mod kubelet;
mod kubernetes;
mod machines;
mod patch;
mod pods;
pub mod schema;
mod spec;

pub use kubelet::Kubelet;
use patch::{is_enough, replacing};
pub use spec::{a_spec, recreated, signalled, with};

use jiff::{SignedDuration, Timestamp};
use palladion_api::Reason;
use palladion_plan::sim::operator::Life;
use palladion_plan::sim::store::text;
use palladion_plan::sim::{Faults, Feed, Operator, Store};
use palladion_plan::{Mind, ObjectKey, Resource, Subresource};
use palladion_stack::ComponentMind;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const NAMESPACE: &str = "shop";
/// The Component of most stories.
pub const NAME: &str = "web";

pub struct World<M = ComponentMind> {
    pub store: Store,
    pub operator: Operator<M>,
    owner: ObjectKey,
    pub faults: Faults,
    pub kubelet: Kubelet,
    settings: BTreeMap<String, String>,
    epoch: i64,
    /// When every dependency was last there.
    pub all_there: Option<Timestamp>,
    /// Most pods of the set that served nobody at once, after all had served.
    pub fewest_ready: usize,
    /// Processes that died or stood still, and from which work went on.
    pub ended: usize,
}

impl World {
    /// A Component, and nothing that it depends on.
    pub fn new(spec: Value) -> Self {
        Self::of(owner_key(), spec)
    }

    /// A world in which the ring is there and everything of this spec runs.
    pub fn settled(spec: Value) -> Self {
        let mut world = Self::new(spec);
        world.ring(3, 3);
        world.pass(20);
        assert!(world.is_at_rest(), "{}", world.status());
        world.fewest_ready = usize::MAX;
        world
    }
}

impl<M: Mind + Clone + Default> World<M> {
    /// An owner, and nothing that it depends on.
    pub fn of(owner_key: ObjectKey, spec: Value) -> Self {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut store = Store::new(now, Vec::new());
        let owner = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": owner_key.resource.kind,
            "metadata": { "name": owner_key.name, "namespace": NAMESPACE }, "spec": spec,
        });
        store.create(&owner_key, &owner).unwrap();
        let settings = BTreeMap::from([("agentImage".to_string(), "agent:1".to_string())]);
        World {
            operator: Operator::new(M::default(), owner_key.clone(), &settings, 1),
            owner: owner_key,
            store,
            faults: Faults::default(),
            kubelet: Kubelet::default(),
            settings,
            epoch: 1,
            all_there: None,
            fewest_ready: usize::MAX,
            ended: 0,
        }
    }

    /// Everything runs, and nothing is waited for.
    pub fn is_at_rest(&self) -> bool {
        let status = self.status();
        let progressing = self.condition("Progressing");
        progressing["reason"] == Reason::UpToDate.as_str() && status["waits"].is_null()
    }

    /// The ring `ring` has so many members on record, of which so many are ready.
    pub fn ring(&mut self, members: i32, ready: i32) {
        self.ring_of(members, members, ready);
    }

    /// The same, with a number of members that it wants.
    pub fn ring_of(&mut self, wanted: i32, members: i32, ready: i32) {
        let node =
            |n: i32| json!({ "name": format!("ring-{n}"), "address": format!("10.96.1.{n}") });
        let service = json!({
            "active": ready > members / 2, "wanted": wanted, "ready": ready,
            "nodes": (0..members).map(node).collect::<Vec<_>>(),
            "ports": { "cql": 9042 }, "attributes": { "datacenter": "dc1" },
        });
        self.dependency(kinds::CASSANDRA, "ring", service);
    }

    pub fn dependency(&mut self, resource: Resource, name: &str, service: Value) {
        let key = ObjectKey::new(resource, NAMESPACE, name);
        let object =
            json!({ "kind": resource.kind, "metadata": { "name": name, "namespace": NAMESPACE } });
        if self.store.get(&key).is_none() {
            self.store.create(&key, &object).unwrap();
        }
        self.store.put_status(&key, json!({ "service": service })).unwrap();
        self.settle();
    }

    /// Another Component of the namespace.
    pub fn component(&mut self, name: &str, depends_on: &[&str]) {
        let on: Vec<Value> =
            depends_on.iter().map(|name| json!({ "kind": "Component", "name": name })).collect();
        let key = ObjectKey::new(kinds::COMPONENT, NAMESPACE, name);
        let object = json!({ "kind": "Component", "metadata": { "name": name, "namespace": NAMESPACE },
            "spec": { "dependsOn": on } });
        self.store.create(&key, &object).unwrap();
        self.settle();
    }

    pub fn feed(&mut self, resource: Resource, feed: Feed) {
        self.operator.cache.set_feed(resource, feed);
        self.operator.resync();
        self.settle();
    }

    pub fn set_spec(&mut self, spec: Value) {
        let patch = replacing(&self.owner()["spec"], &spec);
        self.store.merge(&self.owner, &json!({ "spec": patch }), Subresource::None).unwrap();
        self.settle();
    }

    /// Until nobody has anything to do at this moment.
    pub fn settle(&mut self) {
        for _ in 0..2000 {
            let before = self.store.log().len();
            let activity = self.operator.step(&mut self.store, &mut self.faults);
            self.run_controllers();
            self.run_kubelet();
            self.watch_over();
            if !activity.acted && self.store.log().len() == before {
                assert!(self.operator.violations.is_empty(), "{:?}", self.operator.violations);
                return;
            }
        }
        panic!("the world does not settle: {:?}", self.operator.waits);
    }

    /// So many seconds pass.
    pub fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds {
            self.store.now += SignedDuration::from_secs(1);
            self.settle();
        }
    }

    /// What must hold at any moment.
    fn watch_over(&mut self) {
        schema::fits(self.owner.resource.kind, &self.status());
        if self.dependencies_are_there() {
            self.all_there = Some(self.store.now);
        }
        let ready = self.store.list(kinds::POD).filter(|(_, p)| is_ready(p)).count();
        self.fewest_ready = self.fewest_ready.min(ready);
    }

    fn dependencies_are_there(&self) -> bool {
        let owner = self.owner();
        let mut all = owner["spec"]["dependsOn"].as_array().into_iter().flatten();
        all.all(|d| {
            let resource = [kinds::CASSANDRA, kinds::ZOOKEEPER, kinds::COMPONENT]
                .into_iter()
                .find(|r| d["kind"] == r.kind);
            let key = ObjectKey::new(resource.unwrap(), NAMESPACE, text(d, "/name"));
            let object = self.store.get(&key);
            let stays = object.filter(|o| !o["metadata"]["deletionTimestamp"].is_string());
            let service = stays.map(|o| o["status"]["service"].clone());
            service.is_some_and(|service| is_enough(&service, &d["minimum"]))
        })
    }

    /// A process that died is followed by another, under the next epoch.
    pub fn recover(&mut self) {
        self.ended += usize::from(self.operator.life() != Life::Running);
        if self.operator.life() == Life::Dead {
            self.succeed();
        }
        self.operator.thaw();
    }

    /// Another process takes over; the one before is handed out.
    pub fn succeed(&mut self) -> Operator<M> {
        self.epoch += 1;
        let next = Operator::new(M::default(), self.owner.clone(), &self.settings, self.epoch);
        std::mem::replace(&mut self.operator, next)
    }

    /// A newer release takes over, with an agent of its own.
    pub fn upgrade(&mut self, agent_image: &str) {
        self.settings.insert("agentImage".into(), agent_image.into());
        self.succeed();
        self.settle();
    }

    pub fn owner(&self) -> Value {
        Value::clone(self.store.get(&self.owner).unwrap())
    }

    pub fn status(&self) -> Value {
        self.owner()["status"].clone()
    }

    pub fn condition(&self, type_: &str) -> Value {
        let status = self.status();
        let mut all = status["conditions"].as_array().into_iter().flatten();
        all.find(|c| c["type"] == type_).cloned().unwrap_or_default()
    }

    /// `True Reason` of a condition.
    pub fn says(&self, type_: &str) -> String {
        let condition = self.condition(type_);
        format!("{} {}", text(&condition, "/status"), text(&condition, "/reason"))
    }

    /// Reasons in conditions and waits now.
    pub fn shows(&self, reason: Reason) -> bool {
        let status = self.status();
        let lists = ["conditions", "waits"].map(|list| status[list].as_array().cloned());
        lists.into_iter().flatten().flatten().any(|said| said["reason"] == reason.as_str())
    }

    pub fn get(&self, resource: Resource, name: &str) -> Option<Value> {
        self.store.get(&ObjectKey::new(resource, NAMESPACE, name)).map(|o| Value::clone(o))
    }

    pub fn set(&self) -> Value {
        self.get(kinds::STATEFUL_SET, NAME).expect("the set should exist")
    }

    pub fn pod(&self, name: &str) -> Value {
        self.get(kinds::POD, name).expect("the pod should exist")
    }

    pub fn label(&self, pod: &str, key: &str) -> String {
        text(&self.pod(pod)["metadata"]["labels"], &format!("/{}", key.replace('/', "~1"))).into()
    }

    /// The texts of all pods.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let name = format!("{}-config", self.owner.name);
        let map = self.get(kinds::CONFIG_MAP, &name).unwrap_or_default();
        serde_json::from_value(map["data"].clone()).unwrap_or_default()
    }

    /// Uid by name, to see who was restarted.
    pub fn uids(&self) -> BTreeMap<String, String> {
        let pods = self.store.list(kinds::POD);
        pods.map(|(k, p)| (k.name.clone(), text(p, "/metadata/uid").to_string())).collect()
    }

    pub fn is_ready(&self, pod: &str) -> bool {
        self.get(kinds::POD, pod).is_some_and(|p| is_ready(&p))
    }

    pub fn delete_pod(&mut self, pod: &str) {
        self.store.remove(&ObjectKey::new(kinds::POD, NAMESPACE, pod));
        self.settle();
    }

    /// The API server refuses what this says.
    pub fn refuse(&mut self, why: &'static str, what: fn(&ObjectKey, &Value) -> bool) {
        self.store.refuse(why, what);
    }

    /// Writes of the operator so far.
    pub fn writes(&self) -> usize {
        self.faults.writes()
    }
}

pub fn owner_key() -> ObjectKey {
    ObjectKey::new(kinds::COMPONENT, NAMESPACE, NAME)
}

pub fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|c| c["type"] == "Ready" && c["status"] == "True"))
}
