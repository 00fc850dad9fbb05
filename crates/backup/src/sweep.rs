//! The second phase of retention: delete what was condemned a day ago or more.
//! A plan names every object that it deletes, and no more than that is ever
//! deleted. Manifests and pins are read again right before; if one names what
//! is condemned, nothing of that entry is deleted.

use crate::archive::trim::{self, Surplus, Trimmed};
use crate::catalog::Catalog;
use crate::chain::{self, Condemned, read_objects};
use crate::kept::{self, For, Of};
use crate::names::BackupId;
use crate::vault::Vault;
use crate::words::notice::Notice;
use crate::words::trouble::Trouble;
use crate::{DAY, HOUR, damaged, document, pins};
use std::collections::{BTreeMap, BTreeSet};

/// So long after an entry was written its objects can be deleted.
pub const GRACE: i64 = DAY;
/// So many objects are deleted before pins are asked again.
const BATCH: usize = 100;

/// What is deleted for one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPlan {
    /// The entry.
    pub entry: u64,
    /// The backups that it condemns.
    pub backups: BTreeSet<BackupId>,
    /// The objects, in the order in which they go, with their lengths in the store.
    pub objects: Vec<(String, u64)>,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What is deleted.
    pub entries: Vec<EntryPlan>,
    /// What of the journals goes once that is deleted.
    pub journals: Vec<Surplus>,
    /// What is not, and why.
    pub notices: Vec<Notice>,
}

impl Plan {
    /// Is there nothing to do?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.journals.is_empty()
    }

    /// How many objects are deleted.
    pub fn objects(&self) -> usize {
        self.entries.iter().map(|entry| entry.objects.len()).sum()
    }

    /// Their length in the store.
    pub fn stored_bytes(&self) -> u64 {
        self.entries.iter().flat_map(|entry| &entry.objects).map(|(_, bytes)| bytes).sum()
    }
}

/// What was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The objects of condemned backups.
    pub objects: u64,
    /// What of the journals no backup needs any more.
    pub journals: Trimmed,
    /// Entries that are done.
    pub entries: Vec<u64>,
    /// What was not deleted, and why.
    pub notices: Vec<Notice>,
}

/// What a sweep would delete. Writes nothing.
///
/// # Errors
/// The store failed. An entry that cannot be read is left out.
pub fn plan(vault: &Vault<'_>) -> Result<Plan, Trouble> {
    let catalog = Catalog::read(vault)?;
    let now = vault.now()?;
    let mut plan = Plan { notices: catalog.notices(), ..Plan::default() };
    for (entry, condemned, written) in catalog.chain.open() {
        match due(vault, &catalog, (entry, condemned, written), now)? {
            Err(notice) => plan.notices.push(notice),
            Ok(objects) => {
                plan.entries.push(planned(vault, &catalog, (entry, condemned, objects))?);
            }
        }
    }
    // With the backups of these goes what only they need of the journals.
    let swept: BTreeSet<BackupId> =
        plan.entries.iter().flat_map(|entry| entry.backups.iter().cloned()).collect();
    plan.journals = trim::surplus(vault, &catalog, &swept)?;
    Ok(plan)
}

/// Delete what the plan names, and nothing else.
///
/// # Errors
/// The store failed; what was deleted until then is gone, and the next sweep goes on.
pub fn carry_out(vault: &Vault<'_>, plan: &Plan) -> Result<Swept, Trouble> {
    let mut swept = Swept::default();
    for entry in &plan.entries {
        match carry_out_entry(vault, entry, &mut swept)? {
            Some(notice) => swept.notices.push(notice),
            None => swept.entries.push(entry.entry),
        }
    }
    if !swept.entries.is_empty() {
        damaged::forget(vault)?;
    }
    swept.journals = trim_journals(vault, &plan.journals)?;
    Ok(swept)
}

/// What of the plan nobody needs by now: a backup may be there still that was to go.
fn trim_journals(vault: &Vault<'_>, planned: &[Surplus]) -> Result<Trimmed, Trouble> {
    let mut all = Trimmed::default();
    if planned.is_empty() {
        return Ok(all);
    }
    for now in trim::surplus(vault, &Catalog::read(vault)?, &BTreeSet::new())? {
        let Some(then) = planned.iter().find(|then| then.host == now.host) else { continue };
        let surplus = Surplus { below: now.below.min(then.below), ..now };
        let trimmed = trim::trim(vault, &surplus, trim::MOST.saturating_sub(all.objects))?;
        all.objects += trimmed.objects;
        all.bytes += trimmed.bytes;
        all.is_cut |= trimmed.is_cut;
    }
    Ok(all)
}

fn carry_out_entry(
    vault: &Vault<'_>,
    plan: &EntryPlan,
    swept: &mut Swept,
) -> Result<Option<Notice>, Trouble> {
    let catalog = Catalog::read(vault)?;
    let found = catalog.chain.open().find(|(entry, _, _)| *entry == plan.entry);
    // Another sweep has been faster.
    let Some((entry, condemned, written)) = found else { return Ok(None) };
    let objects = match due(vault, &catalog, (entry, condemned, written), vault.now()?)? {
        Ok(objects) => objects,
        Err(notice) => return Ok(Some(notice)),
    };
    let listed: BTreeSet<&str> = objects.iter().map(String::as_str).collect();
    let may = |name: &str| may_delete(name, condemned, &listed);
    for batch in plan.objects.chunks(BATCH) {
        if let Some(notice) = pinned(vault, (entry, condemned), vault.now()?)? {
            return Ok(Some(notice));
        }
        for (name, _) in batch.iter().filter(|(name, _)| may(name)) {
            vault.delete(name)?;
            swept.objects += 1;
        }
    }
    done(vault, (entry, condemned))?;
    Ok(None)
}

/// Is it of this entry: an object that it lists, or of a backup that it names?
fn may_delete(name: &str, condemned: &Condemned, listed: &BTreeSet<&str>) -> bool {
    let is_object = listed.contains(name) && Of::name(name).is_some();
    let of_backup =
        condemned.backups.iter().any(|id| name == id.outcome() || name.starts_with(&id.members()));
    is_object || of_backup
}

/// All is deleted: the entry says so, and its list goes.
fn done(vault: &Vault<'_>, (entry, condemned): (u64, &Condemned)) -> Result<(), Trouble> {
    let name = chain::swept_name(entry);
    let bytes = document::write(&condemned.nonce)
        .map_err(|why| Trouble::Document { name: name.clone(), why })?;
    vault.write(&name, &bytes)?;
    vault.delete(&condemned.objects.object)
}

/// The objects that go: the outcome first, so that nothing half deleted looks
/// complete to anybody; then manifests, then files.
fn planned(
    vault: &Vault<'_>,
    catalog: &Catalog,
    (entry, condemned, objects): (u64, &Condemned, Vec<String>),
) -> Result<EntryPlan, Trouble> {
    let mut all = Vec::new();
    for id in &condemned.backups {
        if let Some(meta) = vault.head(&id.outcome())? {
            all.push((meta.name, meta.bytes));
        }
        let backup = catalog.backups.get(id);
        let manifests = backup.into_iter().flat_map(|backup| &backup.checkpoints);
        all.extend(manifests.map(|(_, _, meta)| (meta.name.clone(), meta.bytes)));
    }
    let hosts: BTreeSet<String> = objects.iter().filter_map(|name| folder(name)).collect();
    let mut there = BTreeMap::new();
    for host in hosts {
        there.extend(vault.list(&host)?.into_iter().map(|meta| (meta.name, meta.bytes)));
    }
    // All of them, those too that are not listed: once the entry is swept, nobody
    // knows any more that they were condemned.
    let bytes = |name: &String| there.get(name).copied().unwrap_or_default();
    all.extend(objects.into_iter().map(|name| (name.clone(), bytes(&name))));
    Ok(EntryPlan { entry, backups: condemned.backups.clone(), objects: all })
}

fn folder(name: &str) -> Option<String> {
    Of::name(name).map(|of| match of {
        Of::Host(host) => host.files(),
        Of::Schema => crate::names::SCHEMA.to_string(),
    })
}

/// The objects of an entry that may be deleted now, or why nothing of it is.
fn due(
    vault: &Vault<'_>,
    catalog: &Catalog,
    (entry, condemned, written): (u64, &Condemned, i64),
    now: i64,
) -> Result<Result<Vec<String>, Notice>, Trouble> {
    let left = GRACE - (now - written);
    if left > 0 {
        return Ok(Err(Notice::TooYoung { entry, hours: (left + HOUR - 1) / HOUR }));
    }
    let objects = match read_objects(vault, condemned) {
        Ok(objects) => objects,
        Err(wrong) => {
            let name = condemned.objects.object.clone();
            return Ok(Err(Notice::ListUnread { entry, name, wrong }));
        }
    };
    let vetoed = veto(vault, catalog, (entry, condemned, &objects), now)?;
    Ok(vetoed.map_or(Ok(objects), Err))
}

/// Does anybody name what is condemned, or read it?
fn veto(
    vault: &Vault<'_>,
    catalog: &Catalog,
    (entry, condemned, objects): (u64, &Condemned, &[String]),
    now: i64,
) -> Result<Option<Notice>, Trouble> {
    if let Some(notice) = pinned(vault, (entry, condemned), now)? {
        return Ok(Some(notice));
    }
    let mut by: BTreeMap<Of, Vec<&String>> = BTreeMap::new();
    for name in objects {
        if let Some(of) = Of::name(name) {
            by.entry(of).or_default().push(name);
        }
    }
    for (of, names) in by {
        match kept::named(vault, catalog, (&of, For::Deleting { now }), &condemned.backups) {
            Ok(named) => {
                let again = names.iter().find_map(|name| named.get_key_value(*name));
                if let Some((name, id)) = again {
                    let (name, id) = (name.clone(), id.to_string());
                    return Ok(Some(Notice::NamedAgain { entry, name, id }));
                }
            }
            Err((id, wrong)) => {
                return Ok(Some(Notice::KeptUnread { entry, id: id.to_string(), wrong }));
            }
        }
    }
    Ok(None)
}

fn pinned(
    vault: &Vault<'_>,
    (entry, condemned): (u64, &Condemned),
    now: i64,
) -> Result<Option<Notice>, Trouble> {
    for id in &condemned.backups {
        if let Some(holder) = pins::holder(vault, id, now)? {
            return Ok(Some(Notice::PinnedStill { entry, id: id.to_string(), holder }));
        }
    }
    Ok(None)
}
