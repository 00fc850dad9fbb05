//! Where the backups of a ring go, and how.

use crate::rules::backup as rules;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Backups of a ring. Nothing is sent before a `CassandraBackup` asks for it.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::credentials_go_with_a_store_that_needs_them())]
#[serde(rename_all = "camelCase")]
pub struct BackupSpec {
    /// Where they are stored.
    pub store: BackupStore,
    /// Secret with the credentials of the store, one per key: `accessKeyId`, `secretAccessKey` and, if need be, `sessionToken` for S3; `serviceAccount.json` for Google Cloud Storage; `accountKey` or `sasToken` for Azure. With `ca.crt`, the store must show a certificate of that authority. Pods mount it as optional: they start without it, and a backup waits for it. Default `<cluster>-backup`. Another name starts a rollout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub credentials_secret_name: Option<String>,
    /// `Required`: all objects but the marker of the repository are sealed with a key of the Secret `<cluster>-backup-key`, one key per entry, 32 bytes each; the entry `current` contains the name of the one that seals. A repository is sealed as a whole or not at all: for a change, use another `prefix`. Default `Off`.
    #[serde(default)]
    pub encryption: BackupEncryption,
    /// How much a backup may take from the database.
    #[serde(default, skip_serializing_if = "BackupLimits::is_empty")]
    pub limits: BackupLimits,
    /// Whether the commit logs of the members are archived all the time, so that the ring can be restored to a point in time. Not with a commit log that is compressed, encrypted or written with direct I/O by `config`.
    #[serde(default, skip_serializing_if = "BackupArchive::is_off")]
    pub archive: BackupArchive,
    /// Name of the `CassandraRestore` with `mode: WholeRing` that this ring begins with. No member starts before it is there, and no client is let in until its data is. At creation only; it may be removed when the ring is restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub restore: Option<String>,
}

/// The archive of the commit logs.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct BackupArchive {
    /// `CommitLog`: each member sends what is written to its commit log, all the time. It begins with the next backup. A change starts a rollout. Default `Off`.
    #[serde(default)]
    pub mode: ArchiveMode,
    /// Seconds of acknowledged writes that may be lost with a member's volume, from 20 to 3600. Applied without a restart. Default 60.
    #[serde(default = "max_loss")]
    #[schemars(range(min = 20, max = 3600))]
    pub max_loss_seconds: u32,
    /// How much of the commit log may wait on a member's volume while it cannot be sent. Beyond that, or when less than 5 % of the volume is free, the oldest part is dropped and the archive has a gap; the database goes on. Applied without a restart. Default: the smaller of 16Gi and a tenth of the volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_local: Option<Quantity>,
}

impl Default for BackupArchive {
    fn default() -> Self {
        Self { mode: ArchiveMode::Off, max_loss_seconds: max_loss(), max_local: None }
    }
}

impl BackupArchive {
    /// As if it was left out?
    pub fn is_off(&self) -> bool {
        self.mode == ArchiveMode::Off
            && self.max_loss_seconds == max_loss()
            && self.max_local.is_none()
    }
}

fn max_loss() -> u32 {
    60
}

/// Whether commit logs are archived.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ArchiveMode {
    /// They are not.
    #[default]
    Off,
    /// They are.
    CommitLog,
}

/// Whether objects are sealed.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum BackupEncryption {
    /// They are stored as they are.
    #[default]
    Off,
    /// They are sealed with a key of the user's.
    Required,
}

/// How much a backup may take from the database.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::limits_leave_a_rate())]
#[serde(rename_all = "camelCase")]
pub struct BackupLimits {
    /// Bytes that one member sends in a second, at the most. Applied to a backup that is under way. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 65_536, max = 1_000_000_000_000u64))]
    pub bytes_per_second: Option<u64>,
    /// Bytes that one member sends in a second however much clients feel of it. A backup begins with this rate. Every five seconds it becomes a tenth higher, up to `bytesPerSecond`, or half as high while reads or writes of clients take longer than before the backup, more compactions wait, or the server does not report these figures. With the same value as `bytesPerSecond` the rate is fixed. The member that finishes or verifies a backup reads what all have sent: its least rate is this times the number of members, eight times at the most. Applied to a backup that is under way. Default 4 MiB, or `bytesPerSecond` if that is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 65_536, max = 1_000_000_000_000u64))]
    pub minimum_bytes_per_second: Option<u64>,
}

/// Default of `minimumBytesPerSecond`: a terabyte in three days.
pub const MINIMUM_BYTES_PER_SECOND: u64 = 4 * 1024 * 1024;

impl BackupLimits {
    /// The rate below which no member goes.
    pub fn minimum(&self) -> u64 {
        let least = self.minimum_bytes_per_second.unwrap_or(MINIMUM_BYTES_PER_SECOND);
        self.bytes_per_second.map_or(least, |most| least.min(most))
    }

    /// Is nothing limited?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where backups are stored: exactly one of these.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::store_is_one_place())]
#[serde(rename_all = "camelCase")]
pub struct BackupStore {
    /// A bucket of Amazon S3, or of a store that speaks its protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s3: Option<S3Store>,
    /// A bucket of Google Cloud Storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gcs: Option<GcsStore>,
    /// A container of Azure Blob Storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureStore>,
    /// A volume that all members mount at once. Pods wait while it cannot be mounted: another claim starts a rollout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<VolumeStore>,
}

/// A bucket of S3.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::plain_transport_is_meant())]
#[serde(rename_all = "camelCase")]
pub struct S3Store {
    /// Its name.
    #[schemars(length(min = 3, max = 63), regex(pattern = "^[a-z0-9][a-z0-9.-]*[a-z0-9]$"))]
    pub bucket: String,
    /// What the names of all objects begin with, without `/` at either end. One ring, one prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "prefix")]
    pub prefix: Option<String>,
    /// Region of the bucket. Default `us-east-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[a-z0-9-]+$"))]
    pub region: Option<String>,
    /// Address of the store, if it is not Amazon's: `https://host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), regex(pattern = "^https?://[A-Za-z0-9.:\\[\\]-]+$"))]
    pub endpoint: Option<String>,
    /// Where the bucket stands in requests: in the name of the host, or in the path. Default `Virtual`.
    #[serde(default)]
    pub addressing: S3Addressing,
    /// Checksum that the store compares with what arrives. Default `Crc64Nvme`.
    #[serde(default)]
    pub checksum: S3Checksum,
    /// `Plain`: without TLS; `endpoint` begins with `http://` then. Default `Tls`.
    #[serde(default)]
    pub transport: StoreTransport,
}

/// Where the bucket stands in requests.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum S3Addressing {
    /// In the name of the host.
    #[default]
    Virtual,
    /// In the path.
    Path,
}

/// The checksum of uploads.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum S3Checksum {
    /// CRC-64/NVME.
    #[default]
    Crc64Nvme,
    /// SHA-256.
    Sha256,
    /// None: for stores that know neither.
    None,
}

/// How requests travel.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum StoreTransport {
    /// With TLS.
    #[default]
    Tls,
    /// In the clear.
    Plain,
}

/// A bucket of Google Cloud Storage.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GcsStore {
    /// Its name.
    #[schemars(length(min = 3, max = 63), regex(pattern = "^[a-z0-9][a-z0-9._-]*[a-z0-9]$"))]
    pub bucket: String,
    /// What the names of all objects begin with, without `/` at either end. One ring, one prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "prefix")]
    pub prefix: Option<String>,
}

/// A container of Azure Blob Storage.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AzureStore {
    /// The storage account.
    #[schemars(length(min = 3, max = 24), regex(pattern = "^[a-z0-9]+$"))]
    pub account: String,
    /// The container.
    #[schemars(length(min = 3, max = 63), regex(pattern = "^[a-z0-9][a-z0-9-]*[a-z0-9]$"))]
    pub container: String,
    /// What the names of all objects begin with, without `/` at either end. One ring, one prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "prefix")]
    pub prefix: Option<String>,
}

/// A volume that all members mount.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VolumeStore {
    /// Name of a PersistentVolumeClaim with access mode `ReadWriteMany`, in the namespace of the ring. One ring, one claim.
    #[schemars(length(min = 1, max = 253))]
    pub claim_name: String,
}

/// No empty part, and none that leads out of it.
fn prefix(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "string",
        "minLength": 1,
        "maxLength": 512,
        "pattern": "^[A-Za-z0-9_=-][A-Za-z0-9._=-]*(/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*$",
    })
}
