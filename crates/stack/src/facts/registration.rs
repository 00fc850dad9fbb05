//! A Registration at one moment: what is recorded, the service that is called, and
//! the pods that should be registered with it.

use super::dependencies::Seen;
use crate::registration::Wanted;
use crate::resources::{COMPONENT, GROUP, NEEDED_BY_REGISTRATIONS, OPERATOR_CONFIG, POD};
use crate::words::refusal::Unknown;
use palladion_api::component::names;
use palladion_api::ids::Uid;
use palladion_api::node_agents::names as group_names;
use palladion_api::registration::{Selected, SelectedKind};
use palladion_api::service::ServiceStatus;
use palladion_api::{OperatorConfigSpec, RegistrationSpec, RegistrationStatus};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, Resource, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything known about one Registration at one moment.
#[derive(Debug)]
pub struct RegistrationFacts<'a> {
    /// The raw snapshot.
    pub snapshot: &'a Snapshot,
    /// The spec; `Err` says why it cannot be read.
    pub spec: Result<RegistrationSpec, String>,
    /// The status as stored.
    pub status: RegistrationStatus,
    /// Settings of the operator.
    pub operator_config: Option<OperatorConfigSpec>,
    /// Pods of Components by name.
    pods: BTreeMap<String, PodFact>,
    /// Pods of groups, by group.
    agents: Vec<(String, PodFact)>,
}

impl<'a> RegistrationFacts<'a> {
    /// Read a snapshot. An error says what could not be read or understood:
    /// then nothing is decided.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, String> {
        for resource in NEEDED_BY_REGISTRATIONS {
            snapshot.all(resource)?;
        }
        let owner = &snapshot.owner;
        let spec = owner.part("spec").and_then(|s| s.ok_or_else(|| Unknown::NoSpec.to_string()));
        let (mut pods, mut agents) = (BTreeMap::new(), Vec::new());
        for object in snapshot.all(POD)? {
            let labels = &object.meta.labels;
            if labels.contains_key(names::OWNER) {
                pods.insert(object.meta.name.clone(), PodFact::read(object));
            } else if let Some(group) = labels.get(group_names::OWNER) {
                agents.push((group.clone(), PodFact::read(object)));
            }
        }
        Ok(Self {
            snapshot,
            spec,
            status: owner.part("status")?.unwrap_or_default(),
            operator_config: snapshot.spec_of(OPERATOR_CONFIG, "default")?,
            pods,
            agents,
        })
    }

    /// What a Component of this name says of itself.
    pub fn component(&self, name: &str) -> Seen {
        let all = self.snapshot.all(COMPONENT).unwrap_or_default();
        let Some(object) = all.iter().find(|object| object.meta.name == name) else {
            return Seen::Absent;
        };
        match service(object) {
            Ok(None) => Seen::Silent,
            Ok(Some(service)) => Seen::There(service),
            Err(why) => Seen::Unread { why },
        }
    }

    /// The first of these services that does not exist.
    pub fn absent<'s>(&self, select: &'s [Selected]) -> Option<&'s Selected> {
        let is_there = |selected: &&Selected| {
            let all = self.snapshot.all(resource(selected.kind)).unwrap_or_default();
            all.iter().any(|object| object.meta.name == selected.name)
        };
        select.iter().find(|selected| !is_there(selected))
    }

    /// uid of the Component of this name, if there is one.
    pub fn uid_of(&self, component: &str) -> Option<&Uid> {
        let all = self.snapshot.all(COMPONENT).unwrap_or_default();
        all.iter().find(|object| object.meta.name == component).map(|object| &object.meta.uid)
    }

    /// Is the Component of this name being deleted?
    pub fn is_leaving(&self, component: &str) -> bool {
        let all = self.snapshot.all(COMPONENT).unwrap_or_default();
        all.iter().any(|object| object.meta.name == component && object.meta.is_terminating())
    }

    /// Addresses of the ready pods of a Component, in their order.
    pub fn ready_addresses(&self, service: &ServiceStatus) -> Vec<String> {
        let is_ready = |name: &str| self.pods.get(name).is_some_and(PodFact::is_ready);
        let ready = service.nodes.iter().filter(|node| is_ready(node.name.as_str()));
        ready.map(|node| node.address.as_str().to_string()).collect()
    }

    /// The pods of a service that should be registered: its members on record, or
    /// the nodes that an agent of the group is on.
    ///
    /// # Errors
    /// What the service says of itself cannot be read: that is not to say that it has none.
    pub fn wanted(&self, selected: &Selected) -> Result<Vec<Wanted>, String> {
        match selected.kind {
            SelectedKind::NodeAgentGroup => Ok(self.wanted_of_group(&selected.name)),
            SelectedKind::Component => match self.component(&selected.name) {
                Seen::Unread { why } => Err(why),
                Seen::Absent | Seen::Leaving | Seen::Silent => Ok(Vec::new()),
                Seen::There(service) => Ok(self.wanted_of(&service)),
            },
        }
    }

    fn wanted_of(&self, service: &ServiceStatus) -> Vec<Wanted> {
        let of_node = |node: &palladion_api::service::ServiceNode| {
            let pod = self.pods.get(node.name.as_str()).filter(|pod| !pod.terminating);
            Wanted {
                name: node.name.as_str().to_string(),
                address: node.address.as_str().to_string(),
                ip: pod.and_then(|pod| pod.address.clone()),
                node: pod.and_then(|pod| pod.node.clone()),
                hash: None,
            }
        };
        service.nodes.iter().map(of_node).collect()
    }

    /// An agent is known by its node, whose address it has only with the network of that.
    fn wanted_of_group(&self, group: &str) -> Vec<Wanted> {
        let all = self.snapshot.all(GROUP).unwrap_or_default();
        let object = all.iter().find(|object| object.meta.name == group);
        let addresses = object.and_then(|o| o.str_at("/spec/network/addresses"));
        let moves = addresses != Some("HostNetwork");
        let pods = self.agents.iter().filter(|(of, pod)| of == group && !pod.terminating);
        let wanted = pods.filter_map(|(_, pod)| {
            let (node, ip) = (pod.node.clone()?, pod.address.clone());
            let address = if moves { node.clone() } else { ip.clone()? };
            Some(Wanted { name: node.clone(), address, ip, node: Some(node), hash: None })
        });
        wanted.collect()
    }
}

fn service(object: &Arc<Object>) -> Result<Option<ServiceStatus>, String> {
    let service = object.at("/status/service").cloned().unwrap_or_default();
    serde_json::from_value(service).map_err(|why| why.to_string())
}

/// The kind of a service whose pods are registered.
pub fn resource(kind: SelectedKind) -> Resource {
    match kind {
        SelectedKind::Component => COMPONENT,
        SelectedKind::NodeAgentGroup => GROUP,
    }
}
