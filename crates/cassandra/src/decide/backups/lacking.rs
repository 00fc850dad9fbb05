//! Members that may lack what others have, because a repair or rebuild of them is pending: with one
//! of them, and without another, a majority of copies may be none of what was acknowledged. So while
//! somebody is left out such a member does not count. What was pending when its snapshot was ordered
//! is on record: a repair that is done later is not in the snapshot.

use super::answers::{member, short};
use super::read::{Backup, is_in};
use crate::decide::maintenance::debts;
use crate::facts::{Facts, MemberFact};
use crate::words::backups::Owed;
use palladion_api::backup::BackupMember;
use palladion_api::ids::MemberName;
use palladion_plan::words::Names;

/// What is pending on this member now.
pub fn pending(member: &MemberFact) -> Option<String> {
    let debt = debts::lacking(member)?;
    let owed = Owed::Work { work: debt.kind.into(), cause: debt.reason.clone() };
    Some(short(owed.to_string()))
}

/// What is pending on this one goes on record as its snapshot is ordered, where members may be left
/// out.
pub fn noted(facts: &Facts<'_>, backup: &Backup<'_>, entry: &BackupMember) -> BackupMember {
    let of = member(facts, entry).filter(|_| backup.leaves_out());
    let pending_maintenance = of.and_then(pending);
    BackupMember { pending_maintenance, ..entry.clone() }
}

/// A member that was not whole when its snapshot was ordered, what was pending on it, and without
/// whom it has to count.
pub fn first(members: &[BackupMember]) -> Option<(MemberName, String, Names)> {
    let without: Vec<&MemberName> =
        members.iter().filter(|entry| !is_in(entry)).map(|entry| &entry.name).collect();
    let there = members.iter().filter(|entry| is_in(entry));
    let mut lacking = there.filter_map(|entry| Some((entry, entry.pending_maintenance.clone()?)));
    let (entry, pending) = lacking.next().filter(|_| !without.is_empty())?;
    Some((entry.name.clone(), pending, Names::of(without)))
}
