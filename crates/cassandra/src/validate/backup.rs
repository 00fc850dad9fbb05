//! Where the backups of a ring go.

use super::archive::{self, ValidArchive};
use crate::words::refusal::Refusal;
use palladion_api::backup::TransferPlace;
use palladion_api::cluster::{
    BackupEncryption, BackupLimits, BackupStore, CassandraClusterSpec, Mode, StoreTransport,
};
use palladion_api::names;
use palladion_plan::words::Quoted;

/// Where the backups of a ring go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidBackup {
    /// The place, as members are told it.
    pub place: TransferPlace,
    /// Secret with the credentials of the store, where it needs some.
    pub credentials_secret: Option<String>,
    /// Secret with the keys that seal.
    pub key_secret: String,
    /// The claim that all pods mount, where that is the store.
    pub claim: Option<String>,
    /// Are objects sealed?
    pub is_sealed: bool,
    /// Bytes that one member sends in a second, at the most.
    pub bytes_per_second: Option<u64>,
    /// And at the least, whatever its clients feel.
    pub minimum_bytes_per_second: u64,
    /// The archive of its commit logs.
    pub archive: Option<ValidArchive>,
    /// The `CassandraRestore` that the ring begins with.
    pub restore: Option<String>,
}

/// As the spec says.
///
/// # Errors
/// What admission refuses, too: it may have been stored before there was a rule.
pub fn of(cluster: &str, spec: &CassandraClusterSpec) -> Result<Option<ValidBackup>, Refusal> {
    let Some(backup) = &spec.backup else {
        return Ok(None);
    };
    if spec.mode == Mode::Scylla {
        return Err(Refusal::BackupOfScylla);
    }
    check(&backup.store)?;
    let place = TransferPlace::of(&backup.store).ok_or(Refusal::Stores)?;
    let claim = backup.store.volume.as_ref().map(|volume| volume.claim_name.clone());
    if claim.is_some() && backup.credentials_secret_name.is_some() {
        return Err(Refusal::CredentialsOfVolume);
    }
    let BackupLimits { bytes_per_second: most, minimum_bytes_per_second: least } = backup.limits;
    if least.zip(most).is_some_and(|(least, most)| least > most) {
        return Err(Refusal::BackupRates);
    }
    let secret = || {
        let named = backup.credentials_secret_name.clone();
        named.unwrap_or_else(|| names::backup_secret(cluster))
    };
    Ok(Some(ValidBackup {
        place,
        credentials_secret: claim.is_none().then(secret),
        key_secret: names::backup_key_secret(cluster),
        claim,
        is_sealed: match backup.encryption {
            BackupEncryption::Off => false,
            BackupEncryption::Required => true,
        },
        bytes_per_second: backup.limits.bytes_per_second,
        minimum_bytes_per_second: backup.limits.minimum(),
        archive: archive::of(spec)?,
        restore: backup.restore.clone(),
    }))
}

fn check(store: &BackupStore) -> Result<(), Refusal> {
    if let Some(s3) = &store.s3 {
        let is_plain = s3.transport == StoreTransport::Plain;
        let is_http = s3.endpoint.as_ref().is_some_and(|at| at.starts_with("http://"));
        if is_plain != is_http {
            return Err(Refusal::StoreTransport);
        }
    }
    let (s3, gcs, azure) = (store.s3.as_ref(), store.gcs.as_ref(), store.azure.as_ref());
    let buckets = [
        s3.map(|s3| &s3.bucket),
        gcs.map(|gcs| &gcs.bucket),
        azure.map(|azure| &azure.account),
        azure.map(|azure| &azure.container),
    ];
    let prefixes = [
        s3.and_then(|s3| s3.prefix.as_ref()),
        gcs.and_then(|gcs| gcs.prefix.as_ref()),
        azure.and_then(|azure| azure.prefix.as_ref()),
    ];
    let wrong = |field, text: &String| Refusal::StoreName { field, text: Quoted(text.clone()) };
    if let Some(text) = buckets.into_iter().flatten().find(|text| !is_name(text)) {
        return Err(wrong("name", text));
    }
    let is_path = |text: &str| text.split('/').all(is_name);
    match prefixes.into_iter().flatten().find(|text| !is_path(text)) {
        Some(text) => Err(wrong("prefix", text)),
        None => Ok(()),
    }
}

/// Neither empty nor hidden, and nothing that leads elsewhere.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '=');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(is_part)
}
