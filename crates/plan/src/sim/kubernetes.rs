//! Kubernetes around the operator: the StatefulSet controller, scheduler,
//! kubelets, local volumes, the garbage collector; each does what was seen of
//! the real one and no more.

mod claims;
mod collector;
mod kubelet;
mod rules;
mod scheduler;
mod sets;

pub use rules::RULES;

use super::Activity;
use super::kinds;
use super::store::{Store, text};
use crate::object::ObjectKey;
use palladion_api::ids::PodUid;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A local volume and what is on it.
#[derive(Clone, Debug)]
pub struct Disk<C> {
    /// Node that it is in.
    pub node: String,
    /// Claim that it is bound to.
    pub claim: String,
    /// Is it mounted where it should be?
    pub mount: Mount,
    /// What is on it.
    pub content: C,
}

/// Whether a disk is in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mount {
    /// In its place.
    Mounted,
    /// Another, empty file system is in its place.
    Missing,
}

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// It runs.
    Up,
    /// It does not answer.
    Down,
    /// It runs, and so do its pods, but it reaches the API server no more, and neither do they.
    CutFromApi,
}

/// A pod that runs on a living node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRun {
    /// Its key.
    pub key: ObjectKey,
    /// Its uid.
    pub uid: PodUid,
    /// Its node.
    pub node: String,
    /// `controller-revision-hash`.
    pub revision: String,
    /// Name of its first disk.
    pub disk: String,
    /// Is it being ended?
    pub ending: bool,
}

/// Controllers, nodes and disks.
#[derive(Clone, Debug)]
pub struct Kubernetes<C> {
    /// Machines by node name.
    pub machines: BTreeMap<String, Machine>,
    /// Disks by name.
    pub disks: BTreeMap<String, Disk<C>>,
    /// What the clocks of the kubelets are ahead.
    pub kubelets_ahead: jiff::SignedDuration,
    /// The driver that grows volumes is stuck.
    pub resizing_is_stuck: bool,
    /// Nodes that can mount no volume: what is placed there does not start.
    pub without_mounts: BTreeSet<String>,
    disks_made: usize,
    /// Nodes that are gone and whose pods were not collected yet.
    gone: BTreeMap<String, jiff::Timestamp>,
    back_offs: sets::BackOffs,
    /// Position in the log up to which everything is settled.
    settled: usize,
}

impl<C: Clone + Default> Kubernetes<C> {
    /// Nodes with their zones.
    pub fn new(store: &mut Store, nodes: &[(&str, &str)]) -> Self {
        let class = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": { "name": "local", "annotations": { "storageclass.kubernetes.io/is-default-class": "true" } },
            "provisioner": "kubernetes.io/no-provisioner",
            "allowVolumeExpansion": true,
        });
        let _ = store.create(&ObjectKey::new(kinds::STORAGE_CLASS, "", "local"), &class);
        let mut made = Kubernetes {
            machines: BTreeMap::new(),
            disks: BTreeMap::new(),
            kubelets_ahead: jiff::SignedDuration::ZERO,
            resizing_is_stuck: false,
            without_mounts: BTreeSet::new(),
            disks_made: 0,
            gone: BTreeMap::new(),
            back_offs: BTreeMap::new(),
            settled: 0,
        };
        for (node, zone) in nodes {
            made.add_node(store, node, zone);
        }
        made
    }

    /// A machine registers its Node, for the first time or again.
    pub fn add_node(&mut self, store: &mut Store, node: &str, zone: &str) {
        let object = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": node, "labels": { "topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": node } },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
        });
        let _ = store.create(&ObjectKey::new(kinds::NODE, "", node), &object);
        self.machines.insert(node.to_string(), Machine::Up);
        self.gone.remove(node);
    }

    /// Let every controller do what it can do now.
    pub fn step(&mut self, store: &mut Store) -> Activity {
        let before = store.log().len();
        let mut next = self.run_kubelets(store).and(self.collect_pods(store));
        let has_waited = self.back_offs.values().any(|until| *until <= store.now);
        if self.settled < before || has_waited {
            collector::run(store);
            claims::run(store);
            if !self.resizing_is_stuck {
                claims::grow(store);
            }
            self.back_offs.retain(|_, until| store.now < *until);
            sets::run(store, &mut self.back_offs);
            self.schedule(store);
            next = next.and(self.run_kubelets(store));
        }
        let next = self.back_offs.values().fold(next, |next, until| next.at(*until));
        self.settled = if store.log().len() == before { before } else { self.settled };
        Activity { acted: store.log().len() > before, next: next.next }
    }

    /// Does a machine of this name run?
    fn runs(&self, node: &str) -> bool {
        match self.machines.get(node) {
            Some(Machine::Up | Machine::CutFromApi) => true,
            Some(Machine::Down) | None => false,
        }
    }

    /// Do kubelet and pods of this machine reach the API server?
    pub fn reaches_api(&self, node: &str) -> bool {
        self.machines.get(node) == Some(&Machine::Up)
    }

    /// Pods whose containers run, on machines that run.
    pub fn pods(&self, store: &Store) -> Vec<PodRun> {
        store
            .list(kinds::POD)
            .filter(|(_, pod)| text(pod, "/status/phase") == "Running")
            .filter(|(_, pod)| self.runs(text(pod, "/spec/nodeName")))
            .filter(|(_, pod)| {
                pod["status"]["containerStatuses"][0]["state"]["running"].is_object()
            })
            .map(|(key, pod)| PodRun {
                key: key.clone(),
                uid: PodUid::new(text(pod, "/metadata/uid")),
                node: text(pod, "/spec/nodeName").to_string(),
                revision: text(pod, "/metadata/labels/controller-revision-hash").to_string(),
                disk: claim_names(pod)
                    .next()
                    .map(|c| self.disk_of(store, key, c))
                    .unwrap_or_default(),
                ending: pod["metadata"]["deletionTimestamp"].is_string(),
            })
            .collect()
    }

    fn disk_of(&self, store: &Store, pod: &ObjectKey, claim: &str) -> String {
        let key = ObjectKey::new(kinds::CLAIM, &pod.namespace, claim);
        store.get(&key).map(|c| text(c, "/spec/volumeName").to_string()).unwrap_or_default()
    }
}

/// The claims that a pod mounts.
fn claim_names(pod: &Value) -> impl Iterator<Item = &str> {
    pod["spec"]["volumes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|v| v["persistentVolumeClaim"]["claimName"].as_str())
}
