//! The manifest of a ring, and how a backup ended. One hash vouches for all that
//! is below it: the hash of the manifest of each member, and of the schema.

use super::member::{Member, MemberManifest, Schema, Totals, files};
use crate::hash::Hash;
use crate::names::{BackupId, HostId};
use crate::seal::Fingerprint;
use crate::vault::{Opened, Vault, object, wrong};
use crate::words::notice::Notice;
use crate::words::trouble::{Invalid, Trouble, Unfit, Wrong};
use palladion_api::words::Names;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// When the snapshots were taken, by one clock, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Before the order to take them was given.
    pub from: i64,
    /// After the last answer.
    pub to: i64,
}

/// The manifest of one member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfMember {
    /// The member.
    #[serde(rename = "hostID")]
    pub host: HostId,
    /// Its datacenter.
    pub datacenter: String,
    /// Its rack.
    pub rack: String,
    /// The object.
    pub manifest: String,
    /// Of its plain text.
    pub sha256: Hash,
    /// How many files it names.
    pub files: u64,
    /// Their length.
    pub bytes: u64,
    /// Length of their objects in the store.
    pub stored_bytes: u64,
}

/// A member that is not in a backup: a majority of the replicas of each of its ranges is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeftOut {
    /// The member.
    #[serde(rename = "hostID")]
    pub host: HostId,
    /// Its datacenter.
    pub datacenter: String,
    /// Its rack.
    pub rack: String,
    /// The version of the server that knew its tokens.
    pub version: String,
    /// Its tokens.
    pub tokens: Vec<String>,
}

impl OfMember {
    /// What a ring's manifest says of that of a member: the object, and the hash of its
    /// plain text.
    pub fn of(of: &MemberManifest, manifest: String, sha256: Hash) -> Self {
        let (files, bytes, stored_bytes) = (of.files.len() as u64, of.bytes(), of.stored_bytes());
        Self::with(&of.member, Totals { files, bytes, stored_bytes }, (manifest, sha256))
    }

    /// As [`of`](Self::of), of what was summed up.
    pub fn with(member: &Member, totals: Totals, (manifest, sha256): (String, Hash)) -> Self {
        let Member { host, datacenter, rack, .. } = member;
        let Totals { files, bytes, stored_bytes } = totals;
        Self {
            host: host.clone(),
            datacenter: datacenter.clone(),
            rack: rack.clone(),
            manifest,
            sha256,
            files,
            bytes,
            stored_bytes,
        }
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RingManifest {
    /// The repository.
    #[serde(rename = "repositoryID")]
    pub repository: String,
    /// The backup.
    pub backup: BackupId,
    /// The name of the ring.
    pub ring: String,
    /// When it was taken.
    pub window: Window,
    /// The schema.
    pub schema: Schema,
    /// Its members, but for those that were left out.
    pub members: Vec<OfMember>,
    /// Members that the ring had and that are not in the backup: their tokens are known, and none of
    /// their data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The keyspaces that all members have taken. Not known where the manifest of one does not say
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyspaces: Option<BTreeSet<String>>,
    /// The keys that are known to have sealed an object of it, the manifests among them. Those of
    /// objects that earlier versions have sealed are not.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub keys: BTreeSet<Fingerprint>,
}

impl RingManifest {
    /// Members that are not in it are named whenever it is read.
    pub fn notice(&self) -> Option<Notice> {
        let hosts = Names::of(self.left_out.iter().map(|out| out.host.as_str()));
        let id = self.backup.to_string();
        (!self.left_out.is_empty()).then_some(Notice::LeftOut { id, hosts })
    }

    /// Length of all files.
    pub fn bytes(&self) -> u64 {
        self.members.iter().map(|member| member.bytes).sum()
    }

    /// Length of all objects in the store; those shared with other backups too.
    pub fn stored_bytes(&self) -> u64 {
        self.members.iter().map(|member| member.stored_bytes).sum()
    }
}

/// How a backup ended: written once, by whoever is first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", deny_unknown_fields)]
pub enum Outcome {
    /// All that the manifest names was checked.
    Complete(Box<RingManifest>),
    /// It never will be.
    Failed {
        /// Why.
        why: String,
    },
}

/// Read the manifest of a member as the ring's names it.
///
/// # Errors
/// It is gone, has changed, or is of another backup or member.
pub fn read(
    vault: &Vault<'_>,
    ring: &RingManifest,
    of: &OfMember,
) -> Result<MemberManifest, Trouble> {
    let plain = plain(vault, ring, of)?;
    MemberManifest::read(&plain).map_err(|invalid| torn(&of.manifest, &invalid))
}

/// The text of the manifest of a member as the ring's names it: its files are looked at one
/// after the other, by [`files`].
///
/// # Errors
/// It is gone, has changed, or is of another backup or member.
pub fn plain(vault: &Vault<'_>, ring: &RingManifest, of: &OfMember) -> Result<Vec<u8>, Trouble> {
    let plain = vault.read(&of.manifest)?.ok_or_else(|| object(&of.manifest, Wrong::Absent))?;
    if Hash::of(&plain) != of.sha256 {
        return Err(object(&of.manifest, Wrong::Hash));
    }
    let (member, _) = files(&plain).map_err(|invalid| torn(&of.manifest, &invalid))?;
    let is_this = member.host == of.host
        && member.repository == ring.repository
        && member.backup == ring.backup;
    match is_this {
        true => Ok(plain),
        false => Err(object(&of.manifest, Wrong::Torn { why: Unfit::Other.to_string() })),
    }
}

/// What is wrong with a manifest that cannot be read.
pub fn torn(name: &str, invalid: &Invalid) -> Trouble {
    object(name, Wrong::Torn { why: invalid.to_string() })
}

/// Read the manifest of a member, and its hash; `None` where there is none.
///
/// # Errors
/// It is not a valid manifest, or the store failed.
pub fn read_unchecked(
    vault: &Vault<'_>,
    name: &str,
) -> Result<Option<(MemberManifest, Hash)>, Trouble> {
    let Some(plain) = vault.read(name)? else { return Ok(None) };
    let manifest = MemberManifest::read(&plain).map_err(|invalid| torn(name, &invalid))?;
    Ok(Some((manifest, Hash::of(&plain))))
}

/// The schema of a backup.
///
/// # Errors
/// It is gone, or has changed.
pub fn schema(vault: &Vault<'_>, of: &Schema) -> Result<Vec<u8>, Wrong> {
    schema_with_key(vault, of).map(|(plain, _)| plain)
}

/// The same, with the key that it is sealed with.
///
/// # Errors
/// As [`schema`].
pub fn schema_with_key(vault: &Vault<'_>, of: &Schema) -> Result<Opened, Wrong> {
    let found = vault.read_with_key(&of.object).map_err(wrong)?;
    let (plain, key) = found.ok_or(Wrong::Absent)?;
    (Hash::of(&plain) == of.sha256).then_some((plain, key)).ok_or(Wrong::Hash)
}
