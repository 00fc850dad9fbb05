//! What Kubernetes does with sets and their pods: all at once, and no pod is
//! ended because the template has changed.

use super::{NAMESPACE, World};
use palladion_api::ids::Uid;
use palladion_api::names::ordinal;
use palladion_plan::sim::store::text;
use palladion_plan::{Mind, ObjectKey, Precondition, Propagation, Subresource, hash};
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

impl<M: Mind + Clone + Default> World<M> {
    pub(super) fn run_controllers(&mut self) {
        // The StatefulSet controller creates no pod whose claim is still being deleted.
        self.release_claims();
        let sets: Vec<ObjectKey> =
            self.store.list(kinds::STATEFUL_SET).map(|(k, _)| k.clone()).collect();
        for key in sets {
            self.run_set(&key);
        }
        let sets: Vec<ObjectKey> =
            self.store.list(kinds::DAEMON_SET).map(|(k, _)| k.clone()).collect();
        for key in sets {
            self.run_daemon_set(&key);
        }
        self.schedule();
    }

    /// A pod for each node that the template selects.
    fn run_daemon_set(&mut self, key: &ObjectKey) {
        let set = Value::clone(self.store.get(key).unwrap());
        let selector = set["spec"]["template"]["spec"]["nodeSelector"].clone();
        let fits = |node: &Value| {
            let wanted = selector.as_object().into_iter().flatten();
            wanted.into_iter().all(|(label, value)| node["metadata"]["labels"][label] == *value)
        };
        let nodes: Vec<String> = self
            .store
            .list(kinds::NODE)
            .filter(|(_, node)| fits(node))
            .map(|(key, _)| key.name.clone())
            .collect();
        for node in &nodes {
            let key = ObjectKey::new(kinds::POD, NAMESPACE, &format!("{}-{node}", key.name));
            if self.store.get(&key).is_none() {
                let mut pod = set["spec"]["template"].clone();
                pod["metadata"]["name"] = json!(key.name);
                pod["metadata"]["namespace"] = json!(NAMESPACE);
                pod["metadata"]["annotations"]["test/node"] = json!(node);
                self.store.create(&key, &pod).unwrap();
            }
        }
        let surplus: Vec<(ObjectKey, Uid)> = self
            .store
            .list(kinds::POD)
            .filter(|(pod, _)| pod.name.starts_with(&format!("{}-", key.name)))
            .filter(|(_, pod)| {
                let node = text(pod, "/metadata/annotations/test~1node");
                !nodes.iter().any(|n| n == node)
                    && !pod["metadata"]["deletionTimestamp"].is_string()
            })
            .map(|(pod, object)| (pod.clone(), Uid::new(text(object, "/metadata/uid"))))
            .collect();
        for (pod, uid) in surplus {
            self.store.delete(&pod, &Precondition::Uid(uid), Propagation::Background).unwrap();
        }
        let status = json!({
            "observedGeneration": set["metadata"]["generation"],
            "desiredNumberScheduled": nodes.len(),
        });
        self.store.put_status(key, status).unwrap();
    }

    /// A pod gets its node, unless one of the same agent is there.
    fn schedule(&mut self) {
        let waiting: Vec<(ObjectKey, Value)> = self
            .store
            .list(kinds::POD)
            .filter(|(_, pod)| !pod["spec"]["nodeName"].is_string())
            .map(|(key, pod)| (key.clone(), Value::clone(pod)))
            .collect();
        for (key, pod) in waiting {
            let agent = text(&pod, "/metadata/labels/palladion.dev~1node-agent").to_string();
            let node = match text(&pod, "/metadata/annotations/test~1node") {
                "" => self.kubelet.next_node(),
                node => node.to_string(),
            };
            let node = node.as_str();
            let is_taken = !agent.is_empty()
                && self.store.list(kinds::POD).any(|(_, other)| {
                    text(other, "/metadata/labels/palladion.dev~1node-agent") == agent
                        && text(other, "/spec/nodeName") == node
                });
            if is_taken || self.kubelet.unscheduled.contains(&key.name) {
                let condition = json!({ "type": "PodScheduled", "status": "False",
                    "reason": "Unschedulable", "message": "0/3 nodes are available" });
                let status = json!({ "phase": "Pending", "conditions": [condition] });
                if pod["status"] != status {
                    self.store.put_status(&key, status).unwrap();
                }
            } else {
                let bound = json!({ "spec": { "nodeName": node } });
                self.store.merge(&key, &bound, Subresource::None).unwrap();
            }
        }
    }

    fn run_set(&mut self, key: &ObjectKey) {
        let set = Value::clone(self.store.get(key).unwrap());
        let replicas = set["spec"]["replicas"].as_i64().unwrap_or(1);
        for ordinal in 0..replicas.min(self.kubelet.quota.unwrap_or(replicas)) {
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
        self.claim(set, &mut pod);
        self.store.create(&key, &pod).unwrap();
    }

    /// A claim for each template. It gets the labels by which the set selects its pods.
    fn claim(&mut self, set: &Value, pod: &mut Value) {
        let templates = set["spec"]["volumeClaimTemplates"].as_array().cloned();
        for template in templates.into_iter().flatten() {
            let (volume, of) = (template["metadata"]["name"].clone(), &pod["metadata"]["name"]);
            let name = format!("{}-{}", volume.as_str().unwrap(), of.as_str().unwrap());
            let mut claim = template.clone();
            claim["metadata"]["name"] = json!(name);
            claim["metadata"]["namespace"] = json!(NAMESPACE);
            let labels = set["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
            labels.for_each(|(key, value)| claim["metadata"]["labels"][key] = value.clone());
            let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &name);
            if self.store.get(&key).is_none() {
                self.store.create(&key, &claim).unwrap();
            }
            let mounted = json!({ "name": volume, "persistentVolumeClaim": { "claimName": name } });
            pod["spec"]["volumes"].as_array_mut().unwrap().push(mounted);
        }
    }

    /// A claim that is being deleted goes as soon as no pod uses it, with its data.
    fn release_claims(&mut self) {
        let uses = |pod: &Value, claim: &str| {
            let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
            volumes.into_iter().any(|v| v["persistentVolumeClaim"]["claimName"] == claim)
        };
        let free: Vec<ObjectKey> = self
            .store
            .list(kinds::CLAIM)
            .filter(|(_, claim)| claim["metadata"]["deletionTimestamp"].is_string())
            .filter(|(key, _)| !self.store.list(kinds::POD).any(|(_, pod)| uses(pod, &key.name)))
            .map(|(key, _)| key.clone())
            .collect();
        free.iter().for_each(|key| self.store.remove(key));
    }
}
