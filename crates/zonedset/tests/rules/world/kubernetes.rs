//! What Kubernetes does with sets and pods.

use super::{NAMESPACE, World, is_ready, pod_key};
use palladion_api::ids::Uid;
use palladion_plan::sim::store::text;
use palladion_plan::{ObjectKey, Precondition, Propagation, Subresource, hash};
use palladion_zonedset::resources as kinds;
use serde_json::{Value, json};

impl World {
    pub fn run_controllers(&mut self) {
        self.collect_garbage();
        let sets: Vec<ObjectKey> =
            self.store.list(kinds::STATEFUL_SET).map(|(k, _)| k.clone()).collect();
        for key in sets {
            self.run_set(&key);
        }
        let pods: Vec<ObjectKey> = self.store.list(kinds::POD).map(|(k, _)| k.clone()).collect();
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
                p["metadata"]["ownerReferences"].as_array().is_some_and(|o| {
                    !o.is_empty() && o.iter().all(|r| !alive.iter().any(|a| r["uid"] == a.as_str()))
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
        self.revisions.insert(update.clone(), set["spec"]["template"].clone());
        let current = set["status"]["currentRevision"].as_str().unwrap_or(&update).to_string();
        let replicas = set["spec"]["replicas"].as_i64().unwrap_or(1);
        let partition =
            set["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_i64().unwrap_or(0);
        for ordinal in 0..replicas {
            let revision = if ordinal >= partition { &update } else { &current };
            let template = self.revisions[revision].clone();
            self.make_pod(key, &set, ordinal, revision, template);
        }
        for ordinal in replicas..20 {
            self.store.remove(&pod_key(&format!("{}-{ordinal}", key.name)));
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
                let uid = Uid::new(text(&pod, "/metadata/uid"));
                let _ =
                    self.store.delete(&pod_key, &Precondition::Uid(uid), Propagation::Background);
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
}
