//! The StatefulSet controller with `OnDelete` and `Parallel`, as tried: every
//! new pod has the newest revision, claims are never touched once made. A pod
//! of another set's that is in the way makes it pause for minutes.

use crate::hash;
use crate::object::ObjectKey;
use crate::plan::{Precondition, Propagation, Subresource};
use crate::sim::kinds;
use crate::sim::store::{Store, owners, text};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Uid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// After some refused tries: 5 ms, doubled 15 times.
const BACK_OFF: SignedDuration = SignedDuration::from_secs(164);

/// Sets, by uid, that make nobody until a time: a pod of another set's was in
/// the way.
pub(super) type BackOffs = BTreeMap<String, Timestamp>;

/// Bring pods and claims of every set to what the set says.
pub(super) fn run(store: &mut Store, back_offs: &mut BackOffs) {
    let sets: Vec<(ObjectKey, Arc<Value>)> = store
        .list(kinds::STATEFUL_SET)
        .filter(|(_, set)| !set["metadata"]["deletionTimestamp"].is_string())
        .map(|(key, set)| (key.clone(), set.clone()))
        .collect();
    for (key, set) in sets {
        let revision = revision(&key, &set);
        let replicas = set["spec"]["replicas"].as_i64().unwrap_or(1);
        adopt(store, &key, &set);
        end_failed_pods(store, &set);
        let uid = text(&set, "/metadata/uid");
        for ordinal in 0..replicas {
            if back_offs.contains_key(uid) {
                break;
            }
            make_member(store, &key, &set, ordinal, &revision);
            if is_in_the_way(store, &key, &set, ordinal) {
                back_offs.insert(uid.to_string(), store.now + BACK_OFF);
            }
        }
        end_surplus(store, &key, &set, replicas);
        report(store, &key, &set, &revision);
    }
}

/// Is the pod of this ordinal another set's?
fn is_in_the_way(store: &Store, set_key: &ObjectKey, set: &Value, ordinal: i64) -> bool {
    let name = format!("{}-{ordinal}", set_key.name);
    let pod = store.get(&ObjectKey::new(kinds::POD, &set_key.namespace, &name));
    pod.is_some_and(|pod| owners(pod).all(|o| o["uid"] != set["metadata"]["uid"]))
}

/// The revision of the template; computed once per generation.
fn revision(key: &ObjectKey, set: &Value) -> String {
    let is_current = set["status"]["observedGeneration"] == set["metadata"]["generation"];
    match set["status"]["updateRevision"].as_str() {
        Some(known) if is_current => known.to_string(),
        Some(_) | None => format!("{}-{}", key.name, &hash::of(&set["spec"]["template"])[..10]),
    }
}

fn pods_of(store: &Store, set: &Value) -> Vec<(ObjectKey, Arc<Value>)> {
    let uid = text(set, "/metadata/uid");
    store
        .list(kinds::POD)
        .filter(|(_, pod)| owners(pod).any(|r| r["uid"] == uid))
        .map(|(key, pod)| (key.clone(), pod.clone()))
        .collect()
}

/// Pods that an earlier set of this name left behind as orphans are its own now.
fn adopt(store: &mut Store, set_key: &ObjectKey, set: &Value) {
    let of_set = format!("{}-", set_key.name);
    let is_orphan = |key: &ObjectKey, pod: &Value| {
        let ordinal = key.name.strip_prefix(&of_set);
        ordinal.is_some_and(|o| o.parse::<u32>().is_ok()) && owners(pod).next().is_none()
    };
    let orphans: Vec<ObjectKey> = store
        .list(kinds::POD)
        .filter(|(key, pod)| key.namespace == set_key.namespace && is_orphan(key, pod))
        .map(|(key, _)| key.clone())
        .collect();
    for key in orphans {
        let owner = json!([owner_of_pod(set_key, set)]);
        let patch = json!({ "metadata": { "ownerReferences": owner } });
        let _ = store.merge(&key, &patch, Subresource::None);
    }
}

fn owner_of_pod(set_key: &ObjectKey, set: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": set_key.name,
        "uid": set["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
    })
}

/// Even under OnDelete the controller replaces a Failed pod by itself.
fn end_failed_pods(store: &mut Store, set: &Value) {
    for (key, pod) in pods_of(store, set) {
        if text(&pod, "/status/phase") == "Failed" {
            store.remove(&key);
        }
    }
}

fn make_member(store: &mut Store, set_key: &ObjectKey, set: &Value, ordinal: i64, revision: &str) {
    let name = format!("{}-{ordinal}", set_key.name);
    let pod_key = ObjectKey::new(kinds::POD, &set_key.namespace, &name);
    let templates = set["spec"]["volumeClaimTemplates"].as_array().cloned().unwrap_or_default();
    let claim_key = |template: &Value| {
        let claim = format!("{}-{name}", text(template, "/metadata/name"));
        ObjectKey::new(kinds::CLAIM, &set_key.namespace, &claim)
    };
    if store.get(&pod_key).is_some_and(|pod| pod["spec"]["nodeName"].is_string()) {
        return;
    }
    for template in &templates {
        let key = claim_key(template);
        if store.get(&key).is_none() {
            let mut claim = template.clone();
            claim["apiVersion"] = json!("v1");
            claim["kind"] = json!("PersistentVolumeClaim");
            claim["metadata"]["name"] = json!(key.name);
            claim["metadata"]["namespace"] = json!(key.namespace);
            for (label, value) in
                set["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten()
            {
                claim["metadata"]["labels"][label] = value.clone();
            }
            // The API server fills the default class in.
            if claim["spec"]["storageClassName"].is_null() {
                claim["spec"]["storageClassName"] = json!("local");
            }
            let _ = store.create(&key, &claim);
        }
    }
    let ending = |key: &ObjectKey| {
        store.get(key).is_some_and(|c| c["metadata"]["deletionTimestamp"].is_string())
    };
    if store.get(&pod_key).is_some() || templates.iter().any(|t| ending(&claim_key(t))) {
        return;
    }
    let pod = pod(set_key, set, &name, ordinal, revision, &templates);
    let _ = store.create(&pod_key, &pod);
}

fn pod(
    set_key: &ObjectKey,
    set: &Value,
    name: &str,
    ordinal: i64,
    revision: &str,
    templates: &[Value],
) -> Value {
    let mut pod = set["spec"]["template"].clone();
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    let metadata = &mut pod["metadata"];
    metadata["name"] = json!(name);
    metadata["namespace"] = json!(set_key.namespace);
    metadata["labels"]["controller-revision-hash"] = json!(revision);
    metadata["labels"]["statefulset.kubernetes.io/pod-name"] = json!(name);
    metadata["labels"]["apps.kubernetes.io/pod-index"] = json!(ordinal.to_string());
    metadata["ownerReferences"] = json!([owner_of_pod(set_key, set)]);
    let mut volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    for template in templates {
        let volume = text(template, "/metadata/name");
        volumes.push(json!({ "name": volume, "persistentVolumeClaim": { "claimName": format!("{volume}-{name}") } }));
    }
    pod["spec"]["volumes"] = Value::from(volumes);
    pod["status"] = json!({ "phase": "Pending" });
    pod
}

/// All of them at once: Parallel.
fn end_surplus(store: &mut Store, set_key: &ObjectKey, set: &Value, replicas: i64) {
    for (key, pod) in pods_of(store, set) {
        let ordinal = key
            .name
            .strip_prefix(&format!("{}-", set_key.name))
            .and_then(|n| n.parse::<i64>().ok());
        if ordinal.is_none_or(|o| o >= replicas)
            && !pod["metadata"]["deletionTimestamp"].is_string()
        {
            let uid = Uid::new(text(&pod, "/metadata/uid"));
            let _ = store.delete(&key, &Precondition::Uid(uid), Propagation::Background);
        }
    }
}

fn report(store: &mut Store, key: &ObjectKey, set: &Value, revision: &str) {
    let pods = pods_of(store, set);
    let count = |of: &dyn Fn(&Value) -> bool| pods.iter().filter(|(_, pod)| of(pod)).count();
    let status = json!({
        "observedGeneration": set["metadata"]["generation"],
        "updateRevision": revision,
        "currentRevision": set["status"]["currentRevision"].as_str().unwrap_or(revision),
        "replicas": pods.len(),
        "updatedReplicas": count(&|pod| text(pod, "/metadata/labels/controller-revision-hash") == revision),
        "readyReplicas": count(&|pod| super::kubelet::is_ready(pod)),
    });
    let _ = store.put_status(key, status);
}
