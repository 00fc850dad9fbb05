//! From objects to facts: one typed picture of a cluster and its members, on
//! which all deciders work. Nothing is decided here.

mod departure;
mod elsewhere;
mod fence;
mod former_names;
mod job;
pub mod leaver;
pub mod lines;
mod live;
mod load_balancer;
mod member;
mod rebuild;
pub mod region;
mod repository;
mod restarts;
mod restoring;
pub mod security;
mod silence;
mod times;
pub mod words;

pub use departure::{KNOWS_DEPARTURES, no_repair_recorded};
pub use fence::JOB_NONCE;
pub use former_names::{clear_of_member, of_cluster_on_record, of_member_on_record};
pub use job::{REMOVAL, patch_of as operation_of, removal as removal_id};
pub use live::Watched;
pub use load_balancer::{Ingress, LoadBalancerFact};
pub use member::{ClaimFact, DrainTask, MemberFact, Process, ServiceFact, may_be_of_member};
pub use rebuild::KNOWS_DATACENTERS;
pub use restoring::{KNOWS_POINTS_IN_TIME, KNOWS_WHOLE_RINGS};
pub use silence::Silence;

use crate::resources as kinds;
use crate::trust::{self, Trusted};
use crate::words::status::Unknown;
use jiff::Timestamp;
use palladion_api::cluster::{CassandraClusterSpec, CassandraClusterStatus, Settled, Turn};
use palladion_api::ids::{MemberName, RackName, StaticAddress};
use palladion_api::member::CassandraMemberSpec;
use palladion_api::{OperatorConfigSpec, labels, names};
pub use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, Resource, Snapshot};
pub use restarts::is_open;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The setting that says that the chart's admission policies guard requests.
pub const ADMISSION_POLICIES: &str = "admissionPolicies";

/// Everything known about one cluster at one moment.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The raw snapshot: time, nonce, epoch, references, last failure.
    pub snapshot: &'a Snapshot,
    /// The spec, with what is settled where it says nothing of authentication and TLS.
    pub spec: CassandraClusterSpec,
    /// What is settled of authentication and TLS; nothing for rings that are older than that.
    pub settled: Option<Settled>,
    /// The authorities of `tls.internode.additionalTrust`; none of a spec that is refused.
    pub additional_trust: Vec<Trusted>,
    /// The status as stored.
    pub status: CassandraClusterStatus,
    /// Settings of the operator.
    pub operator_config: Option<OperatorConfigSpec>,
    /// Sets by name.
    pub sets: BTreeMap<String, SetFact>,
    /// Members by name: the union of member objects, pods and claims.
    pub members: BTreeMap<MemberName, MemberFact>,
    /// Load balancers of members, by the member.
    pub load_balancers: BTreeMap<MemberName, LoadBalancerFact>,
    /// Ready status of nodes by name.
    pub nodes: BTreeMap<String, bool>,
}

/// A rack's StatefulSet.
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
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, Unknown> {
        let owner = &snapshot.owner;
        let mut spec: CassandraClusterSpec = owner.part("spec")?.ok_or(Unknown::NoSpec)?;
        spec.datacenter = spec.datacenter.expanded();
        let mut status: CassandraClusterStatus = owner.part("status")?.unwrap_or_default();
        former_names::read_cluster(&mut status);
        let operator_config = snapshot.spec_of(kinds::OPERATOR_CONFIG, "default")?;
        let mut facts = Facts {
            snapshot,
            spec,
            settled: None,
            additional_trust: Vec::new(),
            status,
            operator_config,
            sets: BTreeMap::new(),
            members: BTreeMap::new(),
            load_balancers: BTreeMap::new(),
            nodes: BTreeMap::new(),
        };
        facts.read_sets()?;
        facts.read_members()?;
        facts.read_restarts()?;
        for node in snapshot.all(kinds::NODE)? {
            facts.nodes.insert(node.meta.name.clone(), node.str_at("/ready") == Some("True"));
        }
        security::settle(&mut facts);
        facts.additional_trust = trust::of(&facts.spec).unwrap_or_default();
        Ok(facts)
    }

    fn read_sets(&mut self) -> Result<(), Unknown> {
        for set in self.snapshot.all(kinds::STATEFUL_SET)? {
            let current = set.int_at("/status/observedGeneration") == Some(set.meta.generation);
            self.sets.insert(
                set.meta.name.clone(),
                SetFact {
                    object: set.clone(),
                    replicas: to_i32(set.int_at("/spec/replicas")),
                    update_revision: current
                        .then(|| set.str_at("/status/updateRevision"))
                        .flatten()
                        .map(str::to_string),
                },
            );
        }
        Ok(())
    }

    fn read_members(&mut self) -> Result<(), Unknown> {
        for object in self.snapshot.all(kinds::MEMBER)? {
            let mut spec: Option<CassandraMemberSpec> = object.part("spec")?;
            spec.iter_mut().for_each(former_names::read_member);
            let status = object.part("status")?.unwrap_or_default();
            let member = self.member_entry(&MemberName::new(&object.meta.name), object);
            member.spec = spec;
            member.status = status;
            member.object = Some(object.clone());
        }
        for object in self.snapshot.all(kinds::POD)? {
            let name =
                object.meta.labels.get(labels::POD_NAME).map(MemberName::new).unwrap_or_default();
            if !name.is_empty() {
                self.member_entry(&name, object).pod = Some(PodFact::read(object));
            }
        }
        for object in self.snapshot.all(kinds::SERVICE)? {
            if object.str_at("/spec/clusterIP") == Some("None") {
                continue;
            }
            // It has a ClusterIP, too, and is no member.
            if let Some(member) = names::member_of_load_balancer(&object.meta.name) {
                self.load_balancers.insert(member, LoadBalancerFact::read(object));
                continue;
            }
            let address = object.str_at("/spec/clusterIP").map(StaticAddress::new);
            self.member_entry(&MemberName::new(&object.meta.name), object).service =
                Some(ServiceFact {
                    address,
                    object: object.clone(),
                    decommissioned: object.meta.labels.get(labels::DECOMMISSIONED).cloned(),
                    alone_since: object
                        .meta
                        .annotations
                        .get(labels::GONE)
                        .and_then(|t| t.parse().ok()),
                });
        }
        for object in self.snapshot.all(kinds::CLAIM)? {
            let Some(name) = self.member_of_claim(object) else { continue };
            self.member_entry(&name, object).claim = Some(ClaimFact::read(object));
        }
        Ok(())
    }

    /// `<template>-<member>`, and the member's name starts with its set's. Where
    /// the rack is not on the claim, it starts with the cluster's.
    fn member_of_claim(&self, claim: &Object) -> Option<MemberName> {
        let (cluster, name) = (&self.snapshot.owner.meta.name, &claim.meta.name);
        let of_set = claim.meta.labels.get(labels::RACK).and_then(|rack| {
            let datacenter = &self.spec.datacenter.name;
            name.rfind(&format!("-{}-", names::rack_set(cluster, datacenter, &RackName::new(rack))))
        });
        let start = of_set.or_else(|| name.find(&format!("-{cluster}-")))?;
        Some(MemberName::new(&name[start + 1..]))
    }

    fn member_entry(&mut self, name: &MemberName, object: &Object) -> &mut MemberFact {
        let rack = object.meta.labels.get(labels::RACK).map(RackName::new).unwrap_or_default();
        let ordinal =
            name.as_str().rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or_default();
        self.members.entry(name.clone()).or_insert_with(|| MemberFact {
            name: name.clone(),
            rack,
            ordinal,
            ..MemberFact::default()
        })
    }

    /// The time of the snapshot.
    pub fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    /// Objects of a kind that are known; `read` has made sure of those it needs.
    pub fn objects(&self, resource: Resource) -> &[Arc<Object>] {
        self.snapshot.all(resource).unwrap_or_default()
    }

    /// The newest revision of a set, once the controller has seen its template.
    pub fn newest_revision(&self, set: &str) -> Option<&str> {
        self.sets.get(set)?.update_revision.as_deref()
    }

    /// Is it sure that a request for a certificate is of the member in whose status it stands?
    /// Only the admission policies make it so, and the operator cannot see them.
    pub fn can_sign(&self) -> bool {
        self.snapshot.settings.get(ADMISSION_POLICIES).is_some_and(|on| on == "true")
    }

    /// The turn that is under way.
    pub fn turn(&self) -> Option<&Turn> {
        self.status.turn.as_ref()
    }

    /// Has a user given up this address of a member, which cannot be had again?
    pub fn is_given_up(&self, address: &StaticAddress) -> bool {
        let given_up = self.snapshot.owner.meta.annotations.get(labels::GIVE_UP_ADDRESSES);
        let mut given_up = given_up.iter().flat_map(|list| list.split(','));
        given_up.any(|given_up| given_up.trim() == address.as_str())
    }

    /// Members with a host ID on record: those that have joined and have not left.
    pub fn joined(&self) -> impl Iterator<Item = &MemberFact> {
        self.members.values().filter(|m| m.recorded_host_id().is_some())
    }

    /// Is the ring beyond its creation? From then on a join is a growth.
    pub fn is_created(&self) -> bool {
        let status = &self.status;
        // Rings of an older Palladion have no `createdAt`.
        status.created_at.is_some()
            || status.system_replication.is_some()
            || status.system_replication_change.is_some()
            // Made under an earlier object of this name, whose claims were kept.
            || status.initialization.is_none() && self.joined().next().is_some()
    }

    /// Are backups condemned or deleted now? No backup and no restore begins meanwhile.
    pub fn expires_backups(&self) -> bool {
        self.status.retention.as_ref().is_some_and(|retention| retention.id.is_some())
    }

    /// Is there, or has there ever been, a ring: any trace of a member that joined?
    pub fn ring_exists(&self) -> bool {
        self.status.initialization.as_ref().is_some_and(|f| f.host_id.is_some())
            || self.joined().next().is_some()
    }
}

fn to_i32(value: Option<i64>) -> i32 {
    value.and_then(|v| i32::try_from(v).ok()).unwrap_or_default()
}
