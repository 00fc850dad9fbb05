//! May a backup begin? The store must refuse to create a name twice, every key
//! must be there that a kept backup needs, and the volume must have room for what
//! the snapshot holds back.

use crate::catalog::{Catalog, State};
use crate::names::BackupId;
use crate::vault::{Vault, object};
use crate::words::trouble::{Trouble, Unsealed, Wrong};

/// Of a volume, so much must be free when a backup begins, in percent.
pub const FREE_AT_START: u8 = 10;
/// And so much while it uploads: below, it is given up, and its snapshot with it.
pub const FREE_MEANWHILE: u8 = 5;

/// How full a volume is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its size.
    pub bytes: u64,
    /// What of it may still be written.
    pub free: u64,
}

impl Space {
    /// Is so much of it free?
    ///
    /// # Errors
    /// It is not.
    pub fn has(self, least: u8) -> Result<(), Trouble> {
        let percent = match self.bytes {
            0 => 0,
            bytes => self.free.saturating_mul(100) / bytes,
        };
        match percent >= u64::from(least) {
            true => Ok(()),
            false => Err(Trouble::NoSpace { free: percent, least: u64::from(least) }),
        }
    }
}

/// Look at the store and at all keys.
///
/// # Errors
/// The store does not refuse what exists, a key is missing, or the store failed.
pub fn prepare(vault: &Vault<'_>) -> Result<Catalog, Trouble> {
    vault.try_condition()?;
    let catalog = Catalog::read(vault)?;
    catalog.chain.whole()?;
    catalog.damaged.whole()?;
    for (id, backup) in catalog.backups.iter().filter(|(_, backup)| backup.condemned.is_none()) {
        if let Some(fingerprint) = missing_key(vault, &backup.state) {
            return Err(Trouble::KeyOfBackup { id: id.to_string(), fingerprint });
        }
    }
    Ok(catalog)
}

/// A key that a backup needs and that is not there: that of its outcome, or of an object that it
/// took over from an earlier one, which may have been sealed with another key.
fn missing_key(vault: &Vault<'_>, state: &State) -> Option<String> {
    match state {
        State::Unknown(Wrong::Sealed { why: Unsealed::KeyMissing { fingerprint } }) => {
            Some(fingerprint.clone())
        }
        State::Complete { ring, .. } => {
            let missing = ring.keys.iter().find(|key| !vault.opens(Some(**key)));
            missing.map(ToString::to_string)
        }
        State::Unknown(_) | State::Failed(_) | State::Open => None,
    }
}

/// May a member still send for this backup? Only while nobody has said how it ended.
///
/// # Errors
/// It has failed, is complete, or is condemned.
pub fn is_open(catalog: &Catalog, id: &BackupId) -> Result<(), Trouble> {
    if let Some(entry) = catalog.chain.of_backup(id) {
        return Err(Trouble::Condemned { id: id.to_string(), entry });
    }
    match catalog.backups.get(id).map(|backup| &backup.state) {
        None | Some(State::Open) => Ok(()),
        Some(State::Failed(why)) => {
            Err(Trouble::HasFailed { id: id.to_string(), why: why.clone() })
        }
        Some(State::Complete { .. }) => Err(Trouble::OtherOutcome { id: id.to_string() }),
        Some(State::Unknown(wrong)) => Err(object(&id.outcome(), wrong.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_that_is_full_or_not_known_has_no_room() {
        let space = |free| Space { bytes: 1000, free };
        assert_eq!(space(100).has(10), Ok(()));
        assert_eq!(space(99).has(10), Err(Trouble::NoSpace { free: 9, least: 10 }));
        assert!(Space { bytes: 0, free: 0 }.has(5).is_err());
    }
}
