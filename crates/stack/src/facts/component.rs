//! A Component at one moment.

use super::claims::Claims;
use super::reach::Nodes;
use crate::resources::{
    self as kinds, CLAIM, CONFIG_MAP, OPERATOR_CONFIG, POD, SERVICE, STATEFUL_SET,
};
use crate::words::refusal::Unknown;
use jiff::Timestamp;
use palladion_api::component::names;
use palladion_api::labels::SPEC_HASH;
use palladion_api::{ComponentSpec, ComponentStatus, OperatorConfigSpec};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, Resource, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything known about one Component at one moment.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The raw snapshot.
    pub snapshot: &'a Snapshot,
    /// The spec; `Err` says why it cannot be read.
    pub spec: Result<ComponentSpec, String>,
    /// The status as stored.
    pub status: ComponentStatus,
    /// Settings of the operator.
    pub operator_config: Option<OperatorConfigSpec>,
    /// Its set.
    pub set: Option<SetFact>,
    /// The pods of its set, lowest ordinal first.
    pub pods: Vec<PodFact>,
    /// Its texts as they were read back, by key; `None` = there is no ConfigMap.
    pub texts: Option<BTreeMap<String, String>>,
    /// The claims of its pods.
    pub claims: Claims,
    /// Which pods can be reached.
    pub reach: Nodes,
}

/// The StatefulSet of a Component.
#[derive(Clone, Debug)]
pub struct SetFact {
    /// The stored object.
    pub object: Arc<Object>,
    /// Hash of what its template was made from.
    pub template: String,
    /// The agent's image that its template has.
    pub agent_image: Option<String>,
    /// Wanted pods.
    pub replicas: i32,
    /// Are all pods being recreated? Hash of what for.
    pub recreating: Option<String>,
    /// Has the StatefulSet controller seen the newest spec?
    pub seen: bool,
}

impl SetFact {
    fn read(object: &Arc<Object>) -> Self {
        let annotation = |key: &str| object.meta.annotations.get(key).cloned();
        let replicas = object.int_at("/spec/replicas").and_then(|n| i32::try_from(n).ok());
        Self {
            template: annotation(SPEC_HASH).unwrap_or_default(),
            agent_image: annotation(names::AGENT_IMAGE),
            replicas: replicas.unwrap_or(1),
            recreating: annotation(names::RECREATING).filter(|hash| !hash.is_empty()),
            seen: object.int_at("/status/observedGeneration") == Some(object.meta.generation),
            object: object.clone(),
        }
    }
}

impl<'a> Facts<'a> {
    /// Read a snapshot. An error says what could not be read or understood:
    /// then nothing is decided.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, String> {
        for resource in kinds::NEEDED {
            snapshot.all(resource)?;
        }
        let owner = &snapshot.owner;
        let name = &owner.meta.name;
        let spec = owner.part("spec").and_then(|s| s.ok_or_else(|| Unknown::NoSpec.to_string()));
        let sets = snapshot.all(STATEFUL_SET)?.iter();
        let is_ours = |o: &&Arc<Object>| o.meta.name == *name;
        let mut pods: Vec<PodFact> = snapshot
            .all(POD)?
            .iter()
            .filter(|o| palladion_api::names::ordinal(name, &o.meta.name).is_some())
            .map(|o| PodFact::read(o))
            .collect();
        pods.sort_by_key(|p| p.ordinal);
        let set = sets.filter(is_ours).map(SetFact::read).next();
        let map_name = names::config_map(name);
        let map = snapshot.all(CONFIG_MAP)?.iter().find(|o| o.meta.name == map_name);
        Ok(Self {
            snapshot,
            spec,
            status: owner.part("status")?.unwrap_or_default(),
            operator_config: snapshot.spec_of(OPERATOR_CONFIG, "default")?,
            pods,
            texts: map.map(|map| map.part("data")).transpose()?.map(Option::unwrap_or_default),
            claims: Claims::read(snapshot, snapshot.all(CLAIM)?, set.as_ref().map(|s| &*s.object)),
            set,
            reach: Nodes::read(snapshot),
        })
    }

    /// The time of the snapshot.
    pub fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    /// The time in whole seconds, for what is written.
    pub fn seconds(&self) -> Timestamp {
        Timestamp::from_second(self.now().as_second()).unwrap_or(self.now())
    }

    /// Objects of a kind; `read` has made sure that they are known.
    pub fn objects(&self, resource: Resource) -> &[Arc<Object>] {
        self.snapshot.all(resource).unwrap_or_default()
    }

    /// The pod of an ordinal.
    pub fn pod(&self, ordinal: i32) -> Option<&PodFact> {
        self.pods.iter().find(|p| p.ordinal == ordinal)
    }

    /// The pod of an ordinal, unless it is being deleted.
    pub fn there(&self, ordinal: i32) -> Option<&PodFact> {
        self.pod(ordinal).filter(|pod| !pod.terminating)
    }

    /// The ClusterIP of a Service of ours.
    pub fn cluster_ip(&self, service: &str) -> Option<&str> {
        let services = self.objects(SERVICE).iter();
        let seen = services.filter(|o| !o.meta.is_terminating()).find(|o| o.meta.name == service);
        seen?.str_at("/spec/clusterIP").filter(|ip| !ip.is_empty() && *ip != "None")
    }
}
