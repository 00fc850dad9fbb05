//! The first phase of retention: list what is to go. Nothing is deleted here.
//! From the entry on no reader begins with a backup that it names, and no
//! manifest names an object of it; so the sweep that comes a day later can only
//! delete what nobody may name.

use crate::archive::COMMITLOG;
use crate::catalog::{Backup, Catalog, State};
use crate::chain;
use crate::kept::{self, For, Of};
use crate::keyspaces::Holds;
use crate::names::{BackupId, SCHEMA, SSTABLES};
use crate::pins::COUNTS_FOR;
use crate::store::Meta;
use crate::vault::Vault;
use crate::words::notice::Notice;
use crate::words::trouble::{Failed, Trouble};
use crate::{DAY, HOUR, finish, pins};
use palladion_api::words::Names;
use std::collections::{BTreeMap, BTreeSet};

/// A backup without outcome whose newest manifest is younger is under way.
pub const UNDER_WAY: i64 = DAY;
/// An object that nobody names is condemned once it is older: its manifest may
/// still be on the way.
pub const UNNAMED: i64 = 2 * DAY;

/// What is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// These backups, by name; none, to list only what no backup names, and those that failed
    /// longer ago than the next one takes anything over from them.
    pub backups: BTreeSet<BackupId>,
    /// So many complete ones must stay, at least one.
    pub keep: u64,
}

/// What would be condemned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of the entry: the plan is void once somebody else has written it.
    pub entry: u64,
    /// Backups that were abandoned: their outcome becomes `Failed`.
    pub fails: Vec<BackupId>,
    /// Backups that are condemned.
    pub backups: BTreeSet<BackupId>,
    /// Objects that are condemned, with their lengths in the store.
    pub objects: BTreeMap<String, u64>,
    /// The complete backups that stay.
    pub stay: Vec<BackupId>,
    /// What was left out, and why.
    pub notices: Vec<Notice>,
}

impl Plan {
    /// Is there nothing to do?
    pub fn is_empty(&self) -> bool {
        self.fails.is_empty() && self.backups.is_empty() && self.objects.is_empty()
    }

    /// Length of the objects in the store.
    pub fn stored_bytes(&self) -> u64 {
        self.objects.values().sum()
    }
}

/// What an expiry would condemn. Writes nothing.
///
/// # Errors
/// A backup is under way, is read, or must stay; an entry cannot be read; or the
/// store failed.
pub fn plan(vault: &Vault<'_>, order: &Order) -> Result<Plan, Trouble> {
    let catalog = Catalog::read(vault)?;
    let already = catalog.chain.objects(vault)?;
    catalog.damaged.whole()?;
    let now = vault.now()?;
    let fails = abandoned(&catalog, now)?;
    for id in &order.backups {
        let backup = catalog.backup(id)?;
        if let Some(entry) = backup.condemned {
            return Err(Trouble::AlreadyCondemned { id: id.to_string(), entry });
        }
        unpinned(vault, id, now)?;
    }
    let stay = stay(vault, &catalog, order)?;
    let backups = &order.backups | &failed(&catalog, now);
    let mut plan = Plan {
        entry: catalog.chain.next(),
        fails,
        backups,
        objects: BTreeMap::new(),
        stay,
        notices: catalog.notices(),
    };
    for (of, candidates) in candidates(vault, now, &already)? {
        let purpose = For::Condemning { now };
        match kept::named(vault, &catalog, (&of, purpose), &plan.backups) {
            Ok(named) => {
                let unnamed = candidates.into_iter().filter(|m| !named.contains_key(&m.name));
                plan.objects.extend(unnamed.map(|meta| (meta.name, meta.bytes)));
            }
            Err((id, wrong)) => {
                let host = match of {
                    Of::Host(host) => host.to_string(),
                    Of::Schema => "any".to_string(),
                };
                plan.notices.push(Notice::HostKept { host, id: id.to_string(), wrong });
            }
        }
    }
    Ok(plan)
}

/// Carry out a plan, as it was shown.
///
/// # Errors
/// Somebody else was faster, a backup is read by now, or the store failed.
/// Nothing is condemned then.
pub fn carry_out(vault: &Vault<'_>, plan: &Plan) -> Result<(), Trouble> {
    if plan.is_empty() {
        return Ok(());
    }
    for id in &plan.fails {
        fail(vault, id, plan.entry)?;
    }
    if plan.backups.is_empty() && plan.objects.is_empty() {
        return Ok(());
    }
    let now = vault.now()?;
    for id in &plan.backups {
        unpinned(vault, id, now)?;
    }
    let names = plan.objects.keys().cloned().collect();
    chain::append(vault, plan.entry, plan.backups.clone(), &names)
}

/// Backups that have failed, and of which the next one takes nothing over any more: they go without
/// anybody naming them, as nothing can be restored from them, and no object names them for long.
fn failed(catalog: &Catalog, now: i64) -> BTreeSet<BackupId> {
    let is_old = |b: &Backup| b.newest().is_none_or(|newest| now - newest >= COUNTS_FOR);
    let has_failed = |b: &Backup| matches!(b.state, State::Failed(_)) && b.condemned.is_none();
    let all = catalog.backups.iter().filter(|(_, backup)| has_failed(backup) && is_old(backup));
    all.map(|(id, _)| id.clone()).collect()
}

/// Backups without outcome that nobody works at any more.
fn abandoned(catalog: &Catalog, now: i64) -> Result<Vec<BackupId>, Trouble> {
    let is_open = |b: &Backup| b.condemned.is_none() && matches!(b.state, State::Open);
    let mut all = Vec::new();
    for (id, backup) in catalog.backups.iter().filter(|(_, backup)| is_open(backup)) {
        match backup.newest() {
            Some(newest) if now - newest < UNDER_WAY => {
                let hours = (now - newest) / HOUR;
                return Err(Trouble::UnderWay { id: id.to_string(), hours });
            }
            Some(_) | None => all.push(id.clone()),
        }
    }
    Ok(all)
}

/// Write that a backup has failed, so that it can never become complete.
fn fail(vault: &Vault<'_>, id: &BackupId, entry: u64) -> Result<(), Trouble> {
    match finish::fail(vault, id, &Failed::Abandoned)? {
        State::Failed(_) => Ok(()),
        State::Complete { .. } | State::Open | State::Unknown(_) => Err(Trouble::Raced { entry }),
    }
}

fn unpinned(vault: &Vault<'_>, id: &BackupId, now: i64) -> Result<(), Trouble> {
    match pins::holder(vault, id, now)? {
        Some(holder) => Err(Trouble::Pinned { id: id.to_string(), holder }),
        None => Ok(()),
    }
}

/// The complete backups that stay: enough of them, and each can be read. For each backup that goes
/// enough of them have all that it has: one of some keyspaces, or without members of its ring, takes
/// the place of no whole one, and one that is known to be damaged takes the place of none.
fn stay(vault: &Vault<'_>, catalog: &Catalog, order: &Order) -> Result<Vec<BackupId>, Trouble> {
    let kept = catalog.backups.iter().filter(|(_, backup)| backup.is_kept_complete());
    let others = kept.filter(|(id, _)| !order.backups.contains(*id));
    let read = others.filter_map(|(id, backup)| Some((id, kept::holds(vault, backup)?)));
    let mut stay: BTreeMap<&BackupId, Holds> = read.collect();
    let damaged = damaged(vault, catalog, stay.keys().copied())?;
    stay.retain(|id, _| !damaged.contains(*id));
    let keep = order.keep.max(1);
    let too_few_sound = |id: &BackupId, left: u64| {
        let damaged = Names::of(damaged.iter().map(BackupId::as_str));
        Trouble::KeepsTooFewSound { id: id.to_string(), left, keep, damaged }
    };
    for id in &order.backups {
        let Some(backup) = catalog.backups.get(id) else { continue };
        let goes = match &backup.state {
            State::Complete { .. } => kept::holds(vault, backup),
            // One whose outcome cannot be read may be complete.
            State::Unknown(_) => None,
            State::Failed(_) | State::Open => continue,
        };
        let left = stay.len() as u64;
        if left < keep && !damaged.is_empty() {
            return Err(too_few_sound(id, left));
        }
        if left < keep {
            return Err(Trouble::KeepsTooFew { left, keep });
        }
        let has_all = |holds: &&Holds| match &goes {
            Some(goes) => holds.has_all_of(goes),
            // It is not known what goes with it.
            None => holds.is_whole(),
        };
        let left = stay.values().filter(has_all).count() as u64;
        if left < keep && !damaged.is_empty() {
            return Err(too_few_sound(id, left));
        }
        if left < keep {
            let id = id.to_string();
            let Some(goes) = goes else {
                return Err(Trouble::KeepsTooFewWhole { id, left, keep });
            };
            let lacking: BTreeSet<String> =
                stay.values().flat_map(|holds| holds.lacks_of(&goes)).collect();
            if lacking.is_empty() {
                return Err(Trouble::KeepsTooFewOfAll { id, left, keep });
            }
            let keyspaces = Names::of(lacking);
            return Err(Trouble::KeepsTooFewOf { id, keyspaces, left, keep });
        }
    }
    Ok(stay.into_keys().cloned().collect())
}

/// Those of these backups of which an object is known to be damaged.
fn damaged<'b>(
    vault: &Vault<'_>,
    catalog: &Catalog,
    of: impl Iterator<Item = &'b BackupId>,
) -> Result<BTreeSet<BackupId>, Trouble> {
    let mut all = BTreeSet::new();
    for id in of {
        if let Some(Backup { state: State::Complete { ring, .. }, .. }) = catalog.backups.get(id)
            && !catalog.damaged.of(vault, ring)?.is_empty()
        {
            all.insert(id.clone());
        }
    }
    Ok(all)
}

/// Objects that are old enough and not condemned yet, by whose they are.
fn candidates(
    vault: &Vault<'_>,
    now: i64,
    already: &BTreeMap<String, u64>,
) -> Result<BTreeMap<Of, Vec<Meta>>, Trouble> {
    let mut all: BTreeMap<Of, Vec<Meta>> = BTreeMap::new();
    // Entries of journals name schemas, and nothing of a journal is condemned.
    let has_journals = !vault.folders(COMMITLOG)?.is_empty();
    let prefixes: &[&str] = if has_journals { &[SSTABLES] } else { &[SSTABLES, SCHEMA] };
    for prefix in prefixes {
        for meta in vault.list(prefix)? {
            let is_old = now - meta.modified >= UNNAMED && !already.contains_key(&meta.name);
            if let (true, Some(of)) = (is_old, Of::name(&meta.name)) {
                all.entry(of).or_default().push(meta);
            }
        }
    }
    Ok(all)
}
