//! Backups that expire, in the two phases of `palladion-backup`: they are condemned, and a day
//! later what nobody needs of them is deleted. What may go is decided there; each of the two can
//! be begun again under the same order, and answers what is so by then.

use crate::orders::retention::{Expire, Sweep};
use crate::tell::Done;
use crate::words::stopped::Stopped;
use palladion_api::backup::{Expired, StayingBackup, Swept};
use palladion_backup::catalog::Catalog;
use palladion_backup::chain::Chain;
use palladion_backup::expire::{self, Order};
use palladion_backup::names::BackupId;
use palladion_backup::sweep::{self, Plan};
use palladion_backup::vault::Vault;
use palladion_backup::words::notice::Notice;
use palladion_backup::{Trouble, pins};
use std::collections::{BTreeMap, BTreeSet};

/// Somebody else condemns at the same time: so often it is looked again.
const TRIES: u32 = 3;
/// Characters of a reason: the schema takes no more.
const WHY: usize = 500;
/// What waits for a pin or for another backup is asked again after so many hours.
const DAILY: u32 = 24;
/// The rest of what goes of the archives follows after so many hours.
const SOON: u32 = 1;

/// Condemn backups. Those that must stay are named, and the others go all the same.
///
/// # Errors
/// An entry cannot be read, or the store failed.
pub fn expire(vault: &Vault<'_>, order: &Expire) -> Result<Done, Stopped> {
    let (mut raced, mut tries) = (String::new(), 0);
    // Those that none of the others takes the place of.
    let mut needed: BTreeMap<BackupId, String> = BTreeMap::new();
    while tries < TRIES {
        let (expired, mut backups) = sorted(vault, order)?;
        backups.retain(|id| !needed.contains_key(id));
        let mut expired = needing(expired, &needed);
        if backups.is_empty() {
            return Ok(done(expired));
        }
        let these = Order { backups: backups.clone(), keep: order.keep.into() };
        let condemned = expire::plan(vault, &these)
            .and_then(|plan| expire::carry_out(vault, &plan).map(|()| plan));
        match condemned {
            Ok(plan) => {
                expired.condemned.extend(backups.iter().map(ToString::to_string));
                (expired.objects, expired.bytes) = (plan.objects.len() as u64, plan.stored_bytes());
                return Ok(done(expired));
            }
            Err(
                again @ (Trouble::Raced { .. }
                | Trouble::AlreadyCondemned { .. }
                | Trouble::Pinned { .. }),
            ) => (raced, tries) = (again.to_string(), tries + 1),
            // It stays for now, and the others go all the same.
            Err(
                ref why @ (Trouble::KeepsTooFewOf { ref id, .. }
                | Trouble::KeepsTooFewOfAll { ref id, .. }
                | Trouble::KeepsTooFewSound { ref id, .. }
                | Trouble::KeepsTooFewWhole { ref id, .. }),
            ) => {
                let Some(id) = BackupId::parse(id) else { return Err(why.clone().into()) };
                needed.insert(id, why.to_string());
            }
            Err(not_now @ (Trouble::UnderWay { .. } | Trouble::KeepsTooFew { .. })) => {
                return Ok(done(staying(expired, &backups, &not_now.to_string())));
            }
            Err(other) => return Err(other.into()),
        }
    }
    let (expired, mut backups) = sorted(vault, order)?;
    backups.retain(|id| !needed.contains_key(id));
    Ok(done(staying(needing(expired, &needed), &backups, &raced)))
}

fn needing(mut expired: Expired, needed: &BTreeMap<BackupId, String>) -> Expired {
    expired.stay.extend(needed.iter().map(|(id, why)| stays(id, why)));
    expired
}

fn done(mut expired: Expired) -> Done {
    expired.condemned.sort();
    Done::Expired { expired: Box::new(expired) }
}

fn staying(mut expired: Expired, backups: &BTreeSet<BackupId>, why: &str) -> Expired {
    expired.stay.extend(backups.iter().map(|id| stays(id, why)));
    expired
}

fn stays(id: &BackupId, why: &str) -> StayingBackup {
    StayingBackup { backup: id.to_string(), why: cut(why) }
}

/// What is condemned already, is not there, or is read; and what is to be condemned.
fn sorted(vault: &Vault<'_>, order: &Expire) -> Result<(Expired, BTreeSet<BackupId>), Trouble> {
    let catalog = Catalog::read(vault)?;
    // An entry that cannot be read may condemn any of them.
    catalog.chain.whole()?;
    let now = vault.now()?;
    let (mut expired, mut rest) = (Expired::default(), BTreeSet::new());
    for id in &order.backups {
        if catalog.chain.of_backup(id).is_some() {
            expired.condemned.push(id.to_string());
        } else if !catalog.backups.contains_key(id) {
            expired.absent.push(id.to_string());
        } else if let Some(holder) = pins::holder(vault, id, now)? {
            let why = Trouble::Pinned { id: id.to_string(), holder };
            expired.stay.push(stays(id, &why.to_string()));
        } else {
            rest.insert(id.clone());
        }
    }
    Ok((expired, rest))
}

/// Delete what was condemned a day ago or earlier.
///
/// # Errors
/// The store failed. That it does not let anything be deleted is an answer.
pub fn sweep(vault: &Vault<'_>, order: &Sweep) -> Result<Done, Stopped> {
    let plan = sweep::plan(vault)?;
    let mut notices = plan.notices.clone();
    let (mut swept, mut is_cut) = (Swept::default(), false);
    match sweep::carry_out(vault, &plan) {
        Ok(deleted) => {
            swept.objects = deleted.objects + deleted.journals.objects;
            swept.bytes = bytes_of(&plan, &deleted.entries) + deleted.journals.bytes;
            is_cut = deleted.journals.is_cut;
            notices.extend(deleted.notices);
        }
        Err(ref refused @ Trouble::Undeletable { .. }) => {
            swept.refused = Some(cut(&refused.to_string()));
        }
        Err(other) => return Err(other.into()),
    }
    answer(&Chain::read(vault)?, order, &notices, &mut swept);
    if is_cut {
        swept.again_in_hours = Some(swept.again_in_hours.map_or(SOON, |hours| hours.min(SOON)));
    }
    Ok(Done::Swept { swept: Box::new(swept) })
}

fn bytes_of(plan: &Plan, done: &[u64]) -> u64 {
    let done = plan.entries.iter().filter(|entry| done.contains(&entry.entry));
    done.flat_map(|entry| &entry.objects).map(|(_, bytes)| bytes).sum()
}

/// What became of the backups that are asked about, and when the rest can go.
fn answer(chain: &Chain, order: &Sweep, notices: &[Notice], swept: &mut Swept) {
    let of_entry = |entry: u64| notices.iter().rev().find(|notice| about(notice) == Some(entry));
    for id in &order.backups {
        match chain.of_backup(id) {
            None => swept.unknown.push(id.to_string()),
            Some(entry) if chain.swept.contains(&entry) => swept.backups.push(id.to_string()),
            Some(entry) => {
                let why = of_entry(entry).map(ToString::to_string);
                let why = why.or_else(|| swept.refused.clone()).unwrap_or_default();
                swept.stay.push(stays(id, &why));
            }
        }
    }
    let hours = chain.open().map(|(entry, _, _)| {
        let hours = of_entry(entry).and_then(young);
        hours.and_then(|hours| u32::try_from(hours).ok()).unwrap_or(DAILY)
    });
    swept.again_in_hours = hours.min();
    let vetoes = chain.open().filter_map(|(entry, _, _)| of_entry(entry));
    let veto = vetoes.into_iter().find(|notice| young(notice).is_none());
    swept.vetoed = veto.map(|notice| cut(&notice.to_string()));
}

/// In how many hours it is old enough.
fn young(notice: &Notice) -> Option<i64> {
    let Notice::TooYoung { hours, .. } = notice else { return None };
    Some(*hours)
}

/// The entry that a notice is about.
fn about(notice: &Notice) -> Option<u64> {
    match notice {
        Notice::TooYoung { entry, .. }
        | Notice::NamedAgain { entry, .. }
        | Notice::PinnedStill { entry, .. }
        | Notice::ListUnread { entry, .. }
        | Notice::KeptUnread { entry, .. } => Some(*entry),
        Notice::OutcomeUnread { .. }
        | Notice::EntryUnread { .. }
        | Notice::Stranger { .. }
        | Notice::Damaged { .. }
        | Notice::DamageUnread { .. }
        | Notice::LeftOut { .. }
        | Notice::HostKept { .. } => None,
    }
}

fn cut(text: &str) -> String {
    text.chars().take(WHY).collect()
}
