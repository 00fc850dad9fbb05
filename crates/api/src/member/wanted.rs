//! `spec.wanted`: what people want of one member. Of a member's spec it is the
//! part that they write; the operator reads it and never writes it.

use crate::ids::{HostId, VolumeId};
use crate::rules::member as rules;
use crate::word::Word;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// What users want of one member. The operator carries it out when the ring allows it; what is not carried out yet stands in `status.unmet` of the `CassandraCluster`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::terminated_names_its_volume())]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    /// Whether the server of this member should run. `Stopped` drains and stops it; its pod and its agent stay, and so does its place in the ring. `Running` starts it again. `Terminated` stops it for good: no server ever starts on this volume again, and only a replacement of the member goes on. Default: it stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<WantedRun>,
    /// With `run: Terminated`, and only there: the volume that is terminated, `spec.volumeID` of the member. It cannot be taken back for that volume. When the member has been replaced, it has another volume, and the wish is void.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub volume_id: Option<VolumeId>,
    /// When a server may be stopped. Default `RingIsWell`.
    #[serde(default, skip_serializing_if = "WhenToStop::is_default")]
    pub when: WhenToStop,
    /// A new value restarts the server of this member once, drained first; it takes precedence over the annotation `palladion.dev/restart`. It never changes whether the server runs: of a stopped member it is only recorded. Any text, for example the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub restart_token: Option<String>,
    /// Whether the member is a seed. Applied without a restart (Cassandra 4.0 and later). Default `Auto`.
    #[serde(default, skip_serializing_if = "SeedChoice::is_default")]
    pub seed: SeedChoice,
}

/// Whether users want the server of a member to run.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedRun {
    /// The server runs whenever it may.
    Running,
    /// The server is drained and stopped; data and membership are kept.
    Stopped,
    /// The server is drained and stopped, and never starts on its volume again.
    Terminated,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// Whether users want a member to be a seed.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum SeedChoice {
    /// It is a seed if it is one of the first `seedsPerRack` members of its rack.
    #[default]
    Auto,
    /// It is a seed once it has joined.
    Always,
    /// It is no seed, unless it is the last one that is up and normal.
    Never,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

impl SeedChoice {
    /// Is it what an absent field means?
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// When the server of a member may be stopped.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum WhenToStop {
    /// When all other members are up and normal, as other members confirm.
    #[default]
    RingIsWell,
    /// Also while other members are down. Data can be unavailable then; a Warning event says so. It counts for one stop: the next one waits for the other members, unless `when` was set back to `RingIsWell` before, and then to `Now` again.
    Now,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

impl WhenToStop {
    /// Is it what an absent field means?
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A volume that a user has terminated, while its member is still in the ring. Nothing is deleted because of it alone.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Termination {
    /// The volume on which no server starts any more.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Host ID of the member on that volume.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// When the operator carried out the request.
    pub since: Time,
}
