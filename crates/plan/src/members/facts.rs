//! From objects to facts: what is known of a service and its members, before a mind
//! adds what their servers report. Nothing is decided here.

use super::{ClaimFact, MEMBER, MemberFact, ServiceFact};
use crate::kinds::{
    CLAIM, CONFIG_MAP, DISRUPTION_BUDGET, NODE, OPERATOR_CONFIG, POD, ROLE_BINDING, SERVICE,
    SERVICE_ACCOUNT, STATEFUL_SET, STORAGE_CLASS, VOLUME,
};
use crate::mind::{Keep, Route, Watch};
use crate::object::{Object, Resource};
use crate::plan::Fence;
use crate::snapshot::Snapshot;
use crate::turn;
use crate::words::service::Unknown;
use crate::workload::pod::{self, PodFact};
use crate::workload::{claims, home};
use jiff::Timestamp;
use palladion_api::cluster::DeletionPolicy;
use palladion_api::ids::MemberName;
use palladion_api::service::{ServiceInitialization, ServiceTurn};
use palladion_api::service_member::{ServiceMemberSpec, ServiceSystem};
use palladion_api::{OperatorConfigSpec, labels, names};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What differs between the services of two systems, as far as their objects go.
#[derive(Debug)]
pub struct ServiceKind {
    /// The kind of the cluster object.
    pub owner: Resource,
    /// The system of its members.
    pub system: ServiceSystem,
    /// The label that names the cluster on everything that belongs to it.
    pub label: &'static str,
    /// What Kubernetes' recommended name label says, and the pods' `app`.
    pub app: &'static str,
    /// The container in which a server runs, with its agent.
    pub container: &'static str,
    /// The annotation of claims with what the system calls the server.
    pub identity: &'static str,
    /// The same in the record of a member.
    pub identity_of: fn(&ServiceMemberSpec) -> Option<String>,
}

/// Everything known about one service at one moment, but for what its servers report.
#[derive(Debug)]
pub struct ServiceFacts<'a> {
    /// The raw snapshot: time, nonce, epoch, last failure.
    pub snapshot: &'a Snapshot,
    /// What kind of service it is.
    pub kind: &'static ServiceKind,
    /// Settings of the operator.
    pub operator_config: Option<OperatorConfigSpec>,
    /// Name of the StatefulSet.
    pub set_name: String,
    /// The StatefulSet.
    pub set: Option<SetFact>,
    /// Members by name: the union of member objects, pods and claims.
    pub members: BTreeMap<MemberName, MemberFact>,
    /// Ready status of nodes by name.
    pub nodes: BTreeMap<String, bool>,
    /// What the spec says about a deletion of the cluster.
    pub deletion_policy: DeletionPolicy,
    /// What it says about Nodes that are gone, in seconds.
    pub node_gone_grace_seconds: u32,
    common: Common,
}

/// What the status of every such cluster has.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Common {
    turn: Option<ServiceTurn>,
    epoch: Option<i64>,
    initialized: Option<ServiceInitialization>,
}

/// The StatefulSet.
#[derive(Debug, Clone)]
pub struct SetFact {
    /// The stored object.
    pub object: Arc<Object>,
    /// Wanted replicas.
    pub replicas: i32,
    /// Revision of the newest template, once the controller has seen it.
    pub update_revision: Option<String>,
}

impl<'a> ServiceFacts<'a> {
    /// Read a snapshot. An error says what could not be read or understood: then nothing
    /// is decided.
    ///
    /// # Errors
    /// What is not known.
    pub fn read(
        snapshot: &'a Snapshot,
        kind: &'static ServiceKind,
        set_name: String,
        (deletion_policy, node_gone_grace_seconds): (DeletionPolicy, u32),
    ) -> Result<Self, Unknown> {
        for watch in watches(kind) {
            let resource = watch.resource;
            let unread = |why| Unknown::Kind { kind: resource.plural, why };
            snapshot.all(resource).map_err(unread)?;
        }
        let mut facts = ServiceFacts {
            snapshot,
            kind,
            operator_config: snapshot.spec_of(OPERATOR_CONFIG, "default")?,
            set_name,
            set: None,
            members: BTreeMap::new(),
            nodes: BTreeMap::new(),
            deletion_policy,
            node_gone_grace_seconds,
            common: snapshot.owner.part("status")?.unwrap_or_default(),
        };
        facts.read_set()?;
        facts.read_members()?;
        for node in snapshot.all(NODE)? {
            facts.nodes.insert(node.meta.name.clone(), node.str_at("/ready") == Some("True"));
        }
        Ok(facts)
    }

    fn read_set(&mut self) -> Result<(), Unknown> {
        let sets = self.snapshot.all(STATEFUL_SET)?;
        self.set = sets.iter().find(|s| s.meta.name == self.set_name).map(|set| {
            let is_current = set.int_at("/status/observedGeneration") == Some(set.meta.generation);
            let revision = set.str_at("/status/updateRevision").filter(|_| is_current);
            let replicas = set.int_at("/spec/replicas").and_then(|v| i32::try_from(v).ok());
            SetFact {
                object: set.clone(),
                replicas: replicas.unwrap_or_default(),
                update_revision: revision.map(str::to_string),
            }
        });
        Ok(())
    }

    fn read_members(&mut self) -> Result<(), Unknown> {
        let kind = self.kind;
        for object in self.snapshot.all(MEMBER)? {
            let spec: Option<ServiceMemberSpec> = object.part("spec")?;
            let status = object.part("status")?.unwrap_or_default();
            let Some(member) = self.entry(&object.meta.name) else { continue };
            (member.spec, member.status) = (spec, status);
            member.object = Some(object.clone());
        }
        for object in self.snapshot.all(POD)? {
            if let Some(member) = self.entry(&object.meta.name) {
                member.pod = Some(PodFact::read(object));
            }
        }
        for object in self.snapshot.all(SERVICE)? {
            let Some(name) = object.meta.labels.get(labels::MEMBER).cloned() else { continue };
            if let Some(member) = self.entry(&name) {
                member.services.push(ServiceFact::read(object));
            }
        }
        for object in self.snapshot.all(CLAIM)? {
            // `<template>-<member>`, and the member's name starts with its set's. The name of
            // the template may have that in it, too.
            let name = object.meta.name.rfind(&format!("-{}-", self.set_name));
            let name = name.map(|at| object.meta.name[at + 1..].to_string());
            if let Some(member) = name.and_then(|name| self.entry(&name)) {
                member.claim = Some(ClaimFact::read(kind, object));
            }
        }
        for member in self.members.values_mut() {
            member.identity = match &member.spec {
                Some(spec) => (kind.identity_of)(spec),
                None => member.claim.as_ref().and_then(|c| c.identity.clone()),
            };
        }
        Ok(())
    }

    /// The member of this name, if it is one of the set.
    fn entry(&mut self, name: &str) -> Option<&mut MemberFact> {
        let ordinal = names::ordinal(&self.set_name, name)?;
        let name = MemberName::new(name);
        let new = MemberFact { name: name.clone(), ordinal, ..MemberFact::default() };
        Some(self.members.entry(name).or_insert(new))
    }

    /// The time of the snapshot.
    pub fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    /// Objects of a kind; `read` has made sure that they are known.
    pub fn objects(&self, resource: Resource) -> &[Arc<Object>] {
        self.snapshot.all(resource).unwrap_or_default()
    }

    /// The turn that is under way.
    pub fn turn(&self) -> Option<&ServiceTurn> {
        self.common.turn.as_ref()
    }

    /// The epoch on record.
    pub fn epoch(&self) -> Option<i64> {
        self.common.epoch
    }

    /// The start of the service, once it is on record.
    pub fn initialized(&self) -> Option<&ServiceInitialization> {
        self.common.initialized.as_ref()
    }

    /// The fence of every write that belongs to the turn, or during which nobody may
    /// take it: it is held as it was seen.
    pub fn fence(&self) -> Fence {
        turn::fence(self.snapshot, self.kind.owner, self.turn())
    }

    /// The newest revision of the set, once the controller has seen its template.
    pub fn newest_revision(&self) -> Option<&str> {
        self.set.as_ref()?.update_revision.as_deref()
    }

    /// Members to whose volume a server was given that has not left.
    pub fn enrolled(&self) -> impl Iterator<Item = &MemberFact> {
        self.members.values().filter(|m| m.is_enrolled())
    }

    /// Is there, or has there ever been, a service: any trace of a server that served?
    pub fn exists(&self) -> bool {
        let served = self.initialized().is_some_and(|i| i.served_at.is_some());
        served || self.members.values().any(MemberFact::has_served)
    }
}

/// Selects what Palladion made; the same words in every mind, so that the engine needs
/// one watch for all.
const OURS: &str = "app.kubernetes.io/managed-by=palladion";

/// One watch per kind for the whole process.
pub fn watches(kind: &ServiceKind) -> Vec<Watch> {
    let by_cluster = Route::Label(kind.label);
    let watch = |resource, selector, keep, route| Watch { resource, selector, keep, route };
    vec![
        watch(kind.owner, "", Keep::Everything, Route::Owner),
        watch(MEMBER, OURS, Keep::Everything, by_cluster),
        watch(OPERATOR_CONFIG, "", Keep::Only(&["/spec"]), Route::Every),
        watch(STATEFUL_SET, OURS, Keep::Everything, by_cluster),
        watch(POD, OURS, Keep::Projection(pod::project), by_cluster),
        watch(SERVICE, OURS, Keep::Everything, by_cluster),
        watch(CONFIG_MAP, OURS, Keep::Everything, by_cluster),
        watch(CLAIM, OURS, Keep::Projection(claims::project), by_cluster),
        watch(SERVICE_ACCOUNT, OURS, Keep::Everything, by_cluster),
        watch(ROLE_BINDING, OURS, Keep::Everything, by_cluster),
        watch(DISRUPTION_BUDGET, OURS, Keep::Only(&["/spec"]), by_cluster),
        watch(
            STORAGE_CLASS,
            "",
            Keep::Only(&["/provisioner", "/allowVolumeExpansion"]),
            Route::Every,
        ),
        watch(
            VOLUME,
            "",
            Keep::Projection(home::project),
            Route::Named { by: CLAIM, at: "/volume" },
        ),
        watch(NODE, "", Keep::Projection(home::project_node), Route::Every),
    ]
}
