//! The part of a backup or a restore that one member does: what the operator orders, and what
//! the member's agent makes of it. The rules are in `docs/concepts/backups.md`.

use super::load::{
    CatalogWork, Cataloged, LoadWork, Loaded, NotedTokens, OpenWork, SchemaWork, SettleWork,
    TokensWork,
};
use super::replay::{ReplayWork, Replayed};
use super::retention::{ExpireWork, Expired, SweepWork, Swept};
use crate::cluster::{BackupStore, S3Addressing, S3Checksum, S3Store, StoreTransport};
use crate::ids::{HostId, VolumeId};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// Work at a backup or a restore, for one member. It goes on under its `id` after a crash of agent, pod, server or node, until it has ended or is withdrawn.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Transfer {
    /// Unique ID: that of the backup or restore, kind of the work, number of the attempt. Recorded on the volume.
    #[schemars(length(min = 1, max = 128))]
    pub id: String,
    /// Epoch of the leader that gave it. An agent that has seen a higher one reports `Refused` and does nothing.
    pub epoch: i64,
    /// Host ID of the member; `00000000-0000-0000-0000-000000000000` before its first start. An agent with another host ID reports `Refused` and does nothing.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Volume of the member. An agent on another volume reports `Refused` and does nothing.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// The name of the backup in the repository; of `expire` and `sweep`, which are about several, that of the work.
    #[schemars(length(min = 1, max = 63))]
    pub backup: String,
    /// Whose repository it must be.
    pub repository: TransferRepository,
    /// Where it is.
    pub store: TransferPlace,
    /// Secret with the credentials of the store. A pod that has another one mounted does not begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub credentials_secret_name: Option<String>,
    /// Whether `store` is another one than the ring's own: of the Secret the entries that begin with `source.` are used, and only if `source.store` names this place.
    #[serde(default, skip_serializing_if = "is_false")]
    pub source_credentials: bool,
    /// Bytes to send, or to fetch, in a second, at the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
    /// The rate follows what clients of the server feel, and is never below so many bytes a second. Left out, only `bytesPerSecond` counts, as it does for agents that do not know this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_bytes_per_second: Option<u64>,
    /// What is done: exactly one of these fields.
    #[serde(flatten)]
    pub work: TransferWork,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Whose a repository is.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TransferRepository {
    /// Random: another ring of the same name has another.
    #[schemars(length(max = 64))]
    pub id: String,
    /// Whether its objects are sealed.
    pub sealed: bool,
}

/// Where a repository is. Its words are those of `spec.backup.store` of the cluster, as text: an agent that does not know one of them refuses the order, and reads the rest of its member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TransferPlace {
    /// `s3://bucket/prefix`, `gs://bucket/prefix`, `azure://account/container/prefix`, or a directory.
    #[schemars(length(max = 1024))]
    pub at: String,
    /// S3: its region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub region: Option<String>,
    /// S3: address of a store that is not Amazon's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub endpoint: Option<String>,
    /// S3: `Virtual` or `Path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub addressing: Option<String>,
    /// S3: `Crc64Nvme`, `Sha256` or `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub checksum: Option<String>,
    /// `Tls` or `Plain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub transport: Option<String>,
}

/// The environment variable of the server's container with the name of the Secret that is mounted
/// as the credentials: those of another one are not sent to a store.
pub const BACKUP_CREDENTIALS_SECRET: &str = "PALLADION_BACKUP_CREDENTIALS_SECRET";
/// Where pods have the volume of `spec.backup.store.volume`.
pub const BACKUP_VOLUME: &str = "/var/lib/palladion/backups";
/// Where pods have the Secret with the credentials of the store; empty while there is none.
pub const BACKUP_CREDENTIALS: &str = "/etc/palladion/backup/credentials";
/// Where pods have the Secret with the keys that seal; empty while there is none.
pub const BACKUP_KEYS: &str = "/etc/palladion/backup/keys";

/// Host ID in an order for a member that has never started: it has none.
pub const NEVER_STARTED: &str = "00000000-0000-0000-0000-000000000000";

impl TransferPlace {
    /// The place of a store; `None` if it is none, or more than one.
    pub fn of(store: &BackupStore) -> Option<Self> {
        let under = |root: String, prefix: &Option<String>| match prefix {
            Some(prefix) => format!("{root}/{prefix}"),
            None => root,
        };
        let at = |at: String| Self { at, ..Self::default() };
        match store {
            BackupStore { s3: Some(s3), gcs: None, azure: None, volume: None } => {
                Some(Self::s3(s3))
            }
            BackupStore { s3: None, gcs: Some(gcs), azure: None, volume: None } => {
                Some(at(under(format!("gs://{}", gcs.bucket), &gcs.prefix)))
            }
            BackupStore { s3: None, gcs: None, azure: Some(azure), volume: None } => {
                let root = format!("azure://{}/{}", azure.account, azure.container);
                Some(at(under(root, &azure.prefix)))
            }
            BackupStore { s3: None, gcs: None, azure: None, volume: Some(_) } => {
                Some(at(BACKUP_VOLUME.to_string()))
            }
            BackupStore { .. } => None,
        }
    }

    fn s3(s3: &S3Store) -> Self {
        let root = format!("s3://{}", s3.bucket);
        let addressing = match s3.addressing {
            S3Addressing::Virtual => "Virtual",
            S3Addressing::Path => "Path",
        };
        let checksum = match s3.checksum {
            S3Checksum::Crc64Nvme => "Crc64Nvme",
            S3Checksum::Sha256 => "Sha256",
            S3Checksum::None => "None",
        };
        let transport = match s3.transport {
            StoreTransport::Tls => "Tls",
            StoreTransport::Plain => "Plain",
        };
        Self {
            at: s3.prefix.as_ref().map_or(root.clone(), |prefix| format!("{root}/{prefix}")),
            region: s3.region.clone(),
            endpoint: s3.endpoint.clone(),
            addressing: Some(addressing.to_string()),
            checksum: Some(checksum.to_string()),
            transport: Some(transport.to_string()),
        }
    }
}

/// What is done: exactly one of these fields.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TransferWork {
    /// Look at store, keys and free space; create the repository if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<PrepareWork>,
    /// Take the snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotWork>,
    /// Write the schema into the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<DescribeWork>,
    /// Send what the snapshot has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<UploadWork>,
    /// Check what all members have sent, and write the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishWork>,
    /// Read the manifest that another member has written, and look at the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyWork>,
    /// Give the backup up, and remove what it has left on this volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard: Option<DiscardWork>,
    /// Restore: read the backup, and compare it with the ring. Agents of protocol 10 know this and what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<CatalogWork>,
    /// Restore: create the tables that are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<SchemaWork>,
    /// Restore: load what one member of the backup had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadWork>,
    /// Restore: give the tables what they have when nothing is loaded any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<SettleWork>,
    /// Restore of a whole ring: note the tokens of the first start. Agents of protocol 11 know this and `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokensWork>,
    /// Restore of a whole ring: let clients in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenWork>,
    /// Restore to a point in time: replay the archived commit log of one member of the backup. Agents of protocol 12 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayWork>,
    /// Retention: condemn backups in the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire: Option<ExpireWork>,
    /// Retention: delete what was condemned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepWork>,
}

/// Which work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferTask<'a> {
    /// See [`TransferWork::prepare`].
    Prepare(&'a PrepareWork),
    /// See [`TransferWork::snapshot`].
    Snapshot(&'a SnapshotWork),
    /// See [`TransferWork::describe`].
    Describe(&'a DescribeWork),
    /// See [`TransferWork::upload`].
    Upload(&'a UploadWork),
    /// See [`TransferWork::finish`].
    Finish(&'a FinishWork),
    /// See [`TransferWork::verify`].
    Verify(&'a VerifyWork),
    /// See [`TransferWork::discard`].
    Discard(&'a DiscardWork),
    /// See [`TransferWork::catalog`].
    Catalog(&'a CatalogWork),
    /// See [`TransferWork::schema`].
    Schema(&'a SchemaWork),
    /// See [`TransferWork::load`].
    Load(&'a LoadWork),
    /// See [`TransferWork::settle`].
    Settle(&'a SettleWork),
    /// See [`TransferWork::tokens`].
    Tokens(&'a TokensWork),
    /// See [`TransferWork::open`].
    Open(&'a OpenWork),
    /// See [`TransferWork::replay`].
    Replay(&'a ReplayWork),
    /// See [`TransferWork::expire`].
    Expire(&'a ExpireWork),
    /// See [`TransferWork::sweep`].
    Sweep(&'a SweepWork),
}

impl TransferWork {
    /// All fields.
    pub const FIELDS: [&str; 16] = [
        "prepare", "snapshot", "describe", "upload", "finish", "verify", "discard", "catalog",
        "schema", "load", "settle", "tokens", "open", "replay", "expire", "sweep",
    ];

    /// The one; `None` if it asks for nothing that this build knows, or for more than one.
    pub fn task(&self) -> Option<TransferTask<'_>> {
        let mut all = [
            self.prepare.as_ref().map(TransferTask::Prepare),
            self.snapshot.as_ref().map(TransferTask::Snapshot),
            self.describe.as_ref().map(TransferTask::Describe),
            self.upload.as_ref().map(TransferTask::Upload),
            self.finish.as_ref().map(TransferTask::Finish),
            self.verify.as_ref().map(TransferTask::Verify),
            self.discard.as_ref().map(TransferTask::Discard),
            self.catalog.as_ref().map(TransferTask::Catalog),
            self.schema.as_ref().map(TransferTask::Schema),
            self.load.as_ref().map(TransferTask::Load),
            self.settle.as_ref().map(TransferTask::Settle),
            self.tokens.as_ref().map(TransferTask::Tokens),
            self.open.as_ref().map(TransferTask::Open),
            self.replay.as_ref().map(TransferTask::Replay),
            self.expire.as_ref().map(TransferTask::Expire),
            self.sweep.as_ref().map(TransferTask::Sweep),
        ]
        .into_iter()
        .flatten();
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }
}

/// Look at store, keys and free space. There is nothing to set.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct PrepareWork {}

/// A snapshot.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotWork {
    /// Its tag, which begins with `palladion-`. A tag is used once.
    #[schemars(length(min = 11, max = 128))]
    pub tag: String,
    /// Seconds after which the server may clear it by itself.
    pub ttl_seconds: u64,
    /// The keyspaces. Empty: all but `system` and `system_schema`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub keyspaces: Vec<String>,
}

/// The schema.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DescribeWork {
    /// Whether the members that are not left out suffice is looked at before they send anything. Agents of protocol 17 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<QuorumWork>,
    /// With `quorum`: the members that have a snapshot. These, with those that are left out, and no other, must be the members of the ring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub members: Vec<HostId>,
}

/// A backup of a majority of the replicas of each range.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct QuorumWork {
    /// The keyspaces of the backup. Empty: all but `system` and `system_schema`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub keyspaces: Vec<String>,
    /// The members of the ring that are left out; those that are not in the ring do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub left_out: Vec<LeftOutMember>,
    /// `finish`: the hash that `describe` has reported. With another one, members have joined or left since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub tokens_hash: Option<String>,
    /// `finish`: the version that the schema must have still, where a member is left out that was not when the schema was written: who has copies of what is to be as it was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub schema_version: Option<String>,
}

/// A member that is left out of a backup.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LeftOutMember {
    /// The member.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Its rack.
    #[schemars(length(max = 63))]
    pub rack: String,
}

/// The files of a snapshot.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct UploadWork {
    /// The tag of the snapshot.
    #[schemars(length(min = 11, max = 128))]
    pub tag: String,
    /// The schema, which the manifests of all members name.
    pub schema: BackupSchema,
}

/// The end of a backup.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FinishWork {
    /// Before the first snapshot was ordered.
    pub from: Time,
    /// After the last snapshot was taken.
    pub to: Time,
    /// What the members have sent. These, with those that are left out, and no other, must be the members of the ring as the finishing member's server sees it, each with the tokens that it has there.
    #[schemars(length(min = 1, max = 1024))]
    pub members: Vec<SentManifest>,
    /// Whether a majority of the replicas of each range suffices, and who is left out. Agents of protocol 17 know it; others compare all members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<QuorumWork>,
    /// Whether all objects are read, or one of a hundred.
    pub read_all: bool,
}

/// The manifest of a member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SentManifest {
    /// The member.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Who has taken its place in the ring since, with its tokens. Only with `quorum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<HostId>,
    /// The number of its manifest.
    pub checkpoint: u32,
    /// SHA-256 of its manifest.
    #[schemars(length(max = 64))]
    pub sha256: String,
}

/// A backup that is read.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VerifyWork {
    /// Whether all objects are read, or their lengths are compared.
    pub read_all: bool,
}

/// A backup that is given up.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DiscardWork {
    /// The tags of its snapshots.
    #[schemars(length(max = 8))]
    pub tags: Vec<String>,
    /// The IDs of its uploads.
    #[schemars(length(max = 8))]
    pub uploads: Vec<String>,
    /// Whether this member writes into the repository that the backup has failed: one of them does.
    pub write_outcome: bool,
}

/// A schema in the repository.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BackupSchema {
    /// Name of the object.
    #[schemars(length(max = 512))]
    pub object: String,
    /// SHA-256 of its plain text.
    #[schemars(length(max = 64))]
    pub sha256: String,
    /// Length of its plain text.
    pub bytes: u64,
    /// Why no ring can begin with a backup of it, if none can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 520))]
    pub unfit: Option<String>,
}

/// What a member's server says of its ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingView {
    /// Hash of all tokens with the host IDs of the members that own them.
    #[schemars(length(max = 64))]
    pub tokens_hash: String,
    /// The version of the schema.
    #[schemars(length(max = 64))]
    pub schema_version: String,
}

/// How a transfer goes.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TransferStatus {
    /// ID of the transfer.
    pub id: String,
    /// Its state.
    pub state: TransferState,
    /// Why it waits, was refused or has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<TransferCause>,
    /// Details, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub message: Option<String>,
    /// Percentage done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// `snapshot`, `describe`: the ring before the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<RingView>,
    /// `snapshot`, `describe`: the ring after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<RingView>,
    /// `describe`: the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<BackupSchema>,
    /// `describe` with `quorum`: hash of all tokens of the ring, whoever owns them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub tokens_hash: Option<String>,
    /// `upload`: what was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploaded: Option<Uploaded>,
    /// `finish`, `verify`, `catalog`: SHA-256 of the backup's manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub manifest_hash: Option<String>,
    /// `catalog`: what the backup has, and what the ring has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cataloged: Option<Cataloged>,
    /// `load`: what was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// `replay`: what was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Replayed>,
    /// `tokens`: what was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noted_tokens: Option<NotedTokens>,
    /// `expire`: what became of the backups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired: Option<Expired>,
    /// `sweep`: what was deleted, and what was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<Swept>,
    /// `verify`: objects that are not as they should be, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = super::MOST_DAMAGED))]
    pub damaged: Vec<DamagedObject>,
}

/// What a member has sent.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Uploaded {
    /// The number of its manifest.
    pub checkpoint: u32,
    /// SHA-256 of its manifest.
    #[schemars(length(max = 64))]
    pub sha256: String,
    /// Files that it names.
    pub files: u64,
    /// Their length, in bytes.
    pub bytes: u64,
    /// Bytes that were sent for them.
    pub sent_bytes: u64,
    /// Bytes of files that an earlier backup had sent.
    pub reused_bytes: u64,
}

/// An object that is not as it should be.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DamagedObject {
    /// The object.
    #[schemars(length(max = 512))]
    pub object: String,
    /// What is wrong with it.
    #[schemars(length(max = 512))]
    pub wrong: String,
    /// The tables that it hurts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub tables: Vec<String>,
}

/// States of a transfer.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferState {
    /// In progress.
    Running,
    /// A try has failed; another one follows. The cause says why.
    Waiting,
    /// Done.
    Done,
    /// Failed, for good.
    Failed,
    /// Nothing was done: it is not for this member, or not of the present leader.
    Refused,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Why a transfer waits, was refused or has failed.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferCause {
    /// The store does not answer, or refuses.
    StoreUnreachable,
    /// The store overwrites what it should only create.
    StoreUnsuited,
    /// The repository is another ring's.
    RepositoryForeign,
    /// An object is not what was written.
    RepositoryDamaged,
    /// A key is not in its Secret.
    EncryptionKeyMissing,
    /// The volume is too full.
    NotEnoughSpace,
    /// The server does not answer.
    ServerDown,
    /// The ring is not what the order says.
    RingChanged,
    /// It cannot be done any more.
    BackupFailed,
    /// Restore: the server has not taken what was fetched.
    LoadFailed,
    /// Restore: a member joins, leaves or is down.
    RingUnsettled,
    /// Restore: it cannot be done.
    RestoreFailed,
    /// The order cannot be carried out by this agent.
    NotSupported,
    /// The order is of another member, volume or leader, or the record on the volume cannot be read.
    NotForUs,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
