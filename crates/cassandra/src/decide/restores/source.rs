//! The backup that is restored, as it was found when the restore began.

use super::read::Restore;
use crate::decide::transfers::Said;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::{Valid, ValidBackup};
use crate::words::restores::{Pending, Refused};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BACKUP_VOLUME, BackupPhase, CassandraBackupStatus, TransferPlace};
use palladion_api::cluster::{BackupEncryption, BackupStore};
use palladion_api::restore::RestoreSourced;
use palladion_plan::Object;

/// Why it cannot be used.
pub enum Unusable {
    /// It may become so.
    NotYet(Said),
    /// It never will.
    Never(Said),
}

/// Find it.
///
/// # Errors
/// There is none, or the ring cannot reach it.
pub fn find(
    facts: &Facts<'_>,
    valid: &Valid,
    own: &ValidBackup,
    restore: &Restore<'_>,
) -> Result<RestoreSourced, Unusable> {
    let source = &restore.spec.source;
    let never = |why: Refused| Unusable::Never(why.into());
    let found = match (&source.backup, &source.store) {
        (Some(backup), _) => of_backup(facts, backup)?,
        (None, Some(store)) => {
            let place = TransferPlace::of(store).ok_or_else(|| never(Refused::NoPlace))?;
            let ids = source.repository_id.clone().zip(source.backup_id.clone());
            let (repository_id, backup_id) = ids.ok_or_else(|| never(Refused::NoPlace))?;
            let sealed = match source.encryption.unwrap_or_default() {
                BackupEncryption::Off => false,
                BackupEncryption::Required => true,
            };
            let manifest_hash = source.manifest_hash.clone();
            let found = RestoreSourced {
                repository_id,
                backup_id,
                store: place,
                sealed,
                manifest_hash,
                from: None,
            };
            (found, claim(store))
        }
        (None, None) => return Err(never(Refused::NoPlace)),
    };
    let (found, claim) = found;
    let cluster = || valid.name.clone();
    match (found.store.at == BACKUP_VOLUME, &own.claim) {
        (true, Some(mounted)) if claim.as_ref().is_none_or(|claim| claim == mounted) => Ok(found),
        (true, _) => Err(never(Refused::OtherVolume { cluster: cluster() })),
        (false, Some(_)) => Err(never(Refused::NoCredentials { cluster: cluster() })),
        (false, None) => Ok(found),
    }
}

fn claim(store: &BackupStore) -> Option<String> {
    store.volume.as_ref().map(|volume| volume.claim_name.clone())
}

/// Of a `CassandraBackup` of this ring or of another one, and the claim that it is on.
fn of_backup(facts: &Facts<'_>, name: &str) -> Result<(RestoreSourced, Option<String>), Unusable> {
    let backup = || name.to_string();
    let not_yet = |why: Pending| Unusable::NotYet(why.into());
    let all = facts.objects(kinds::BACKUP).iter().map(AsRef::as_ref);
    let object = all.into_iter().find(|object: &&Object| object.meta.name == name);
    let object = object.ok_or_else(|| not_yet(Pending::NoBackup { backup: backup() }))?;
    let status = object.body.get("status").cloned().unwrap_or_default();
    let status: CassandraBackupStatus = serde_json::from_value(status)
        .map_err(|_| not_yet(Pending::BackupOpen { backup: backup() }))?;
    match status.phase {
        Some(BackupPhase::Complete) => {}
        Some(BackupPhase::Failed | BackupPhase::Aborted) => {
            return Err(Unusable::Never(Refused::BackupFailed { backup: backup() }.into()));
        }
        Some(BackupPhase::Expiring | BackupPhase::Expired) => {
            return Err(Unusable::Never(Refused::BackupExpires { backup: backup() }.into()));
        }
        Some(
            BackupPhase::Pending
            | BackupPhase::Preparing
            | BackupPhase::Snapshotting
            | BackupPhase::Uploading
            | BackupPhase::Verifying,
        )
        | None => return Err(not_yet(Pending::BackupOpen { backup: backup() })),
    }
    let from: Option<Time> = status.window.map(|window| window.from);
    let ids = status.repository_id.zip(status.id).zip(status.store);
    let ((repository_id, backup_id), store) =
        ids.ok_or_else(|| not_yet(Pending::BackupOpen { backup: backup() }))?;
    let sealed = status.sealed.unwrap_or_default();
    // The claim of a volume is that of its ring, which need not be there any more.
    let of_this = object.str_at("/spec/cluster") == Some(facts.snapshot.owner.meta.name.as_str());
    let claim = (!of_this && store.at == BACKUP_VOLUME).then(String::new);
    let found = RestoreSourced {
        repository_id,
        backup_id,
        store,
        sealed,
        manifest_hash: status.manifest_hash,
        from,
    };
    Ok((found, claim))
}
