//! What Kubernetes does with sets and their pods: all at once, and no pod is
//! ended because the template has changed.

use super::{NAMESPACE, World};
use palladion_api::ids::Uid;
use palladion_api::names::ordinal;
use palladion_plan::sim::store::text;
use palladion_plan::{ObjectKey, Precondition, Propagation, hash};
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

impl World {
    pub(super) fn run_controllers(&mut self) {
        let sets: Vec<ObjectKey> =
            self.store.list(kinds::STATEFUL_SET).map(|(k, _)| k.clone()).collect();
        for key in sets {
            self.run_set(&key);
        }
    }

    fn run_set(&mut self, key: &ObjectKey) {
        let set = Value::clone(self.store.get(key).unwrap());
        let replicas = set["spec"]["replicas"].as_i64().unwrap_or(1);
        for ordinal in 0..replicas {
            self.make_pod(key, &set, ordinal);
        }
        let surplus: Vec<(ObjectKey, Uid)> = self
            .store
            .list(kinds::POD)
            .filter(|(_, pod)| !pod["metadata"]["deletionTimestamp"].is_string())
            .filter(|(pod, _)| {
                ordinal(&key.name, &pod.name).is_some_and(|o| i64::from(o) >= replicas)
            })
            .map(|(pod, object)| (pod.clone(), Uid::new(text(object, "/metadata/uid"))))
            .collect();
        for (pod, uid) in surplus {
            self.store.delete(&pod, &Precondition::Uid(uid), Propagation::Background).unwrap();
        }
        let status = json!({ "observedGeneration": set["metadata"]["generation"] });
        self.store.put_status(key, status).unwrap();
    }

    fn make_pod(&mut self, set_key: &ObjectKey, set: &Value, ordinal: i64) {
        let name = format!("{}-{ordinal}", set_key.name);
        let key = ObjectKey::new(kinds::POD, NAMESPACE, &name);
        if self.store.get(&key).is_some() {
            return;
        }
        let mut pod = set["spec"]["template"].clone();
        let revision = hash::of(&pod);
        let metadata = &mut pod["metadata"];
        metadata["name"] = json!(name);
        metadata["namespace"] = json!(NAMESPACE);
        metadata["labels"]["controller-revision-hash"] = json!(revision);
        metadata["labels"]["statefulset.kubernetes.io/pod-name"] = json!(name);
        metadata["ownerReferences"] = json!([{
            "kind": "StatefulSet", "name": set_key.name, "uid": set["metadata"]["uid"], "controller": true,
        }]);
        if let Some(first) = &self.kubelet.put_before_the_gate {
            let all = pod["spec"]["initContainers"].as_array_mut().unwrap();
            all.insert(0, json!({ "name": first }));
        }
        self.store.create(&key, &pod).unwrap();
    }
}
