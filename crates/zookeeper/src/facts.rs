//! From objects to facts: one typed picture of an ensemble and its members, on
//! which all deciders work. Nothing is decided here.

mod configuration;
mod member;
pub mod words;

pub use configuration::Configuration;
pub use member::{ClaimFact, MemberFact, ServiceFact};

use crate::resources as kinds;
use crate::words::status::Unknown;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::ServiceMemberSpec;
use palladion_api::zookeeper::{ServerId, ZookeeperClusterSpec, ZookeeperClusterStatus};
use palladion_api::{OperatorConfigSpec, labels, names};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Fence, Object, Resource, Snapshot, turn};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything known about one ensemble at one moment.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The raw snapshot: time, nonce, epoch, last failure.
    pub snapshot: &'a Snapshot,
    /// The spec.
    pub spec: ZookeeperClusterSpec,
    /// The status as stored.
    pub status: ZookeeperClusterStatus,
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

impl<'a> Facts<'a> {
    /// Read a snapshot. An error says what could not be read or understood:
    /// then nothing is decided.
    ///
    /// # Errors
    /// What is not known.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, Unknown> {
        for watch in kinds::watches() {
            let kind = watch.resource.plural;
            snapshot.all(watch.resource).map_err(|why| Unknown::Kind { kind, why })?;
        }
        let owner = &snapshot.owner;
        let mut facts = Facts {
            snapshot,
            spec: owner.part("spec")?.ok_or(Unknown::NoSpec)?,
            status: owner.part("status")?.unwrap_or_default(),
            operator_config: snapshot.spec_of(kinds::OPERATOR_CONFIG, "default")?,
            set_name: names::zookeeper_set(&owner.meta.name),
            set: None,
            members: BTreeMap::new(),
            nodes: BTreeMap::new(),
        };
        facts.read_set()?;
        facts.read_members()?;
        for node in snapshot.all(kinds::NODE)? {
            facts.nodes.insert(node.meta.name.clone(), node.str_at("/ready") == Some("True"));
        }
        Ok(facts)
    }

    fn read_set(&mut self) -> Result<(), Unknown> {
        let sets = self.snapshot.all(kinds::STATEFUL_SET)?;
        self.set = sets.iter().find(|s| s.meta.name == self.set_name).map(|set| {
            let is_current = set.int_at("/status/observedGeneration") == Some(set.meta.generation);
            let revision = set.str_at("/status/updateRevision").filter(|_| is_current);
            SetFact {
                object: set.clone(),
                replicas: to_i32(set.int_at("/spec/replicas")),
                update_revision: revision.map(str::to_string),
            }
        });
        Ok(())
    }

    fn read_members(&mut self) -> Result<(), Unknown> {
        for object in self.snapshot.all(kinds::MEMBER)? {
            let spec: Option<ServiceMemberSpec> = object.part("spec")?;
            let status = object.part("status")?.unwrap_or_default();
            let Some(member) = self.entry(&object.meta.name) else { continue };
            (member.spec, member.status) = (spec, status);
            member.object = Some(object.clone());
        }
        for object in self.snapshot.all(kinds::POD)? {
            if let Some(member) = self.entry(&object.meta.name) {
                member.pod = Some(PodFact::read(object));
            }
        }
        for object in self.snapshot.all(kinds::SERVICE)? {
            let Some(name) = object.meta.labels.get(labels::MEMBER).cloned() else { continue };
            if let Some(member) = self.entry(&name) {
                member.services.push(ServiceFact::read(object));
            }
        }
        for object in self.snapshot.all(kinds::CLAIM)? {
            // `<template>-<member>`, and the member's name starts with its set's.
            let name = object.meta.name.find(&format!("-{}-", self.set_name));
            let name = name.map(|at| object.meta.name[at + 1..].to_string());
            if let Some(member) = name.and_then(|name| self.entry(&name)) {
                member.claim = Some(ClaimFact::read(object));
            }
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
        self.status.turn.as_ref()
    }

    /// The fence of every write that belongs to the turn, or during which nobody may
    /// take it: it is held as it was seen.
    pub fn fence(&self) -> Fence {
        turn::fence(self.snapshot, kinds::CLUSTER, self.turn())
    }

    /// The newest revision of the set, once the controller has seen its template.
    pub fn newest_revision(&self) -> Option<&str> {
        self.set.as_ref()?.update_revision.as_deref()
    }

    /// The member to whose volume this server ID was given.
    pub fn member_of(&self, id: ServerId) -> Option<&MemberFact> {
        self.members.values().find(|m| m.server_id() == Some(id))
    }

    /// Members with a server ID on record that have not left.
    pub fn enrolled(&self) -> impl Iterator<Item = &MemberFact> {
        self.members.values().filter(|m| m.server_id().is_some() && !m.is_gone())
    }

    /// Is there, or has there ever been, an ensemble: any trace of a server that served?
    pub fn ensemble_exists(&self) -> bool {
        let served = self.status.initialized.as_ref().is_some_and(|i| i.served_at.is_some());
        served || self.members.values().any(MemberFact::has_served)
    }

    /// The address by which a configuration, or a record, knows that member.
    pub fn address_of(&self, member: &MemberFact) -> Option<StaticAddress> {
        let id = member.server_id()?;
        let known = self.configuration().and_then(|c| c.server(id).map(|s| s.address.clone()));
        known.or_else(|| member.address().cloned())
    }
}

fn to_i32(value: Option<i64>) -> i32 {
    value.and_then(|v| i32::try_from(v).ok()).unwrap_or_default()
}
