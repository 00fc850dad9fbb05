//! Pending maintenance of members (safety rules 5.1 and 5.2): what is recorded
//! and when, and what of it is in the way of leaves. `pay` carries it out.

use super::orders::ordered;
use crate::decide::draft::Draft;
use crate::facts::{self, ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::maintenance::{Cause, Doing, Pending};
use palladion_api::ids::MemberName;
use palladion_api::labels;
use palladion_api::member::{Debt, DebtKind, RepairRanges};
use palladion_plan::Step;
use serde_json::{Value, json};
use std::fmt::Display;

/// The first maintenance that is in the way of a leave.
pub fn first(facts: &Facts<'_>) -> Option<Pending> {
    facts.members.values().find_map(|debtor| {
        let owes = debtor.spec.as_ref().filter(|_| !debtor.is_gone())?;
        let debt = owes.pending_maintenance.iter().find(|d| is_in_the_way(d.kind))?;
        let (member, work, cause) = (debtor.name.clone(), debt.kind.into(), debt.reason.clone());
        Some(Pending::Of { member, work, cause })
    })
}

/// Data that is missing or too much is; an older format can be read all the same.
fn is_in_the_way(kind: DebtKind) -> bool {
    match kind {
        // Who lacks data gives others ranges without it.
        DebtKind::Repair | DebtKind::Cleanup | DebtKind::Rebuild | DebtKind::Unknown(_) => true,
        DebtKind::UpgradeSstables => false,
    }
}

/// Is it a repair of all ranges of its member, or may it be one, by a word of a newer
/// operator? Until it is done the member may lack what others have.
pub(super) fn may_lack(debt: &Debt) -> bool {
    match (debt.kind, debt.ranges) {
        (DebtKind::Repair, RepairRanges::All | RepairRanges::Unknown(_))
        | (DebtKind::Rebuild | DebtKind::Unknown(_), _) => true,
        (DebtKind::Repair, RepairRanges::Primary)
        | (DebtKind::Cleanup | DebtKind::UpgradeSstables, _) => false,
    }
}

/// Because of which this member may lack what it has acknowledged, or its copy should have: until
/// then it is none of a majority. After a removal each repairs a part of what all lack.
pub fn lacking(member: &MemberFact) -> Option<&Debt> {
    let pending = &member.spec.as_ref()?.pending_maintenance;
    pending.iter().find(|debt| match debt.kind {
        DebtKind::Repair | DebtKind::Rebuild | DebtKind::Unknown(_) => true,
        DebtKind::Cleanup | DebtKind::UpgradeSstables => false,
    })
}

/// After a join into a ring that holds data, all others have lost ranges and
/// need a cleanup. A ring that is still being created holds none.
pub fn after_join(facts: &Facts<'_>, joiner: &MemberName, draft: &mut Draft) {
    if !facts.is_created() {
        return;
    }
    let cause = Cause::Joined { member: joiner.clone(), at: facts.now() };
    owed_by_all(facts, joiner, &debt(DebtKind::Cleanup, cause), draft);
}

/// After a removal the copies of what the dead member held are whole again as
/// far as the rest agreed; all others need a repair.
pub fn repair_by_all(
    facts: &Facts<'_>,
    except: &MemberName,
    cause: impl Display,
    draft: &mut Draft,
) {
    owed_by_all(facts, except, &repair_of_each_range(facts, cause), draft);
}

/// A member that may lack what others hold is repaired in all its ranges, with
/// all who hold copies of them.
pub fn repair_of_itself(cause: impl Display) -> Debt {
    Debt { ranges: RepairRanges::All, ..debt(DebtKind::Repair, cause) }
}

/// Each member is repaired in its primary ranges, so that every range is repaired once. In a ring
/// with members elsewhere the primary ranges of ours are not those of the whole ring: there each is
/// repaired in all that it holds.
pub fn repair_of_each_range(facts: &Facts<'_>, cause: impl Display) -> Debt {
    match facts.others_may_have_run() {
        true => repair_of_itself(cause),
        false => debt(DebtKind::Repair, cause),
    }
}

/// What was pending for the member with this data, as its claim says. What nobody
/// can read may be anything: a repair makes up for the most of it.
pub fn on_claim(claim: &ClaimFact) -> Vec<Debt> {
    let written = claim.object.meta.annotations.get(labels::PENDING_MAINTENANCE);
    let Some(text) = written.filter(|_| claim.host_id.is_some()) else {
        return Vec::new();
    };
    let claim = claim.object.meta.name.clone();
    serde_json::from_str(text)
        .unwrap_or_else(|_| vec![repair_of_itself(Cause::Unreadable { claim })])
}

/// The data of keyspaces that name the datacenter of a member, which it does not have.
pub fn rebuild_of(cause: impl Display) -> Debt {
    debt(DebtKind::Rebuild, cause)
}

fn debt(kind: DebtKind, cause: impl Display) -> Debt {
    Debt { kind, ranges: RepairRanges::Primary, reason: cause.to_string() }
}

/// What a member needs with this added; `None` if that is on record already.
pub fn with(member: &MemberFact, more: &Debt) -> Option<Vec<Debt>> {
    let spec = member.spec.as_ref()?;
    let is_same = |d: &&Debt| d.kind == more.kind && d.ranges == more.ranges;
    let mut all_same = spec.pending_maintenance.iter().filter(is_same);
    // What has begun does not know of what has happened since.
    let last = all_same.next_back();
    last.is_none_or(|last| ordered(member, last).is_some()).then(|| {
        let mut all = spec.pending_maintenance.clone();
        all.push(more.clone());
        all
    })
}

/// The same as a patch of its spec.
pub fn spec_with(member: &MemberFact, more: &Debt) -> Option<Value> {
    let mut spec = json!({ "pendingMaintenance": with(member, more)? });
    facts::clear_of_member(member.object.as_ref()?, &mut spec);
    Some(spec)
}

fn owed_by_all(facts: &Facts<'_>, except: &MemberName, debt: &Debt, draft: &mut Draft) {
    for member in facts.joined().filter(|m| m.name != *except) {
        let Some(all) = with(member, debt) else { continue };
        draft.steps.extend(patch(member, json!({ "pendingMaintenance": all }), recorded(member)));
    }
}

/// The maintenance that a member needs goes on record.
pub fn recorded(member: &MemberFact) -> Doing {
    Doing::RecordPending { member: member.name.clone() }
}

/// Write what a member still needs, or does about it.
pub fn patch(member: &MemberFact, mut spec: Value, doing: Doing) -> Option<Step> {
    let object = member.object.as_ref()?;
    facts::clear_of_member(object, &mut spec);
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, json!({ "spec": spec }), doing))
}
