//! The lock between regions: what a mind asks, what it learns, and what a store of locks can
//! do. One ring may have an operator in each of its regions; the lock orders the regions, the
//! turn orders the members of one. Who holds it is a fact like any other, and what could not be
//! asked is unknown: nobody holds a lock by guess.

use jiff::{SignedDuration, Timestamp};
pub use palladion_api::ids::LockToken;
use palladion_api::ids::Uid;
use serde::Serialize;
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// Whose rings share a name. A namespace that is called as a group is not that group: who may
/// create namespaces holds no lock of others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockScope {
    /// Namespaces of this name, in all regions.
    Namespace(String),
    /// Namespaces that are mapped to this group.
    Group(String),
}

impl LockScope {
    /// The same as a path, `namespaces/<name>` or `groups/<name>`. Names of neither have a slash.
    pub fn path(&self) -> String {
        match self {
            Self::Namespace(name) => format!("namespaces/{name}"),
            Self::Group(name) => format!("groups/{name}"),
        }
    }
}

/// Which ring it is, in all regions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockKey {
    /// Where the ring is: no tenant holds another's lock.
    pub scope: LockScope,
    /// Name of the ring, as its servers have it.
    pub ring: String,
}

/// Who takes it: the ring's object in one region.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimant {
    /// Name of the region.
    pub region: String,
    /// uid of the object: an operator that starts again goes on with the lock of its own ring.
    pub uid: Uid,
}

impl Claimant {
    /// As a store of locks has it.
    pub fn record(&self) -> Value {
        json!({ "region": self.region, "uid": self.uid })
    }

    /// The same as it was read, whatever stands beside it.
    pub fn read(value: &Value) -> Option<Self> {
        let (region, uid) = (value["region"].as_str()?, value["uid"].as_str()?);
        Some(Self { region: region.to_string(), uid: Uid::new(uid) })
    }
}

/// Where locks are kept. Credentials are no mind's business.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreAddress {
    /// An etcd.
    Etcd {
        /// Its URLs.
        endpoints: Vec<String>,
    },
    /// Leases of a Kubernetes cluster.
    Lease {
        /// Their namespace.
        namespace: String,
    },
}

/// What is wanted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Take it, as soon as it is free.
    Take,
    /// Keep it, if it is ours; do not take it.
    Keep,
}

/// What a mind asks ([`crate::Mind::lock`]). Without a question a lock that is held is released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockQuestion {
    /// Where.
    pub store: StoreAddress,
    /// Of which ring.
    pub key: LockKey,
    /// In whose name.
    pub claimant: Claimant,
    /// How long it lasts without renewal.
    pub ttl: Duration,
    /// What is wanted.
    pub want: Want,
    /// Record besides, once for ever, that this claimant initializes the ring; done once the lock
    /// is held.
    pub initializes: bool,
    /// A person takes this holding away from whoever has it.
    pub breaks: Option<LockToken>,
}

/// Somebody who holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// By which token.
    pub token: LockToken,
    /// Name of the region.
    pub region: String,
    /// Since when, by that region's clock; for people.
    pub since: Option<Timestamp>,
}

/// The lock as it is known at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LockFact {
    /// Nobody has asked.
    #[default]
    Unasked,
    /// The store has not answered yet.
    Asking,
    /// It is ours.
    Held {
        /// By this token.
        token: LockToken,
        /// For so long at least, if it is not renewed.
        lease_left: SignedDuration,
        /// Who initializes the ring, once that was asked and answered.
        initialized_by: Option<Claimant>,
    },
    /// It is another's.
    HeldBy(Holder),
    /// It is nobody's, or was ours and is not any more.
    NotHeld,
    /// The store cannot be asked.
    Unknown {
        /// Why, for people.
        why: String,
    },
}

impl LockFact {
    /// The token by which it is ours.
    pub fn token(&self) -> Option<&LockToken> {
        match self {
            LockFact::Held { token, .. } => Some(token),
            LockFact::Unasked
            | LockFact::Asking
            | LockFact::HeldBy(_)
            | LockFact::NotHeld
            | LockFact::Unknown { .. } => None,
        }
    }
}

/// A condition of a write: the lock is still held by this token when it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockFence {
    /// By which token.
    pub token: LockToken,
    /// How much of the lease is left at least.
    pub lease_left: SignedDuration,
}

impl LockFence {
    /// A write that is done when it is sent: as long as the lock is held at all.
    pub fn of(token: LockToken) -> Self {
        Self { token, lease_left: SignedDuration::ZERO }
    }
}

/// Why a store could not do it. It says nothing about the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAway(pub String);

impl std::fmt::Display for StoreAway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreAway {}

/// How a try to take it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is ours, by this token. `session` is what its store renews it by.
    Ours {
        /// The token.
        token: LockToken,
        /// What the store knows this holding by.
        session: String,
    },
    /// Another holds it.
    By(Holder),
    /// Nobody holds it, and it was not to be taken.
    Free,
}

/// How a renewal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// It lasts for its whole time again, from when it was asked.
    Yes,
    /// It is not ours any more.
    Lost,
}

/// An answer that is under way.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreAway>> + Send + 'a>>;

/// A store of locks. Each call can have been carried out although its answer was lost, and can
/// be made again.
pub trait LockStore: Send + Sync {
    /// Take it if it is free or the claimant's own already; with [`Want::Keep`] only the latter.
    /// `nonce` is a random text that was never used before.
    fn take<'a>(
        &'a self,
        key: &'a LockKey,
        claimant: &'a Claimant,
        want: Want,
        ttl: Duration,
        nonce: &'a str,
    ) -> Answering<'a, Taken>;

    /// Hold it for its whole time again.
    fn renew<'a>(
        &'a self,
        key: &'a LockKey,
        token: &'a LockToken,
        session: &'a str,
    ) -> Answering<'a, Renewed>;

    /// Is it held by this token, as of after this was asked?
    fn check<'a>(&'a self, key: &'a LockKey, token: &'a LockToken) -> Answering<'a, bool>;

    /// Nobody holds it by this token any more.
    fn release<'a>(&'a self, key: &'a LockKey, token: &'a LockToken) -> Answering<'a, ()>;

    /// Record that the claimant initializes the ring, unless there is a record. Says who does.
    fn record_once<'a>(
        &'a self,
        key: &'a LockKey,
        claimant: &'a Claimant,
    ) -> Answering<'a, Claimant>;
}
