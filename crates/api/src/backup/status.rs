//! How a backup goes, and how it ended.

use super::retention::BackupExpiry;
use super::transfer::{BackupSchema, DamagedObject, RingView, TransferPlace, Uploaded};
use crate::ids::{HostId, MemberName, VolumeId};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

/// Damaged objects that are named, at the most.
pub const MOST_DAMAGED: usize = 20;

/// Progress of a backup, written by the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraBackupStatus {
    /// Phase of the backup; unset until the operator has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<BackupPhase>,
    /// The name of the backup in its repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub id: Option<String>,
    /// The repository that it is in.
    #[serde(default, rename = "repositoryID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub repository_id: Option<String>,
    /// SHA-256 of the manifest of the backup: it vouches for every byte of it. Two members have read it from the store, if the ring has two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub manifest_hash: Option<String>,
    /// The member that has written the manifest; another one reads it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_by: Option<MemberName>,
    /// Where the backup goes, as it was when it began. A backup whose store is changed meanwhile fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<TransferPlace>,
    /// Whether its objects are sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<bool>,
    /// When the snapshots were taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<BackupWindow>,
    /// Number of the attempt to take the snapshots, from 1: another one is made where the ring changed meanwhile.
    #[serde(default, rename = "try", skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The ring as all members saw it before and after their snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<RingView>,
    /// The schema in the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<BackupSchema>,
    /// With `coverage: QuorumOfEachRange`: by what it was found that the members suffice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered: Option<BackupCovered>,
    /// How far it is in its phase, for example `41%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub progress: Option<String>,
    /// Sums over all members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<BackupTotals>,
    /// The members of the backup, as they were when it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub members: Vec<BackupMember>,
    /// Objects in the store that are not as they should be, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_DAMAGED))]
    pub damaged: Vec<DamagedObject>,
    /// Why it is being abandoned, once that is decided: the members then discard what is left of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<GivenUp>,
    /// When it was taken up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it was complete, had failed or was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// How it expires, since that is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry: Option<BackupExpiry>,
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Complete`: True when all that the backup names was checked in the store, until it expires. `Failed`: True when it has ended in another way. Both are False, with the progress, until it has ended. `Expired`, of a backup that is to expire: True when it is deleted in the store; False with what it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// The ring in which a majority of the replicas of each range was found to be in a backup.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackupCovered {
    /// Hash of all its tokens, whoever owned them.
    #[schemars(length(max = 64))]
    pub tokens_hash: String,
    /// How many members were left out.
    pub left_out: u32,
}

/// Why a backup is being abandoned.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GivenUp {
    /// In one word.
    #[schemars(length(max = 64))]
    pub reason: String,
    /// In words, with the next step.
    #[schemars(length(max = 2048))]
    pub message: String,
    /// Since when the members discard what is left of it.
    pub since: Time,
}

/// When the snapshots of a backup were taken, by the clock of the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackupWindow {
    /// Before the first member was ordered to take its snapshot. What was acknowledged at QUORUM until then is in the backup.
    pub from: Time,
    /// After the last member had answered. What was written after that is not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Time>,
}

/// Sums over all members.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackupTotals {
    /// Files that the backup names.
    pub files: u64,
    /// Their length, in bytes.
    pub bytes: u64,
    /// Bytes that were sent for it.
    pub sent_bytes: u64,
    /// Bytes of files that an earlier backup had sent.
    pub reused_bytes: u64,
}

/// A member of a backup.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackupMember {
    /// Name of the member.
    pub name: MemberName,
    /// Host ID of the member when the backup began. Another server under this name is not of the backup.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Its volume.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// How it goes.
    pub state: BackupMemberState,
    /// Maintenance that was pending when its snapshot was ordered, and because of which it may lack what others have. While it is set, nobody is left out of the backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub pending_maintenance: Option<String>,
    /// What it has sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploaded: Option<Uploaded>,
    /// Details, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// How a member of a backup goes.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupMemberState {
    /// It has not begun what the phase asks for.
    Waiting,
    /// It works at it.
    Running,
    /// It has done it.
    Done,
    /// It has failed, for good.
    Failed,
    /// It is left out: a majority of the replicas of each range has to be in the backup without it.
    Missing,
}

/// Phase of a backup.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupPhase {
    /// Not begun: another backup of the ring is under way, or something is missing.
    Pending,
    /// The members look at store, keys and free space.
    Preparing,
    /// The members take their snapshots.
    Snapshotting,
    /// The members send what their snapshots have.
    Uploading,
    /// One member checks what all have sent and writes the manifest, and another one reads it.
    Verifying,
    /// Ended: all that it names was checked in the store.
    Complete,
    /// Ended, but not complete. What was sent is used by the next backup.
    Failed,
    /// Ended on request.
    Aborted,
    /// Has ended, and expires: nothing is restored from it any more, and it is deleted from the store.
    Expiring,
    /// Has ended, and is deleted in the store.
    Expired,
}

impl BackupPhase {
    /// Has it ended? One that expires has ended before.
    pub fn is_final(self) -> bool {
        match self {
            Self::Pending
            | Self::Preparing
            | Self::Snapshotting
            | Self::Uploading
            | Self::Verifying => false,
            Self::Complete | Self::Failed | Self::Aborted | Self::Expiring | Self::Expired => true,
        }
    }
}
