//! From objects to facts: one typed picture of a cluster and its members, on which all
//! deciders work. Nothing is decided here.

mod cluster;
mod cookies;
mod node;

pub use node::{Answer, Node, claimed_name};
pub use palladion_plan::members::{ClaimFact, MemberFact, ServiceFact, SetFact};

use crate::resources as kinds;
use palladion_api::names;
use palladion_api::rabbitmq::{NodeName, RabbitmqClusterSpec, RabbitmqClusterStatus};
use palladion_api::service_member::{BrokerView, MemberVolumeState};
use palladion_plan::Snapshot;
use palladion_plan::members::ServiceFacts;
use palladion_plan::words::service::Unknown;
use std::ops::Deref;

/// Everything known about one cluster at one moment.
#[derive(Debug)]
pub struct Facts<'a> {
    /// What every clustered service has.
    pub service: ServiceFacts<'a>,
    /// The spec.
    pub spec: RabbitmqClusterSpec,
    /// The status as stored.
    pub status: RabbitmqClusterStatus,
}

impl<'a> Deref for Facts<'a> {
    type Target = ServiceFacts<'a>;

    fn deref(&self) -> &ServiceFacts<'a> {
        &self.service
    }
}

impl<'a> Facts<'a> {
    /// Read a snapshot. An error says what could not be read or understood: then nothing
    /// is decided.
    ///
    /// # Errors
    /// What is not known.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, Unknown> {
        let owner = &snapshot.owner;
        let no_spec = Unknown::NoSpec { kind: kinds::CLUSTER.kind };
        let spec: RabbitmqClusterSpec = owner.part("spec")?.ok_or(no_spec)?;
        let set = names::rabbitmq_set(&owner.meta.name);
        let of_spec = (spec.deletion_policy, spec.node_gone_grace_seconds);
        let mut service = ServiceFacts::read(snapshot, &kinds::SERVICE_KIND, set, of_spec)?;
        for member in service.members.values_mut() {
            member.serves = member.view().is_some_and(BrokerView::serves);
            member.waits_for_others = member.waits_for_tables();
        }
        let status = owner.part("status")?.unwrap_or_default();
        let mut facts = Facts { service, spec, status };
        let seen = facts.seen();
        for (name, member) in &mut facts.service.members {
            member.is_seen = seen.contains(name);
        }
        Ok(facts)
    }

    /// The name of a member's node: that on record or, before its first permit, the one
    /// that it will get. As long as no node has served, and nothing is on the volume, the
    /// spec may give it another domain.
    pub fn node_of(&self, member: &MemberFact) -> NodeName {
        let recorded = member.identity.as_deref().map(NodeName::new);
        let is_open = !self.exists() && member.is_on_empty_volume();
        recorded.filter(|_| !is_open).unwrap_or_else(|| self.name_in(member, self.domain()))
    }

    /// The domain in the names of nodes: that of the names which stand on volumes, whatever the
    /// spec says by now. Under another one a joiner could reach nobody.
    pub fn domain(&self) -> &str {
        let mut recorded = self.members.values().filter_map(|member| self.domain_of(member));
        recorded.next().unwrap_or(&self.spec.cluster_domain)
    }

    /// The domain in the name that a member's node has for good. By the last report of its
    /// volume, whatever pod it has: templates are made with it, and a pod that is replaced
    /// because of one has none to report for a while.
    fn domain_of<'m>(&self, member: &'m MemberFact) -> Option<&'m str> {
        let last = member.status.volume.as_ref().map(|volume| volume.state);
        let is_open = !self.exists() && last == Some(MemberVolumeState::Empty);
        let before = self.name_in(member, "").to_string();
        member.identity.as_deref().filter(|_| !is_open)?.strip_prefix(&before)
    }

    fn name_in(&self, member: &MemberFact, domain: &str) -> NodeName {
        let service = names::nodes_service(&self.set_name);
        let namespace = &self.snapshot.owner.meta.namespace;
        NodeName::of(&member.name, &service, namespace, domain)
    }
}
