//! The backups of a repository, and how each stands. What cannot be read is
//! unknown: it is named, the others are shown, and nothing of it is deleted.

use crate::chain::Chain;
use crate::damaged::Damaged;
use crate::hash::Hash;
use crate::manifest::ring::{Outcome, RingManifest};
use crate::names::{BACKUPS, BackupId, HostId, OfBackup, of_backup};
use crate::store::Meta;
use crate::vault::{Vault, object, wrong};
use crate::words::notice::{Notice, Stands};
use crate::words::trouble::{Torn, Trouble, Wrong};
use palladion_api::words::Quoted;
use std::collections::BTreeMap;

/// How a backup ended, as far as its outcome says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// All of it was checked.
    Complete {
        /// What it is made of.
        ring: Box<RingManifest>,
        /// The hash that vouches for all of it.
        hash: Hash,
    },
    /// It never will be complete.
    Failed(String),
    /// There is no outcome.
    Open,
    /// The outcome cannot be read.
    Unknown(Wrong),
}

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// How it ended.
    pub state: State,
    /// The entry that condemns it.
    pub condemned: Option<u64>,
    /// The manifests of members that are listed: host, checkpoint, and the object.
    pub checkpoints: Vec<(HostId, u32, Meta)>,
}

impl Backup {
    /// How it stands by its outcome, for people.
    pub fn stands(&self) -> Stands {
        match (self.condemned, &self.state) {
            (Some(entry), _) => Stands::Condemned { entry },
            (None, State::Complete { .. }) => Stands::Complete,
            (None, State::Failed(why)) => Stands::Failed { why: why.clone() },
            (None, State::Open) => Stands::UnderWay,
            (None, State::Unknown(wrong)) => Stands::Unknown { wrong: wrong.clone() },
        }
    }

    /// When the newest manifest of a member was written.
    pub fn newest(&self) -> Option<i64> {
        self.checkpoints.iter().map(|(_, _, meta)| meta.modified).max()
    }

    /// Is it complete, and kept?
    pub fn is_kept_complete(&self) -> bool {
        self.condemned.is_none() && matches!(self.state, State::Complete { .. })
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// The backups by ID.
    pub backups: BTreeMap<BackupId, Backup>,
    /// What is condemned.
    pub chain: Chain,
    /// What is damaged.
    pub damaged: Damaged,
    /// Names below `backups/` that are none of ours.
    strangers: Vec<String>,
}

impl Catalog {
    /// Read all.
    ///
    /// # Errors
    /// The store failed. A single object that cannot be read is none.
    pub fn read(vault: &Vault<'_>) -> Result<Self, Trouble> {
        let (chain, damaged) = (Chain::read(vault)?, Damaged::read(vault)?);
        let (mut listed, mut strangers) = (BTreeMap::new(), Vec::new());
        for meta in vault.list(BACKUPS)? {
            match of_backup(&meta.name) {
                Some(OfBackup::Outcome(id)) => {
                    listed.entry(id).or_insert((false, Vec::new())).0 = true;
                }
                Some(OfBackup::Member(id, host, checkpoint)) => {
                    let backup = listed.entry(id).or_insert((false, Vec::new()));
                    backup.1.push((host, checkpoint, meta));
                }
                None => strangers.push(meta.name),
            }
        }
        let mut backups = BTreeMap::new();
        for (id, (has_outcome, checkpoints)) in listed {
            let state = match state(vault, &id) {
                State::Open if has_outcome => State::Unknown(Wrong::Gone),
                state => state,
            };
            let condemned = chain.of_backup(&id);
            backups.insert(id, Backup { state, condemned, checkpoints });
        }
        Ok(Self { backups, chain, damaged, strangers })
    }

    /// How a backup of it stands, with what is known to be damaged of it. Where that cannot be told
    /// because a manifest cannot be read, it stands as its outcome says.
    pub fn stands(&self, vault: &Vault<'_>, backup: &Backup) -> Stands {
        let objects = match &backup.state {
            State::Complete { ring, .. } if backup.condemned.is_none() => {
                self.damaged.of(vault, ring).map_or(0, |lost| lost.len() as u64)
            }
            State::Complete { .. } | State::Failed(_) | State::Open | State::Unknown(_) => 0,
        };
        if objects > 0 { Stands::Damaged { objects } } else { backup.stands() }
    }

    /// One backup.
    ///
    /// # Errors
    /// There is none of this ID.
    pub fn backup(&self, id: &BackupId) -> Result<&Backup, Trouble> {
        self.backups.get(id).ok_or(Trouble::NoBackup { id: Quoted(id.to_string()) })
    }

    /// One backup that is complete and may be read.
    ///
    /// # Errors
    /// There is none, it is not complete, or it is condemned.
    pub fn complete(&self, id: &BackupId) -> Result<(&RingManifest, &Hash), Trouble> {
        // First: of one that is half deleted nothing may be listed any more.
        if let Some(entry) = self.chain.of_backup(id) {
            return Err(Trouble::Condemned { id: id.to_string(), entry });
        }
        let backup = self.backup(id)?;
        match &backup.state {
            State::Complete { ring, hash } => Ok((ring, hash)),
            State::Failed(_) | State::Open | State::Unknown(_) => {
                let state = backup.stands().to_string();
                Err(Trouble::NotComplete { id: id.to_string(), state })
            }
        }
    }

    /// What could not be read, for people.
    pub fn notices(&self) -> Vec<Notice> {
        let unknown = self.backups.iter().filter_map(|(id, backup)| match &backup.state {
            State::Unknown(wrong) if backup.condemned.is_none() => {
                Some(Notice::OutcomeUnread { id: id.to_string(), wrong: wrong.clone() })
            }
            State::Unknown(_) | State::Complete { .. } | State::Failed(_) | State::Open => None,
        });
        let strangers = self.strangers.iter().map(|name| Notice::Stranger { name: name.clone() });
        let known = self.chain.notices().into_iter().chain(self.damaged.notices());
        known.chain(unknown).chain(strangers).collect()
    }
}

/// One backup that is complete and may be read, without a look at the others: what it is made
/// of, and the hash that vouches for all of it.
///
/// # Errors
/// There is none, it is not complete, or it is condemned; or the store failed.
pub fn one(vault: &Vault<'_>, id: &BackupId) -> Result<(Box<RingManifest>, Hash), Trouble> {
    // First: of one that is half deleted nothing may be read any more.
    if let Some(entry) = Chain::read(vault)?.of_backup(id) {
        return Err(Trouble::Condemned { id: id.to_string(), entry });
    }
    let not_complete = |state: State| {
        let state = Backup { state, condemned: None, checkpoints: Vec::new() }.stands();
        Trouble::NotComplete { id: id.to_string(), state: state.to_string() }
    };
    match vault.document::<Outcome>(&id.outcome())? {
        Some((Outcome::Complete(ring), hash)) if is_of(vault, &ring, id) => Ok((ring, hash)),
        Some((Outcome::Complete(_), _)) => {
            let why = Torn::OtherBackup.to_string();
            Err(object(&id.outcome(), Wrong::Torn { why }))
        }
        Some((Outcome::Failed { why }, _)) => Err(not_complete(State::Failed(why))),
        None if vault.list(&id.members())?.is_empty() => {
            Err(Trouble::NoBackup { id: Quoted(id.to_string()) })
        }
        None => Err(not_complete(State::Open)),
    }
}

fn is_of(vault: &Vault<'_>, ring: &RingManifest, id: &BackupId) -> bool {
    ring.backup == *id && ring.repository == vault.repository().id
}

/// How a backup ended.
pub fn state(vault: &Vault<'_>, id: &BackupId) -> State {
    match vault.document::<Outcome>(&id.outcome()) {
        Ok(None) => State::Open,
        Ok(Some((Outcome::Failed { why }, _))) => State::Failed(why),
        Ok(Some((Outcome::Complete(ring), hash))) => {
            let elsewhere = || Torn::OtherBackup.to_string();
            match is_of(vault, &ring, id) {
                true => State::Complete { ring, hash },
                false => State::Unknown(Wrong::Torn { why: elsewhere() }),
            }
        }
        Err(trouble) => State::Unknown(wrong(trouble)),
    }
}
