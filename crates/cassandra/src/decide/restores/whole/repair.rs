//! The members of a backup differ as far as those of the ring did. Each repairs its ranges;
//! until all have, tables keep deletions for longer, or one that only some members had would be
//! forgotten before the rest learned of it.

use super::super::answers::{Answer, chosen, waits};
use super::super::course::write;
use super::super::finish::{Settled, settle};
use super::super::orders::{self, Active};
use super::super::read::Restore;
use super::open::close_behind;
use crate::decide::draft::Draft;
use crate::decide::maintenance::debts;
use crate::facts::{Facts, MemberFact};
use crate::validate::ValidBackup;
use crate::words::maintenance::Cause;
use crate::words::restores::{Complete, Failed, Member, Phase};
use palladion_api::cluster::WholeRing;
use palladion_api::member::DebtKind;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase, RestoreRepair};
use palladion_plan::words::Names;

/// The name of the order that gives the tables their own `gc_grace_seconds` back.
const GRACE: &str = "grace";

/// Have it on record for all members, wait for it, and end.
pub fn repair(
    facts: &Facts<'_>,
    (restore, active, own): (&Restore<'_>, &Active, Option<&ValidBackup>),
    whole: &WholeRing,
    draft: &mut Draft,
) {
    let members = whole.places.len();
    let is_closed = close_behind(facts, (active, own), whole, draft);
    let is_asked = restore.spec.repair != Some(RestoreRepair::None);
    let left = if is_asked { pay(facts, active, whole, draft) } else { None };
    match left.or(is_closed.then_some(0)) {
        Some(left) => {
            let repairing = Phase::Repairing { done: members - left.min(members), members };
            write(facts, restore, restore.status.clone(), repairing, draft);
        }
        None if !is_asked => unrepaired(facts, (restore, active), members, draft),
        None => grace(facts, (restore, active, own), members, draft),
    }
}

/// Nobody repairs for us, and it is not known when a user has: until then a deletion that only some
/// members had must not be forgotten, so tables keep what was set. That is said.
fn unrepaired(
    facts: &Facts<'_>,
    (restore, active): (&Restore<'_>, &Active),
    members: usize,
    draft: &mut Draft,
) {
    let totals = restore.status.totals.clone().unwrap_or_default();
    let (sstables, bytes) = (totals.sstables, totals.bytes);
    let tables = Names::of(active.record.own.iter().map(|own| &own.table));
    let said = match active.record.gc_grace_seconds {
        Some(seconds) => Complete::RingUnrepaired { members, sstables, bytes, seconds, tables },
        // It was never raised.
        None => Complete::RingUnrepairedAsItWas { members, sstables, bytes },
    };
    let phase = Some(RestorePhase::Complete);
    let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
    write(facts, restore, status, said, draft);
}

/// How many members have not repaired yet what they have; that they have to goes on record once.
pub fn pay(
    facts: &Facts<'_>,
    active: &Active,
    whole: &WholeRing,
    draft: &mut Draft,
) -> Option<usize> {
    let cause = Cause::Restored { restore: active.record.restore.clone() }.to_string();
    let all = || whole.places.iter().filter_map(|place| facts.members.get(&place.member));
    let is_recorded = |member: &&MemberFact| {
        let pending = member.spec.iter().flat_map(|spec| &spec.pending_maintenance);
        pending.into_iter().any(|debt| debt.kind == DebtKind::Repair && debt.reason == cause)
    };
    let left = all().filter(is_recorded).count();
    if whole.repair_recorded {
        return (left > 0).then_some(left);
    }
    let missing: Vec<_> = all().filter(|member| !is_recorded(member)).collect();
    if missing.is_empty() {
        orders::note_repair(active, draft);
        return Some(left);
    }
    let debt = debts::repair_of_each_range(facts, &cause);
    for member in missing {
        let spec = debts::spec_with(member, &debt);
        let step = spec.and_then(|spec| debts::patch(member, spec, debts::recorded(member)));
        draft.steps.extend(step);
    }
    Some(whole.places.len())
}

fn grace(
    facts: &Facts<'_>,
    (restore, active, own): (&Restore<'_>, &Active, Option<&ValidBackup>),
    members: usize,
    draft: &mut Draft,
) {
    let id = active.order(GRACE);
    let Some(one) = chosen(facts, &id) else {
        return write(facts, restore, restore.status.clone(), Member::None, draft);
    };
    let said = settle(facts, (active, own), one, (&id, Settled::Grace), draft);
    match &said {
        Answer::Failed(why) => {
            let cause = why.1.to_string();
            let seconds = active.record.gc_grace_seconds.unwrap_or_default();
            let own = active.record.own.iter().map(|own| &own.table);
            let tables = Names::of(own);
            let why = complete(restore, members).to_string();
            let failed = Failed::GraceLeft { why, cause, seconds, tables };
            let phase = Some(RestorePhase::Failed);
            let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
            write(facts, restore, status, failed, draft);
        }
        Answer::Done(_) => {
            let phase = Some(RestorePhase::Complete);
            let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
            let said = complete(restore, members);
            write(facts, restore, status, said, draft);
        }
        Answer::None | Answer::Going(_) => {
            let keeping = || Phase::KeepingGrace { member: one.0.name.clone() }.into();
            let why = waits(facts, one.0, &said).unwrap_or_else(keeping);
            write(facts, restore, restore.status.clone(), why, draft);
        }
    }
}

fn complete(restore: &Restore<'_>, members: usize) -> Complete {
    let totals = restore.status.totals.clone().unwrap_or_default();
    let (sstables, bytes) = (totals.sstables, totals.bytes);
    if let Some(to) = &restore.spec.point_in_time {
        return Complete::Rewound { to: to.0.to_string(), members, sstables, bytes };
    }
    Complete::Ring { members, sstables, bytes }
}
