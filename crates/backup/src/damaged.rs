//! Objects that were found damaged. Whoever finds some notes them, once, so that
//! no later backup takes them over, and no backup that names one counts as one
//! that may be the last. A note is written as everything else: under a new name,
//! never changed. It goes with a sweep, once nobody names what it names.

use crate::catalog::Catalog;
use crate::document;
use crate::kept::{self, For, Of};
use crate::manifest::ring::{self, RingManifest};
use crate::names::{BackupId, DAMAGED, OfBackup, of_backup, of_damage};
use crate::vault::{Vault, object, wrong};
use crate::verify;
use crate::words::notice::Notice;
use crate::words::trouble::{Trouble, Unsealed, Wrong};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What one look has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The backup that was looked at.
    backup: BackupId,
    /// The objects, each with what was wrong.
    objects: BTreeMap<String, String>,
}

/// What is known to be damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damaged {
    /// The objects, each with the note that names it.
    pub objects: BTreeMap<String, String>,
    /// Notes that cannot be read: nobody knows what they name.
    unread: BTreeMap<String, Wrong>,
}

impl Damaged {
    /// Read all notes.
    ///
    /// # Errors
    /// The store cannot list them. A note that cannot be read is none.
    pub fn read(vault: &Vault<'_>) -> Result<Self, Trouble> {
        let mut all = Self::default();
        for meta in vault.list(DAMAGED)? {
            if of_damage(&meta.name).is_none() {
                continue;
            }
            match read(vault, &meta.name) {
                Ok(note) => {
                    let names = note.objects.into_keys();
                    all.objects.extend(names.map(|name| (name, meta.name.clone())));
                }
                Err(wrong) => drop(all.unread.insert(meta.name, wrong)),
            }
        }
        Ok(all)
    }

    /// Is every note known?
    ///
    /// # Errors
    /// The first that is not.
    pub fn whole(&self) -> Result<(), Trouble> {
        match self.unread.first_key_value() {
            Some((name, wrong)) => {
                Err(Trouble::DamageUnread { name: name.clone(), wrong: wrong.clone() })
            }
            None => Ok(()),
        }
    }

    /// Which of its objects a complete backup has lost.
    ///
    /// # Errors
    /// One of its manifests cannot be read.
    pub fn of(&self, vault: &Vault<'_>, ring: &RingManifest) -> Result<BTreeSet<String>, Trouble> {
        if self.objects.is_empty() {
            return Ok(BTreeSet::new());
        }
        let is_known = |name: &&str| self.objects.contains_key(*name);
        let manifests = ring.members.iter().map(|member| member.manifest.as_str());
        let own = manifests.chain([ring.schema.object.as_str()]);
        let mut lost: BTreeSet<String> = own.filter(is_known).map(str::to_string).collect();
        for member in &ring.members {
            let manifest = ring::read(vault, ring, member)?;
            lost.extend(manifest.objects().into_iter().filter(is_known).map(str::to_string));
        }
        Ok(lost)
    }

    /// What is known, for people.
    pub fn notices(&self) -> Vec<Notice> {
        let mut by: BTreeMap<&String, (u64, &String)> = BTreeMap::new();
        for (object, note) in &self.objects {
            by.entry(note).or_insert((0, object)).0 += 1;
        }
        let noted = by.into_iter().map(|(name, (objects, object))| Notice::Damaged {
            name: name.clone(),
            objects,
            object: object.clone(),
        });
        let unread = self
            .unread
            .iter()
            .map(|(name, wrong)| Notice::DamageUnread { name: name.clone(), wrong: wrong.clone() });
        noted.chain(unread).collect()
    }
}

fn read(vault: &Vault<'_>, name: &str) -> Result<Note, Wrong> {
    let found = vault.document::<Note>(name).map_err(wrong)?;
    found.map(|(note, _)| note).ok_or(Wrong::Gone)
}

/// Is it so for everybody, and for good? What is condemned is whole, and a key that is missing here
/// may be elsewhere.
fn is_damage(wrong: &Wrong) -> bool {
    match wrong {
        Wrong::Sealed { why: Unsealed::KeyMissing { .. } | Unsealed::Cipher }
        | Wrong::Condemned { .. }
        | Wrong::Noted { .. } => false,
        Wrong::Sealed { why: Unsealed::NotSealed | Unsealed::Changed }
        | Wrong::Gone
        | Wrong::Unsealed
        | Wrong::Torn { .. }
        | Wrong::Size { .. }
        | Wrong::Hash
        | Wrong::Absent => true,
    }
}

/// Note what a look at a backup has found, as far as nobody has noted it before. How many objects
/// that were.
///
/// # Errors
/// It is not known whether it is noted.
pub fn note(
    vault: &Vault<'_>,
    backup: &BackupId,
    found: &[verify::Damage],
) -> Result<u64, Trouble> {
    let damage = found.iter().filter(|damage| is_damage(&damage.wrong));
    let mut objects: BTreeMap<String, String> =
        damage.map(|damage| (damage.object.clone(), damage.wrong.to_string())).collect();
    if objects.is_empty() {
        return Ok(0);
    }
    let known = Damaged::read(vault)?.objects;
    objects.retain(|object, _| !known.contains_key(object));
    if objects.is_empty() {
        return Ok(0);
    }
    let name = backup.damage(&vault.random().nonce());
    let noted = objects.len() as u64;
    let bytes = document::write(&Note { backup: backup.clone(), objects })
        .map_err(|why| Trouble::Document { name: name.clone(), why })?;
    vault.write(&name, &bytes)?;
    vault.head(&name)?.ok_or_else(|| object(&name, Wrong::Gone))?;
    Ok(noted)
}

/// Delete the notes of which every object is gone, and named by nobody: their names never come back.
///
/// # Errors
/// The store failed.
pub fn forget(vault: &Vault<'_>) -> Result<(), Trouble> {
    let notes: Vec<String> = vault.list(DAMAGED)?.into_iter().map(|meta| meta.name).collect();
    if notes.is_empty() {
        return Ok(());
    }
    let (catalog, now) = (Catalog::read(vault)?, vault.now()?);
    for name in notes {
        let is_kept = of_damage(&name).is_none_or(|id| catalog.backups.contains_key(&id));
        if is_kept {
            continue;
        }
        // What one that cannot be read names is not known.
        let Ok(note) = read(vault, &name) else { continue };
        let mut is_needed = false;
        for object in note.objects.keys() {
            is_needed |= vault.head(object)?.is_some() || is_named(vault, &catalog, object, now);
        }
        if !is_needed {
            vault.delete(&name)?;
        }
    }
    Ok(())
}

/// Does a backup name it, as far as that is known?
fn is_named(vault: &Vault<'_>, catalog: &Catalog, object: &str, now: i64) -> bool {
    match (Of::name(object), of_backup(object)) {
        (Some(of), _) => {
            kept::named(vault, catalog, (&of, For::Deleting { now }), &BTreeSet::new())
                .map_or(true, |named| named.contains_key(object))
        }
        (None, Some(OfBackup::Outcome(id) | OfBackup::Member(id, ..))) => {
            catalog.backups.contains_key(&id)
        }
        (None, None) => false,
    }
}
