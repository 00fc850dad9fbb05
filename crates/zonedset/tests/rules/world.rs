//! A small world: the simulator's store and operator, with a StatefulSet
//! controller that knows `RollingUpdate` with a partition, and a kubelet that
//! runs an image unless its name says `bad`.

mod kubernetes;
mod probed;
mod spec;

pub use probed::{Answers, Probed};
pub use spec::{a_spec, with, with_image};

use jiff::{SignedDuration, Timestamp};
use palladion_plan::sim::store::text;
use palladion_plan::sim::{Faults, Operator, Store};
use palladion_plan::{ObjectKey, Reason, Resource, Subresource, Verdict};
use palladion_zonedset::resources as kinds;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NAMESPACE: &str = "shop";
pub const NAME: &str = "web";
const A_MOMENT: SignedDuration = SignedDuration::from_millis(200);

pub struct World {
    pub store: Store,
    pub operator: Operator<Probed>,
    pub answers: Answers,
    pub faults: Faults,
    /// Templates by revision, as ControllerRevisions keep them.
    revisions: BTreeMap<String, Value>,
    /// `active` labels seen at once, at any moment.
    pub most_active: usize,
}

impl World {
    pub fn new(spec: Value) -> Self {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut store = Store::new(now, Vec::new());
        for zone in ["a", "b", "c"] {
            let node = json!({ "metadata": { "name": zone, "labels": { "topology.kubernetes.io/zone": zone } } });
            store.create(&ObjectKey::new(kinds::NODE, "", zone), &node).unwrap();
        }
        let owner = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "ZonedStatefulSet",
            "metadata": { "name": NAME, "namespace": NAMESPACE }, "spec": spec,
        });
        store.create(&owner_key(), &owner).unwrap();
        let answers = Answers::default();
        let mind = Probed { answers: answers.clone() };
        let operator = Operator::new(mind, owner_key(), &BTreeMap::new(), 1);
        World {
            store,
            operator,
            answers,
            faults: Faults::default(),
            revisions: BTreeMap::new(),
            most_active: 0,
        }
    }

    /// A world in which everything of this spec runs.
    pub fn settled(spec: Value) -> Self {
        let mut world = Self::new(spec);
        world.settle();
        world
    }

    pub fn set_spec(&mut self, spec: Value) {
        let mut patch = spec;
        let old = self.owner()["spec"].clone();
        for key in old.as_object().unwrap().keys() {
            if patch.get(key).is_none() {
                patch[key.as_str()] = Value::Null;
            }
        }
        self.store.merge(&owner_key(), &json!({ "spec": patch }), Subresource::None).unwrap();
    }

    /// Until nobody has anything to do; no time passes but the moment after which
    /// a write is tried again that met a newer version of its object.
    pub fn settle(&mut self) {
        for _ in 0..500 {
            let activity = self.operator.step(&mut self.store, &mut self.faults);
            let acted = activity.acted;
            self.most_active = self.most_active.max(self.active().len());
            let before = self.store.log().len();
            self.run_controllers();
            let soon = self.store.now + A_MOMENT;
            if let Some(next) = activity.next.filter(|next| !acted && *next <= soon) {
                self.store.now = self.store.now.max(next);
                continue;
            }
            if !acted && self.store.log().len() == before {
                assert!(self.operator.violations.is_empty(), "{:?}", self.operator.violations);
                self.waits_are_bounded();
                return;
            }
        }
        panic!("the world does not settle: {:?}", self.operator.waits);
    }

    /// The list of waits is short, and empty at rest.
    fn waits_are_bounded(&self) {
        let status = self.status();
        let waits = status["waits"].as_array().map_or(0, Vec::len);
        assert!(waits <= palladion_api::waits::MOST, "{}", status["waits"]);
        let mut conditions = status["conditions"].as_array().into_iter().flatten();
        let is_at_rest = conditions
            .any(|c| c["type"] == "Progressing" && c["reason"] == Reason::UpToDate.as_str());
        assert!(!is_at_rest || waits == 0, "{}", status["waits"]);
    }

    /// One decision and its writes; controllers stand still.
    pub fn decide_once(&mut self) {
        while self.operator.step(&mut self.store, &mut self.faults).acted {}
    }

    pub fn pass(&mut self, seconds: i64) {
        self.store.now += SignedDuration::from_secs(seconds);
        self.operator.resync();
        self.settle();
    }

    pub fn make_ready(&mut self, pod: &str) {
        let status = json!({ "phase": "Running", "podIP": "10.0.0.1", "conditions": [
            { "type": "Ready", "status": "True", "lastTransitionTime": self.store.now }
        ] });
        self.store.put_status(&pod_key(pod), status).unwrap();
        self.settle();
    }

    /// A process that died is followed by another, under the next epoch.
    pub fn recover(&mut self) {
        if self.operator.life() == palladion_plan::sim::operator::Life::Dead {
            let mind = Probed { answers: self.answers.clone() };
            self.operator = Operator::new(mind, owner_key(), &BTreeMap::new(), 2);
        }
    }

    /// Another process takes over; the one before is handed out.
    pub fn succeed(&mut self) -> Operator<Probed> {
        let mind = Probed { answers: self.answers.clone() };
        let next = Operator::new(mind, owner_key(), &BTreeMap::new(), 2);
        std::mem::replace(&mut self.operator, next)
    }

    /// Whatever the process had in hand, write by write.
    pub fn finish_writes(&mut self) {
        for _ in 0..20 {
            self.operator.step(&mut self.store, &mut self.faults);
            self.most_active = self.most_active.max(self.active().len());
        }
    }

    pub fn label_active(&mut self, pod: &str) {
        let patch = json!({ "metadata": { "labels": { "palladion.dev/pod-active": "active" } } });
        self.store.merge(&pod_key(pod), &patch, Subresource::None).unwrap();
    }

    pub fn owner(&self) -> Value {
        Value::clone(self.store.get(&owner_key()).unwrap())
    }

    pub fn status(&self) -> Value {
        self.owner()["status"].clone()
    }

    pub fn condition(&self, type_: &str) -> Value {
        let status = self.status();
        status["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["type"] == type_)
            .unwrap()
            .clone()
    }

    /// Reasons in conditions and waits now, and in all events so far.
    pub fn reasons(&self) -> Vec<String> {
        let status = self.status();
        let lists = ["conditions", "waits"].map(|list| status[list].as_array().cloned());
        let shown = lists.into_iter().flatten().flatten();
        let shown = shown.map(|said| text(&said, "/reason").to_string());
        let events = self.operator.done.iter().filter_map(|done| done.event.as_ref());
        shown.chain(events.map(|event| event.reason.as_str().to_string())).collect()
    }

    /// Is this reason among them?
    pub fn shows(&self, reason: Reason) -> bool {
        self.reasons().iter().any(|shown| shown == reason.as_str())
    }

    pub fn sets(&self) -> Vec<String> {
        self.store.list(kinds::STATEFUL_SET).map(|(k, _)| k.name.clone()).collect()
    }

    pub fn set(&self, name: &str) -> Value {
        Value::clone(
            self.store
                .get(&ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, name))
                .expect("the set should exist"),
        )
    }

    pub fn services(&self) -> Vec<String> {
        self.store.list(kinds::SERVICE).map(|(k, _)| k.name.clone()).collect()
    }

    pub fn pod(&self, name: &str) -> Value {
        Value::clone(self.store.get(&pod_key(name)).expect("the pod should exist"))
    }

    /// `pod=image`, for all pods.
    pub fn images(&self) -> Vec<String> {
        let pods = self.store.list(kinds::POD);
        pods.map(|(k, p)| format!("{}={}", k.name, text(p, "/spec/containers/0/image"))).collect()
    }

    /// Uid by name, to see who was restarted.
    pub fn uids(&self) -> BTreeMap<String, String> {
        self.store
            .list(kinds::POD)
            .map(|(k, p)| (k.name.clone(), text(p, "/metadata/uid").to_string()))
            .collect()
    }

    pub fn is_ready(&self, pod: &str) -> bool {
        self.store.get(&pod_key(pod)).is_some_and(|p| is_ready(p))
    }

    pub fn active(&self) -> Vec<String> {
        let pods = self.store.list(kinds::POD);
        pods.filter(|(_, p)| p["metadata"]["labels"]["palladion.dev/pod-active"] == "active")
            .map(|(k, _)| k.name.clone())
            .collect()
    }

    pub fn put(&mut self, resource: Resource, name: &str, object: Value) {
        let key = ObjectKey::new(resource, NAMESPACE, name);
        let mut object = object;
        object["metadata"]["name"] = json!(name);
        object["metadata"]["namespace"] = json!(NAMESPACE);
        match self.store.get(&key) {
            None => self.store.create(&key, &object).unwrap(),
            Some(_) => self.store.merge(&key, &object, Subresource::None).unwrap(),
        };
        self.operator.resync();
    }

    pub fn answer(&mut self, pod: &str, verdict: impl Into<Option<Verdict>>) {
        self.answers.lock().unwrap().insert(pod.to_string(), verdict.into());
        self.operator.resync();
        self.settle();
    }

    pub fn remove_pod(&mut self, pod: &str) {
        self.store.remove(&pod_key(pod));
    }
}

pub fn owner_key() -> ObjectKey {
    ObjectKey::new(kinds::ZONED_SET, NAMESPACE, NAME)
}

fn pod_key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::POD, NAMESPACE, name)
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|c| c["type"] == "Ready" && c["status"] == "True"))
}
