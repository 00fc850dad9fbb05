//! A small world: the simulator's store and operator, with a StatefulSet
//! controller that knows `RollingUpdate` with a partition, and a kubelet that
//! runs an image unless its name says `bad`.

use jiff::{SignedDuration, Timestamp};
use palladion_plan::sim::store::text;
use palladion_plan::sim::{Faults, Operator, Store};
use palladion_plan::{
    Mind, Object, ObjectKey, Observed, Plan, Precondition, ProbeKey, ProbeRequest, ProbeResult,
    Propagation, Resource, Snapshot, Subresource, Verdict, Watch, hash,
};
use palladion_zonedset::ZonedSetMind;
use palladion_zonedset::resources as kinds;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const NAMESPACE: &str = "shop";
pub const NAME: &str = "web";

/// Answers to probes, by pod name.
pub type Answers = Arc<Mutex<BTreeMap<String, Verdict>>>;

/// The mind, with probes answered by the test.
#[derive(Clone, Default)]
pub struct Probed {
    answers: Answers,
}

impl Mind for Probed {
    fn name(&self) -> &'static str {
        ZonedSetMind.name()
    }
    fn owner(&self) -> Resource {
        ZonedSetMind.owner()
    }
    fn watches(&self) -> Vec<Watch> {
        ZonedSetMind.watches()
    }
    fn references(&self, owner: &Object) -> Vec<ObjectKey> {
        ZonedSetMind.references(owner)
    }
    fn decide(&self, snapshot: &Snapshot) -> Plan {
        let mut snapshot = snapshot.clone();
        let answers = self.answers.lock().unwrap();
        snapshot.probes = ZonedSetMind
            .probes(&snapshot)
            .iter()
            .filter_map(|r| answer(&answers, &snapshot, r))
            .collect();
        ZonedSetMind.decide(&snapshot)
    }
}

fn answer(
    answers: &BTreeMap<String, Verdict>,
    snapshot: &Snapshot,
    request: &ProbeRequest,
) -> Option<(ProbeKey, Observed<ProbeResult>)> {
    let verdict = *answers.get(&request.pod.name)?;
    let value = ProbeResult {
        verdict,
        since: snapshot.now,
        message: "as the test says".into(),
    };
    Some((
        request.key.clone(),
        Observed::Known {
            value,
            as_of: snapshot.now,
        },
    ))
}

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

/// An owner of two zones with two replicas each, to be changed by the test.
pub fn a_spec() -> Value {
    json!({
        "zones": ["a", "b"],
        "template": { "spec": { "replicas": 2, "template": {
            "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "c", "image": "good:1" }] }
        } } }
    })
}

pub fn with(mut spec: Value, pointer: &str, value: Value) -> Value {
    let mut at = &mut spec;
    for part in pointer.split('/').skip(1) {
        at = match part.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[part],
        };
    }
    *at = value;
    spec
}

pub fn with_image(spec: Value, image: &str) -> Value {
    with(
        spec,
        "/template/spec/template/spec/containers/0/image",
        json!(image),
    )
}

impl World {
    pub fn new(spec: Value) -> Self {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut store = Store::new(now, Vec::new());
        for zone in ["a", "b", "c"] {
            let node = json!({ "metadata": { "name": zone, "labels": { "topology.kubernetes.io/zone": zone } } });
            store
                .create(&ObjectKey::new(kinds::NODE, "", zone), &node)
                .unwrap();
        }
        let owner = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "ZonedStatefulSet",
            "metadata": { "name": NAME, "namespace": NAMESPACE }, "spec": spec,
        });
        store.create(&owner_key(), &owner).unwrap();
        let answers = Answers::default();
        let mind = Probed {
            answers: answers.clone(),
        };
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
        self.store
            .merge(&owner_key(), &json!({ "spec": patch }), Subresource::None)
            .unwrap();
    }

    /// Until nobody has anything to do; time does not pass.
    pub fn settle(&mut self) {
        for _ in 0..500 {
            let acted = self.operator.step(&mut self.store, &mut self.faults).acted;
            self.most_active = self.most_active.max(self.active().len());
            let before = self.store.log().len();
            self.run_controllers();
            if !acted && self.store.log().len() == before {
                assert!(
                    self.operator.violations.is_empty(),
                    "{:?}",
                    self.operator.violations
                );
                return;
            }
        }
        panic!("the world does not settle: {:?}", self.operator.waits);
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

    pub fn run_controllers(&mut self) {
        self.collect_garbage();
        let sets: Vec<ObjectKey> = self
            .store
            .list(kinds::STATEFUL_SET)
            .map(|(k, _)| k.clone())
            .collect();
        for key in sets {
            self.run_set(&key);
        }
        let pods: Vec<ObjectKey> = self
            .store
            .list(kinds::POD)
            .map(|(k, _)| k.clone())
            .collect();
        for key in pods {
            self.run_pod(&key);
        }
    }

    fn collect_garbage(&mut self) {
        let ending: Vec<ObjectKey> = self
            .store
            .list(kinds::STATEFUL_SET)
            .filter(|(_, s)| s["metadata"]["deletionTimestamp"].is_string())
            .map(|(k, _)| k.clone())
            .collect();
        for key in ending {
            self.store.remove(&key);
        }
        let alive: Vec<String> = self
            .store
            .list(kinds::STATEFUL_SET)
            .map(|(_, s)| text(s, "/metadata/uid").to_string())
            .collect();
        let lost: Vec<ObjectKey> = self
            .store
            .list(kinds::POD)
            .filter(|(_, p)| {
                p["metadata"]["ownerReferences"]
                    .as_array()
                    .is_some_and(|o| {
                        !o.is_empty()
                            && o.iter()
                                .all(|r| !alive.iter().any(|a| r["uid"] == a.as_str()))
                    })
            })
            .map(|(k, _)| k.clone())
            .collect();
        for key in lost {
            self.store.remove(&key);
        }
    }

    fn run_set(&mut self, key: &ObjectKey) {
        let Some(set) = self.store.get(key).cloned() else {
            return;
        };
        let update = format!("{}-{}", key.name, &hash::of(&set["spec"]["template"])[..8]);
        self.revisions
            .insert(update.clone(), set["spec"]["template"].clone());
        let current = set["status"]["currentRevision"]
            .as_str()
            .unwrap_or(&update)
            .to_string();
        let replicas = set["spec"]["replicas"].as_i64().unwrap_or(1);
        let partition = set["spec"]["updateStrategy"]["rollingUpdate"]["partition"]
            .as_i64()
            .unwrap_or(0);
        for ordinal in 0..replicas {
            let revision = if ordinal >= partition {
                &update
            } else {
                &current
            };
            let template = self.revisions[revision].clone();
            self.make_pod(key, &set, ordinal, revision, template);
        }
        for ordinal in replicas..20 {
            self.store
                .remove(&pod_key(&format!("{}-{ordinal}", key.name)));
        }
        let mut updated = 0;
        for ordinal in (0..replicas).rev() {
            let pod_key = pod_key(&format!("{}-{ordinal}", key.name));
            let Some(pod) = self.store.get(&pod_key).cloned() else {
                break;
            };
            if text(&pod, "/metadata/labels/controller-revision-hash") == update {
                updated += 1;
            } else if ordinal >= partition {
                let uid = text(&pod, "/metadata/uid").to_string();
                let _ =
                    self.store
                        .delete(&pod_key, &Precondition::Uid(uid), Propagation::Background);
                break;
            }
            if !is_ready(&pod) {
                break;
            }
        }
        let all = updated == replicas
            && (0..replicas).all(|o| self.is_ready(&format!("{}-{o}", key.name)));
        let status = json!({
            "observedGeneration": set["metadata"]["generation"],
            "updateRevision": update,
            "currentRevision": if all { &update } else { &current },
        });
        self.store.put_status(key, status).unwrap();
    }

    fn make_pod(
        &mut self,
        set_key: &ObjectKey,
        set: &Value,
        ordinal: i64,
        revision: &str,
        template: Value,
    ) {
        let key = pod_key(&format!("{}-{ordinal}", set_key.name));
        let owner = json!([{ "kind": "StatefulSet", "name": set_key.name, "uid": set["metadata"]["uid"], "controller": true }]);
        if let Some(pod) = self.store.get(&key) {
            if pod["metadata"]["ownerReferences"] == json!([]) {
                self.store
                    .merge(
                        &key,
                        &json!({ "metadata": { "ownerReferences": owner } }),
                        Subresource::None,
                    )
                    .unwrap();
            }
            return;
        }
        let mut pod = template;
        pod["apiVersion"] = json!("v1");
        pod["kind"] = json!("Pod");
        pod["metadata"]["name"] = json!(key.name);
        pod["metadata"]["namespace"] = json!(NAMESPACE);
        pod["metadata"]["labels"]["controller-revision-hash"] = json!(revision);
        pod["metadata"]["ownerReferences"] = owner;
        self.store.create(&key, &pod).unwrap();
    }

    /// Pods that are being deleted end; images that are good run.
    fn run_pod(&mut self, key: &ObjectKey) {
        let Some(pod) = self.store.get(key).cloned() else {
            return;
        };
        if pod["metadata"]["deletionTimestamp"].is_string() {
            return self.store.remove(key);
        }
        if pod["status"].is_object() {
            return;
        }
        let image = text(&pod, "/spec/containers/0/image");
        let status = match image {
            i if i.contains("bad") => json!({ "phase": "Pending", "containerStatuses": [
                { "name": "c", "state": { "waiting": { "reason": "ImagePullBackOff", "message": "no such image" } } }
            ] }),
            i if i.contains("slow") => json!({ "phase": "Running", "podIP": "10.0.0.9" }),
            _ => json!({ "phase": "Running", "podIP": "10.0.0.1", "conditions": [
                { "type": "Ready", "status": "True", "lastTransitionTime": self.store.now }
            ] }),
        };
        self.store.put_status(key, status).unwrap();
    }

    pub fn make_ready(&mut self, pod: &str) {
        let status = json!({ "phase": "Running", "podIP": "10.0.0.1", "conditions": [
            { "type": "Ready", "status": "True", "lastTransitionTime": self.store.now }
        ] });
        self.store.put_status(&pod_key(pod), status).unwrap();
        self.settle();
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

    pub fn sets(&self) -> Vec<String> {
        self.store
            .list(kinds::STATEFUL_SET)
            .map(|(k, _)| k.name.clone())
            .collect()
    }

    pub fn set(&self, name: &str) -> Value {
        Value::clone(
            self.store
                .get(&ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, name))
                .expect("the set should exist"),
        )
    }

    pub fn services(&self) -> Vec<String> {
        self.store
            .list(kinds::SERVICE)
            .map(|(k, _)| k.name.clone())
            .collect()
    }

    pub fn pod(&self, name: &str) -> Value {
        Value::clone(
            self.store
                .get(&pod_key(name))
                .expect("the pod should exist"),
        )
    }

    /// `pod=image`, for all pods.
    pub fn images(&self) -> Vec<String> {
        let pods = self.store.list(kinds::POD);
        pods.map(|(k, p)| format!("{}={}", k.name, text(p, "/spec/containers/0/image")))
            .collect()
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

    pub fn answer(&mut self, pod: &str, verdict: Verdict) {
        self.answers
            .lock()
            .unwrap()
            .insert(pod.to_string(), verdict);
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
    conditions.is_some_and(|all| {
        all.iter()
            .any(|c| c["type"] == "Ready" && c["status"] == "True")
    })
}
