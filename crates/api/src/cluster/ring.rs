//! The ring that a datacenter belongs to: one of its own, or one that exists and
//! has members elsewhere.

use crate::ids::SeedAddress;
use crate::rules::ring as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Most places with seeds of a ring.
pub const MOST_EXTERNAL_SEEDS: usize = 16;
/// Most addresses of one of them.
pub const MOST_SEED_ADDRESSES: usize = 16;
/// Most networks of one of them. Each becomes a peer of the NetworkPolicy.
pub const MOST_SEED_NETWORKS: usize = 16;

/// The ring that this datacenter belongs to.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
#[serde(rename_all = "camelCase")]
pub struct Ring {
    /// Whether the ring begins with this datacenter. Default `New`. Immutable.
    #[serde(default)]
    pub origin: RingOrigin,
    /// Whether operators of several regions take turns at the ring. `Region`: before a member joins, leaves, is replaced or restarted, and before the replication of keyspaces changes, the operator takes the lock that `regionLock` of the OperatorConfig describes. `None`: nobody else manages members of this ring. Default: as `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<RingLock>,
}

/// Who takes turns at a ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingLock {
    /// The operators of several regions, by a lock.
    Region,
    /// This operator alone.
    None,
}

/// Where a ring begins.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RingOrigin {
    /// With this datacenter: the operator initializes the ring.
    #[default]
    New,
    /// Elsewhere: the members of this datacenter join it by `externalSeeds`, the first one, too. A ring is never initialized.
    Existing,
}

/// Seeds of the ring in another datacenter, which this CassandraCluster does not describe.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ExternalSeeds {
    /// Name of the place, for people. Unique.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// IP addresses or DNS names of seeds, without a port: every server listens to the others on port 7000. A name stands for all its addresses; the agent resolves it when it writes the list of seeds.
    #[x_kube(validation = rules::seeds_are_addresses())]
    #[schemars(length(min = 1, max = MOST_SEED_ADDRESSES), inner(length(max = 253)))]
    pub addresses: Vec<SeedAddress>,
    /// Networks of all members there, not of the seeds alone, for example `10.4.0.0/16`: the NetworkPolicy opens port 7000 to them. With `network.policy: Managed`, and only then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::networks_are_blocks())]
    #[schemars(length(min = 1, max = MOST_SEED_NETWORKS), inner(length(max = 43)))]
    pub networks: Vec<String>,
}
