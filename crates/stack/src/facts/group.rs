//! A group of node agents at one moment.

use super::claims::Claims;
use super::reach::Nodes;
use crate::groups::overlap::Group;
use crate::resources::{
    self as kinds, CONFIG_MAP, DAEMON_SET, GROUP, NODE, OPERATOR_CONFIG, POD, PROFILE,
};
use crate::words::refusal::Unknown;
use palladion_api::component::names;
use palladion_api::labels::{AGENT_IMAGE, SPEC_HASH};
use palladion_api::{
    NodeAgentGroupSpec, NodeAgentGroupStatus, NodeAgentProfileSpec, OperatorConfigSpec,
};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, Resource, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything known about one group at one moment.
#[derive(Debug)]
pub struct GroupFacts<'a> {
    /// The raw snapshot.
    pub snapshot: &'a Snapshot,
    /// The spec; `Err` says why it cannot be read.
    pub spec: Result<NodeAgentGroupSpec, String>,
    /// The status as stored.
    pub status: NodeAgentGroupStatus,
    /// Settings of the operator.
    pub operator_config: Option<OperatorConfigSpec>,
    /// Its DaemonSet.
    pub set: Option<DaemonFact>,
    /// Its pods that have a node, by node.
    pub pods: Vec<PodFact>,
    /// Its pods that have none.
    pub unplaced: Vec<PodFact>,
    /// Its texts as they were read back, by key; `None` = there is no ConfigMap.
    pub texts: Option<BTreeMap<String, String>>,
    /// The claims that its pods share; a DaemonSet has none of its own.
    pub claims: Claims,
    /// Which pods can be reached.
    pub reach: Nodes,
    /// The profiles of the namespace; `Err` says why one cannot be read.
    pub profiles: BTreeMap<String, Result<NodeAgentProfileSpec, String>>,
    /// All groups of all namespaces.
    pub groups: Vec<Group>,
}

/// The DaemonSet of a group.
#[derive(Clone, Debug)]
pub struct DaemonFact {
    /// The stored object.
    pub object: Arc<Object>,
    /// Hash of what its template was made from.
    pub template: String,
    /// The agent's image that its template has.
    pub agent_image: Option<String>,
    /// Has the DaemonSet controller seen the newest spec?
    pub seen: bool,
    /// Nodes that should run a pod.
    pub desired: u32,
}

impl DaemonFact {
    fn read(object: &Arc<Object>) -> Self {
        let annotation = |key: &str| object.meta.annotations.get(key).cloned();
        let desired = object.int_at("/status/desiredNumberScheduled");
        Self {
            template: annotation(SPEC_HASH).unwrap_or_default(),
            agent_image: annotation(AGENT_IMAGE),
            seen: object.int_at("/status/observedGeneration") == Some(object.meta.generation),
            desired: desired.and_then(|n| u32::try_from(n).ok()).unwrap_or_default(),
            object: object.clone(),
        }
    }
}

impl<'a> GroupFacts<'a> {
    /// Read a snapshot. An error says what could not be read or understood:
    /// then nothing is decided.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, String> {
        for resource in kinds::NEEDED_BY_GROUPS {
            snapshot.all(resource)?;
        }
        let owner = &snapshot.owner;
        let named = |resource, name: &str| -> Result<Option<&Arc<Object>>, String> {
            Ok(snapshot.all(resource)?.iter().find(|o| o.meta.name == name))
        };
        let spec = owner.part("spec").and_then(|s| s.ok_or_else(|| Unknown::NoSpec.to_string()));
        let map = named(CONFIG_MAP, &names::config_map(&owner.meta.name))?;
        let profiles = snapshot.all(PROFILE)?.iter().map(|o| (o.meta.name.clone(), profile(o)));
        // One without a node waits for it, maybe behind one of another group's, and holds up nobody.
        let pods = snapshot.all(POD)?.iter().map(|o| PodFact::read(o));
        let (mut pods, unplaced): (Vec<PodFact>, Vec<PodFact>) =
            pods.partition(|pod| pod.node.is_some());
        pods.sort_by(|a, b| (&a.node, &a.name).cmp(&(&b.node, &b.name)));
        Ok(Self {
            snapshot,
            spec,
            status: owner.part("status")?.unwrap_or_default(),
            operator_config: snapshot.spec_of(OPERATOR_CONFIG, "default")?,
            set: named(DAEMON_SET, &owner.meta.name)?.map(DaemonFact::read),
            pods,
            unplaced,
            texts: map.map(|map| map.part("data")).transpose()?.map(Option::unwrap_or_default),
            claims: Claims::read(snapshot, &[], None),
            reach: Nodes::read(snapshot),
            profiles: profiles.collect(),
            groups: snapshot.all(GROUP)?.iter().map(|o| group(o)).collect(),
        })
    }

    /// Objects of a kind; `read` has made sure that they are known.
    pub fn objects(&self, resource: Resource) -> &[Arc<Object>] {
        self.snapshot.all(resource).unwrap_or_default()
    }

    /// This group among all.
    pub fn own(&self) -> Option<&Group> {
        let name = qualified(&self.snapshot.owner);
        self.groups.iter().find(|group| group.name == name)
    }

    /// All nodes, with their labels.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, String>)> {
        self.objects(NODE).iter().map(|o| (o.meta.name.as_str(), &o.meta.labels))
    }
}

fn qualified(object: &Object) -> String {
    format!("{}/{}", object.meta.namespace, object.meta.name)
}

fn profile(object: &Object) -> Result<NodeAgentProfileSpec, String> {
    object.part("spec").and_then(|s| s.ok_or_else(|| Unknown::NoSpec.to_string()))
}

fn group(object: &Object) -> Group {
    let selector = object.at("/spec/nodeSelector").cloned().unwrap_or_default();
    Group {
        name: qualified(object),
        agent: object.str_at("/spec/agent").unwrap_or_default().to_string(),
        selector: serde_json::from_value(selector).unwrap_or_default(),
    }
}
