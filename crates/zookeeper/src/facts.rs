//! From objects to facts: one typed picture of an ensemble and its members, on
//! which all deciders work. Nothing is decided here.

mod configuration;
mod voter;

pub use configuration::Configuration;
pub use palladion_plan::members::{ClaimFact, MemberFact, ServiceFact, SetFact};
pub use voter::{Voter, claimed_id};

use crate::resources as kinds;
use palladion_api::ids::StaticAddress;
use palladion_api::names;
use palladion_api::zookeeper::{ServerId, ZookeeperClusterSpec, ZookeeperClusterStatus};
use palladion_plan::Snapshot;
use palladion_plan::members::ServiceFacts;
use palladion_plan::words::service::Unknown;
use std::ops::Deref;

/// Everything known about one ensemble at one moment.
#[derive(Debug)]
pub struct Facts<'a> {
    /// What every clustered service has.
    pub service: ServiceFacts<'a>,
    /// The spec.
    pub spec: ZookeeperClusterSpec,
    /// The status as stored.
    pub status: ZookeeperClusterStatus,
}

impl<'a> Deref for Facts<'a> {
    type Target = ServiceFacts<'a>;

    fn deref(&self) -> &ServiceFacts<'a> {
        &self.service
    }
}

impl<'a> Facts<'a> {
    /// Read a snapshot. An error says what could not be read or understood:
    /// then nothing is decided.
    ///
    /// # Errors
    /// What is not known.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, Unknown> {
        let owner = &snapshot.owner;
        let no_spec = Unknown::NoSpec { kind: kinds::CLUSTER.kind };
        let spec: ZookeeperClusterSpec = owner.part("spec")?.ok_or(no_spec)?;
        let set = names::zookeeper_set(&owner.meta.name);
        let of_spec = (spec.deletion_policy, spec.node_gone_grace_seconds);
        let mut service = ServiceFacts::read(snapshot, &kinds::SERVICE_KIND, set, of_spec)?;
        for member in service.members.values_mut() {
            member.serves = member.votes();
        }
        Ok(Facts { service, spec, status: owner.part("status")?.unwrap_or_default() })
    }

    /// The member to whose volume this server ID was given.
    pub fn member_of(&self, id: ServerId) -> Option<&MemberFact> {
        self.members.values().find(|m| m.server_id() == Some(id))
    }

    /// The address by which a configuration, or a record, knows that member.
    pub fn address_of(&self, member: &MemberFact) -> Option<StaticAddress> {
        let id = member.server_id()?;
        let known = self.configuration().and_then(|c| c.server(id).map(|s| s.address.clone()));
        known.or_else(|| member.address().cloned())
    }
}
