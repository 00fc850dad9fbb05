//! The volume claim of a member, and what is written on it: it outlives every other
//! object of the cluster, so that a recreated one finds its members again.

use super::facts::ServiceKind;
use crate::object::Object;
use palladion_api::ids::{ClaimUid, StaticAddress, Uid, VolumeId};
use palladion_api::labels;
use std::sync::Arc;

/// A member's claim.
#[derive(Debug, Clone)]
pub struct ClaimFact {
    /// The stored object.
    pub object: Arc<Object>,
    /// Is it bound to a volume?
    pub bound: bool,
    /// Is it being deleted?
    pub terminating: bool,
    /// What the system calls the server to whose volume it is bound (its server ID, its
    /// node name), once that was given.
    pub identity: Option<String>,
    /// That volume.
    pub volume_id: Option<VolumeId>,
    /// The address of that server.
    pub address: Option<StaticAddress>,
}

impl ClaimFact {
    /// Its uid.
    pub fn uid(&self) -> ClaimUid {
        ClaimUid::from(&self.object.meta.uid)
    }

    /// The cluster object that it goes with, where its data is marked so.
    pub fn cluster_uid(&self) -> Option<Uid> {
        self.object.meta.annotations.get(labels::CLUSTER_UID).map(Uid::new)
    }

    pub(super) fn read(kind: &ServiceKind, object: &Arc<Object>) -> Self {
        let annotation = |key: &str| object.meta.annotations.get(key);
        Self {
            bound: object.str_at("/volume").is_some_and(|v| !v.is_empty()),
            terminating: object.meta.is_terminating(),
            identity: annotation(kind.identity).cloned(),
            volume_id: annotation(labels::VOLUME_ID).map(VolumeId::new),
            address: annotation(labels::ADDRESS).map(StaticAddress::new),
            object: object.clone(),
        }
    }
}
