//! The scheduler, and the binding of claims to local disks (wait for first
//! consumer): required node affinity, the node of a bound disk, even spread.

use super::{Disk, Kubernetes, Machine, Mount, claim_names};
use crate::object::ObjectKey;
use crate::plan::Subresource;
use crate::sim::Activity;
use crate::sim::kinds;
use crate::sim::store::{Store, text};
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::sync::Arc;

/// From the end of a Node object to that of the pods on it.
const COLLECTED: SignedDuration = SignedDuration::from_secs(60);

impl<C: Clone + Default> Kubernetes<C> {
    /// Give each waiting pod a node, or say why there is none.
    pub(super) fn schedule(&mut self, store: &mut Store) {
        let waiting: Vec<(ObjectKey, Arc<Value>)> = store
            .list(kinds::POD)
            .filter(|(_, pod)| !pod["spec"]["nodeName"].is_string())
            .map(|(key, pod)| (key.clone(), pod.clone()))
            .collect();
        for (key, pod) in waiting {
            match self.place(store, &key, &pod) {
                Ok(node) => self.bind(store, &key, &pod, &node),
                Err(why) => {
                    let condition = json!([{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why }]);
                    let _ = store
                        .put_status(&key, json!({ "phase": "Pending", "conditions": condition }));
                }
            }
        }
    }

    fn place(&self, store: &Store, key: &ObjectKey, pod: &Value) -> Result<String, String> {
        let total = store.list(kinds::NODE).count();
        let mut why = Vec::new();
        let mut fit: Vec<(usize, String)> = Vec::new();
        for (node_key, node) in store.list(kinds::NODE) {
            if node["spec"]["unschedulable"] == true
                || node["status"]["conditions"][0]["status"] != "True"
            {
                why.push("node(s) were unschedulable");
            } else if !matches_affinity(pod, node) {
                why.push("node(s) didn't match Pod's node affinity/selector");
            } else if !self.has_its_disks(store, key, pod, &node_key.name) {
                why.push("node(s) didn't match PersistentVolume's node affinity");
            } else if !is_spread(store, key, pod, &node_key.name) {
                why.push("node(s) didn't match pod anti-affinity rules");
            } else {
                let load = store
                    .list(kinds::POD)
                    .filter(|(_, p)| text(p, "/spec/nodeName") == node_key.name)
                    .count();
                fit.push((load, node_key.name.clone()));
            }
        }
        fit.sort();
        why.sort_unstable();
        why.dedup();
        match fit.into_iter().next() {
            Some((_, node)) => Ok(node),
            None => Err(format!("0/{total} nodes are available: {}", why.join(", "))),
        }
    }

    fn has_its_disks(&self, store: &Store, key: &ObjectKey, pod: &Value, node: &str) -> bool {
        claim_names(pod).all(|claim| match self.disk_of(store, key, claim).as_str() {
            "" => true,
            disk => self.disks.get(disk).is_some_and(|d| d.node == node),
        })
    }

    fn bind(&mut self, store: &mut Store, key: &ObjectKey, pod: &Value, node: &str) {
        for claim in claim_names(pod) {
            if !self.disk_of(store, key, claim).is_empty() {
                continue;
            }
            self.disks_made += 1;
            let disk = format!("disk-{}", self.disks_made);
            self.disks.insert(
                disk.clone(),
                Disk {
                    node: node.to_string(),
                    claim: claim.to_string(),
                    mount: Mount::Mounted,
                    content: C::default(),
                },
            );
            let volume = json!({
                "apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": { "name": disk },
                "spec": {
                    "local": { "path": "/disk" },
                    "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [
                        { "key": "kubernetes.io/hostname", "operator": "In", "values": [node] },
                    ] }] } },
                },
            });
            let _ = store.create(&ObjectKey::new(kinds::VOLUME, "", &disk), &volume);
            let claim = ObjectKey::new(kinds::CLAIM, &key.namespace, claim);
            let _ =
                store.merge(&claim, &json!({ "spec": { "volumeName": disk } }), Subresource::None);
            let _ = store.put_status(&claim, json!({ "phase": "Bound" }));
        }
        let _ = store.merge(key, &json!({ "spec": { "nodeName": node } }), Subresource::None);
        let condition =
            json!([{ "type": "PodScheduled", "status": "True", "lastTransitionTime": store.now }]);
        let _ = store.put_status(key, json!({ "phase": "Pending", "conditions": condition }));
    }

    /// A machine stops or starts to answer; the node controller says so.
    pub fn set_machine(&mut self, store: &mut Store, node: &str, machine: Machine) {
        self.machines.insert(node.to_string(), machine);
        let ready = match machine {
            Machine::Up => "True",
            Machine::Down | Machine::CutFromApi => "Unknown",
        };
        let key = ObjectKey::new(kinds::NODE, "", node);
        let _ =
            store.put_status(&key, json!({ "conditions": [{ "type": "Ready", "status": ready }] }));
        if machine == Machine::CutFromApi {
            // What the node controller does: their kubelet cannot say it.
            let is_there = |pod: &Value| text(pod, "/spec/nodeName") == node;
            let pods = store.list(kinds::POD).filter(|(_, pod)| is_there(pod));
            let pods: Vec<ObjectKey> = pods.map(|(key, _)| key.clone()).collect();
            pods.iter().for_each(|pod| self.set_ready(store, pod, false));
        }
    }

    /// A node goes for good, with its disks. The pods on it are collected later.
    pub fn delete_node(&mut self, store: &mut Store, node: &str) {
        self.machines.remove(node);
        self.disks.retain(|_, disk| disk.node != node);
        store.remove(&ObjectKey::new(kinds::NODE, "", node));
        self.gone.insert(node.to_string(), store.now);
    }

    /// A machine is switched off and its Node deleted, with the disks in it. The pods on it
    /// are collected later.
    pub fn take_away(&mut self, store: &mut Store, node: &str) {
        self.set_machine(store, node, Machine::Down);
        self.forget_node(store, node);
        self.gone.insert(node.to_string(), store.now);
    }

    /// Such a machine is switched on again, with the disks that it had.
    pub fn bring_back(&mut self, store: &mut Store, node: &str, zone: &str) {
        self.add_node(store, node, zone);
        self.set_machine(store, node, Machine::Up);
    }

    /// Only the Node object is deleted; the machine and all on it go on.
    pub fn forget_node(&mut self, store: &mut Store, node: &str) {
        store.remove(&ObjectKey::new(kinds::NODE, "", node));
    }

    /// The collector of pods whose Node is gone looks every 20 s and waits for 40 s.
    pub(super) fn collect_pods(&mut self, store: &mut Store) -> Activity {
        let mut all = Activity::default();
        for (node, since) in self.gone.clone() {
            let due = since + COLLECTED;
            if store.now < due {
                all = all.at(due);
                continue;
            }
            self.gone.remove(&node);
            let pods: Vec<ObjectKey> = store
                .list(kinds::POD)
                .filter(|(_, pod)| text(pod, "/spec/nodeName") == node)
                .map(|(key, _)| key.clone())
                .collect();
            for pod in pods {
                store.remove(&pod);
                all.acted = true;
            }
        }
        all
    }
}

/// Required anti-affinity by host: is no other pod that its terms select on the node?
fn is_spread(store: &Store, key: &ObjectKey, pod: &Value, node: &str) -> bool {
    let pointer = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let terms = pod.pointer(pointer).and_then(Value::as_array);
    let selects = |term: &Value, labels: &Value| {
        let wanted = term["labelSelector"]["matchLabels"].as_object();
        wanted.is_some_and(|all| all.iter().all(|(label, value)| labels[label] == *value))
    };
    let others = || {
        let on_node = |other: &Value| text(other, "/spec/nodeName") == node;
        store.list(kinds::POD).filter(move |(other, p)| *other != key && on_node(p))
    };
    let is_free =
        |term: &Value| !others().any(|(_, other)| selects(term, &other["metadata"]["labels"]));
    terms.is_none_or(|terms| terms.iter().all(is_free))
}

fn matches_affinity(pod: &Value, node: &Value) -> bool {
    let selector = pod["spec"]["nodeSelector"].as_object();
    let labels = &node["metadata"]["labels"];
    let selected = selector.into_iter().flatten().all(|(key, value)| labels[key] == *value);
    let pointer = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let terms = pod.pointer(pointer).and_then(Value::as_array);
    let fits = |expression: &Value| {
        let label = &labels[text(expression, "/key")];
        let listed = expression["values"].as_array().into_iter().flatten().any(|v| v == label);
        match text(expression, "/operator") {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => !label.is_null(),
            _ => false,
        }
    };
    let term_fits =
        |term: &Value| term["matchExpressions"].as_array().into_iter().flatten().all(fits);
    selected && terms.is_none_or(|terms| terms.iter().any(term_fits))
}
