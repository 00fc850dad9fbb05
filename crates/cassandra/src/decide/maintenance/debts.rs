//! Pending maintenance of members (safety rules 5.1 to 5.3): recorded per
//! member, carried out one at a time, and in the way of leaves.

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{self, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::maintenance::{Cause, Doing, Pending, Problem, Waiting, Work};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::MemberName;
use palladion_api::member::{Debt, DebtKind, Operation, OperationKind, OperationState};
use palladion_plan::{Flow, Step};
use serde_json::{Value, json};
use std::fmt::Display;

/// Maintenance that failed is started again after this long.
const RETRY_AFTER: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);

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
        DebtKind::Repair | DebtKind::Cleanup => true,
        DebtKind::UpgradeSstables => false,
    }
}

fn owed(member: &MemberFact) -> Option<&Debt> {
    if member.is_gone() {
        return None;
    }
    member.spec.as_ref()?.pending_maintenance.first()
}

/// After a join into a ring that holds data, all others have lost ranges and
/// need a cleanup. A ring that is still being created holds none.
pub fn after_join(facts: &Facts<'_>, joiner: &MemberName, draft: &mut Draft) {
    let status = &facts.status;
    if status.system_replication.is_none() && status.system_replication_change.is_none() {
        return;
    }
    let cause = Cause::Joined { member: joiner.clone(), at: facts.now() };
    owed_by_all(facts, joiner, (DebtKind::Cleanup, &cause), draft);
}

/// After a removal the copies of what the dead member held are whole again as
/// far as the rest agreed; all others need a repair.
pub fn repair_by_all(
    facts: &Facts<'_>,
    except: &MemberName,
    cause: impl Display,
    draft: &mut Draft,
) {
    owed_by_all(facts, except, (DebtKind::Repair, &cause), draft);
}

fn owed_by_all(
    facts: &Facts<'_>,
    except: &MemberName,
    (kind, cause): (DebtKind, &dyn Display),
    draft: &mut Draft,
) {
    for member in
        facts.members.values().filter(|m| m.name != *except && m.recorded_host_id().is_some())
    {
        let Some(spec) = &member.spec else { continue };
        if spec.pending_maintenance.iter().any(|d| d.kind == kind) {
            continue;
        }
        let mut owes = spec.pending_maintenance.clone();
        owes.push(Debt { kind, reason: cause.to_string() });
        draft.steps.extend(patch(member, json!({ "pendingMaintenance": owes }), recorded(member)));
    }
}

/// The maintenance that a member needs goes on record.
pub fn recorded(member: &MemberFact) -> Doing {
    Doing::RecordPending { member: member.name.clone() }
}

/// Carry out the first maintenance.
pub fn pay(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let Some(member) = facts.members.values().find(|m| owed(m).is_some()) else {
        return Flow::Free;
    };
    let Some(debt) = owed(member) else {
        return Flow::Free;
    };
    let kind = match debt.kind {
        DebtKind::Repair => OperationKind::Repair,
        DebtKind::Cleanup => OperationKind::Cleanup,
        DebtKind::UpgradeSstables => OperationKind::UpgradeSstables,
    };
    let prefix = format!("pay-{kind:?}-").to_lowercase();
    let ordered = member
        .spec
        .as_ref()
        .and_then(|s| s.operation.as_ref())
        .filter(|o| o.id.starts_with(&prefix));
    let outcome = ordered.and_then(|o| member.status.operation.as_ref().filter(|s| s.id == o.id));
    let work = Work::from(debt.kind);
    let (name, cause) = (|| member.name.clone(), || debt.reason.clone());
    let order = || order(facts, member, (work.clone(), kind), &prefix);
    let quiet = evidence::ring_is_quiet(facts);
    let waiting = match (ordered, outcome.map(|o| o.state), quiet) {
        (Some(_), Some(OperationState::Succeeded), _) => {
            draft.steps.extend(done(member, debt));
            return Flow::Busy;
        }
        (Some(_), None | Some(OperationState::Running), _) => {
            Waiting::Running { work: work.clone(), member: name(), cause: cause() }
        }
        (Some(_), Some(OperationState::Failed | OperationState::Interrupted), _) => {
            let ended = outcome.and_then(|o| o.finished_at.as_ref()).map_or(facts.now(), |t| t.0);
            let asked = ordered.and_then(|o| o.requested_at.as_ref()).map(|t| t.0);
            let again = facts.again(ended, asked, RETRY_AFTER);
            let why = outcome.and_then(|o| o.message.clone()).unwrap_or_default();
            let failed =
                Problem::Failed { work: work.clone(), member: name(), why, cause: cause() };
            draft.report(failed);
            if facts.now() < again {
                let waiting =
                    Waiting::Retried { work: work.clone(), member: name(), cause: cause() };
                draft.wait_for(waiting).about(member.subject()).until(again);
            } else {
                draft.steps.extend(order());
            }
            return Flow::Busy;
        }
        // Tables of the older line are rewritten when nobody needs them any more.
        (None, _, Err(why)) if !is_in_the_way(debt.kind) => {
            let waiting = Waiting::Postponed { work, member: name(), why, cause: cause() };
            draft.wait_for(waiting).about(member.subject());
            return Flow::Free;
        }
        (None, _, Ok(()) | Err(_)) => {
            draft.steps.extend(order());
            Waiting::Starting { work: work.clone(), member: name(), cause: cause() }
        }
    };
    draft.wait_for(waiting).about(member.subject());
    Flow::Busy
}

/// The operation goes with the record of what was needed, so that the next one
/// is a new operation.
fn done(member: &MemberFact, debt: &Debt) -> Option<Step> {
    let owes: Vec<_> =
        member.spec.iter().flat_map(|s| &s.pending_maintenance).filter(|d| *d != debt).collect();
    let doing = Doing::RecordDone { work: debt.kind.into(), member: member.name.clone() };
    patch(member, json!({ "pendingMaintenance": owes, "operation": null }), doing)
}

fn order(
    facts: &Facts<'_>,
    member: &MemberFact,
    (work, kind): (Work, OperationKind),
    prefix: &str,
) -> Option<Step> {
    let operation = Operation {
        id: format!("{prefix}{}", facts.snapshot.nonce),
        kind,
        keyspaces: Vec::new(),
        replication: Default::default(),
        target: None,
        requested_at: Some(Time(facts.now())),
    };
    let mut operation = json!(operation);
    for absent in ["keyspaces", "replication", "target"] {
        if operation.get(absent).is_none() {
            operation[absent] = Value::Null;
        }
    }
    let doing = Doing::Start { work, member: member.name.clone() };
    patch(member, json!({ "operation": operation }), doing)
}

/// Write what a member still needs, or does about it.
pub fn patch(member: &MemberFact, mut spec: Value, doing: Doing) -> Option<Step> {
    let object = member.object.as_ref()?;
    facts::clear_of_member(object, &mut spec);
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, json!({ "spec": spec }), doing))
}
