//! The lock between regions, as this ring uses it: whether it does, which one it is, and how it
//! stands. Nothing is decided here.

use super::Facts;
use palladion_api::cluster::{CassandraClusterSpec, RingLock, RingOrigin};
use palladion_api::ids::LockToken;
use palladion_plan::lock::{Claimant, LockKey, LockScope, StoreAddress};
use palladion_plan::{LockFact, LockFence};
use std::time::Duration;

/// The setting with the name of the operator's region.
pub const REGION: &str = "region";

/// Whose turn it may be at this ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// This operator manages the ring alone.
    Alone,
    /// Others do, too, and there is no lock for it.
    Missing(Missing),
    /// Others do, too, and this is the lock.
    Shared(SharedLock),
}

/// Does the status have it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRecord {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// What is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The cluster does not say whether there is one.
    Choice,
    /// The OperatorConfig names no store.
    Store,
    /// The operator has no name of a region.
    Region,
}

/// The lock of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLock {
    /// Where it is kept.
    pub store: StoreAddress,
    /// Of which ring it is.
    pub key: LockKey,
    /// Who we are.
    pub claimant: Claimant,
    /// How long it lasts without renewal.
    pub ttl: Duration,
}

/// Has the ring members that this object does not describe?
pub fn is_elsewhere_too(spec: &CassandraClusterSpec) -> bool {
    let origin = spec.ring.map(|ring| ring.origin);
    !spec.external_seeds.is_empty() || origin == Some(RingOrigin::Existing)
}

/// Must the lock be held for a turn, as the spec alone says?
pub fn is_locked(spec: &CassandraClusterSpec) -> bool {
    match spec.ring.and_then(|ring| ring.lock) {
        Some(RingLock::Region) => true,
        Some(RingLock::None) => false,
        None => is_elsewhere_too(spec),
    }
}

impl Facts<'_> {
    /// Must the lock be held for a turn?
    pub fn is_locked(&self) -> bool {
        is_locked(&self.spec)
    }

    /// The lock of this ring.
    pub fn sharing(&self) -> Sharing {
        if !self.is_locked() {
            return Sharing::Alone;
        }
        if self.spec.ring.and_then(|ring| ring.lock).is_none() {
            return Sharing::Missing(Missing::Choice);
        }
        let config = self.operator_config.as_ref().and_then(|c| c.region_lock.as_ref());
        let store = config.and_then(|lock| match (&lock.etcd, &lock.lease) {
            (Some(etcd), _) => Some(StoreAddress::Etcd { endpoints: etcd.endpoints.clone() }),
            (None, Some(lease)) => Some(StoreAddress::Lease { namespace: lease.namespace.clone() }),
            (None, None) => None,
        });
        let (Some(config), Some(store)) = (config, store) else {
            return Sharing::Missing(Missing::Store);
        };
        let region = self.snapshot.settings.get(REGION).filter(|region| !region.is_empty());
        let Some(region) = region.cloned() else {
            return Sharing::Missing(Missing::Region);
        };
        let meta = &self.snapshot.owner.meta;
        let scope = match config.groups.get(&meta.namespace) {
            Some(group) => LockScope::Group(group.clone()),
            None => LockScope::Namespace(meta.namespace.clone()),
        };
        let ring = self.spec.ring_name.clone().unwrap_or_else(|| meta.name.clone());
        Sharing::Shared(SharedLock {
            store,
            key: LockKey { scope, ring },
            claimant: Claimant { region, uid: meta.uid.clone() },
            ttl: Duration::from_secs(config.ttl_seconds.into()),
        })
    }

    /// The token by which the lock is held now, where the ring uses it.
    pub fn held_token(&self) -> Option<&LockToken> {
        self.snapshot.lock.token().filter(|_| self.is_locked())
    }

    /// What a write that needs the lock is fenced by; nothing where the ring has none.
    pub fn lock_fence(&self) -> Option<LockFence> {
        self.held_token().cloned().map(LockFence::of)
    }

    /// May something be begun that needs the lock?
    pub fn may_begin(&self) -> bool {
        !self.is_locked() || self.held_token().is_some()
    }

    /// Who initializes the ring, over all regions, where that was asked; and whether the status
    /// has it.
    pub fn initialized_by(&self) -> Option<(Claimant, OnRecord)> {
        if let Some(other) = &self.status.initialized_elsewhere {
            let (region, uid) = (other.region.clone(), other.uid.clone());
            return Some((Claimant { region, uid }, OnRecord::Yes));
        }
        match &self.snapshot.lock {
            LockFact::Held { initialized_by, .. } => {
                initialized_by.clone().map(|by| (by, OnRecord::No))
            }
            LockFact::Unasked
            | LockFact::Asking
            | LockFact::HeldBy(_)
            | LockFact::NotHeld
            | LockFact::Unknown { .. } => None,
        }
    }
}
