//! Pending maintenance of members (safety rules 5.1 to 5.3): remembered per
//! member, paid by the operator one at a time, and in the way of leaves.

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use palladion_api::ids::MemberName;
use palladion_api::member::{Debt, DebtKind, Operation, OperationKind, OperationState};
use palladion_api::reasons::Reason;
use palladion_plan::Step;
use serde_json::{Value, json};

/// A payment that failed is ordered again after this long.
const PAY_AGAIN: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);

/// The first debt of any member, in words.
pub fn first(facts: &Facts<'_>) -> Option<String> {
    facts.members.values().find_map(|debtor| {
        let owes = debtor.spec.as_ref().filter(|_| !debtor.is_gone())?;
        let debt = owes.pending_maintenance.iter().find(|d| is_in_the_way(d.kind))?;
        Some(format!("member {} owes {:?}: {}", debtor.name, debt.kind, debt.reason))
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
/// owe a cleanup. A ring that is still being made holds none.
pub fn after_join(facts: &Facts<'_>, joiner: &MemberName, draft: &mut Draft) {
    if facts.status.system_replication.is_none() {
        return;
    }
    let reason = format!("member {joiner} joined at {}", facts.now());
    owed_by_all(facts, joiner, (DebtKind::Cleanup, &reason), draft);
}

/// After a removal the copies of what the dead member held are whole again as
/// far as the rest agreed; all others owe a repair.
pub fn repair_by_all(facts: &Facts<'_>, except: &MemberName, reason: &str, draft: &mut Draft) {
    owed_by_all(facts, except, (DebtKind::Repair, reason), draft);
}

fn owed_by_all(
    facts: &Facts<'_>,
    except: &MemberName,
    (kind, reason): (DebtKind, &str),
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
        owes.push(Debt { kind, reason: reason.to_string() });
        draft.steps.extend(patch(
            member,
            json!({ "pendingMaintenance": owes }),
            "record what is owed by",
        ));
    }
}

/// Pay the first debt. True = something is being done or waited for.
pub fn pay(facts: &Facts<'_>, draft: &mut Draft) -> bool {
    let Some(member) = facts.members.values().find(|m| owed(m).is_some()) else {
        return false;
    };
    let Some(debt) = owed(member) else {
        return false;
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
    let words =
        |state: &str| format!("{kind:?} of member {} {state} ({})", member.name, debt.reason);
    let quiet = evidence::ring_is_quiet(facts);
    match (ordered, outcome.map(|o| o.state), quiet) {
        (Some(_), Some(OperationState::Succeeded), _) => {
            let owes: Vec<_> = member
                .spec
                .iter()
                .flat_map(|s| &s.pending_maintenance)
                .filter(|d| *d != debt)
                .collect();
            // The operation goes with the debt, so that the next debt is a new operation.
            let spec = json!({ "pendingMaintenance": owes, "operation": null });
            draft.steps.extend(patch(member, spec, "record that a debt was paid by"));
        }
        (Some(_), None | Some(OperationState::Running), _) => {
            draft.wait(Reason::MaintenancePending, words("is under way"))
        }
        (Some(_), Some(OperationState::Failed | OperationState::Interrupted), _) => {
            let ended = outcome.and_then(|o| o.finished_at.as_ref()).map_or(facts.now(), |t| t.0);
            let again = ended + PAY_AGAIN;
            let why = outcome.and_then(|o| o.message.clone()).unwrap_or_default();
            draft.trouble(
                Reason::MaintenancePending,
                words(&format!("failed: {why}; it is tried again")),
            );
            if facts.now() < again {
                draft.wait_until(Reason::MaintenancePending, words("is tried again"), again);
            } else {
                draft.steps.extend(order(facts, member, kind, &prefix));
            }
        }
        // Tables of the older line are rewritten when nobody needs them any more.
        (None, _, Err(why)) if !is_in_the_way(debt.kind) => {
            draft.wait(Reason::MaintenancePending, words(&format!("waits: {why}")));
            return false;
        }
        (None, _, Ok(()) | Err(_)) => {
            draft.wait(Reason::MaintenancePending, words("is ordered"));
            draft.steps.extend(order(facts, member, kind, &prefix));
        }
    }
    true
}

fn order(
    facts: &Facts<'_>,
    member: &MemberFact,
    kind: OperationKind,
    prefix: &str,
) -> Option<Step> {
    let operation = Operation {
        id: format!("{prefix}{}", facts.snapshot.nonce),
        kind,
        keyspaces: Vec::new(),
        replication: Default::default(),
        target: None,
    };
    let mut operation = json!(operation);
    for absent in ["keyspaces", "replication", "target"] {
        if operation.get(absent).is_none() {
            operation[absent] = Value::Null;
        }
    }
    patch(member, json!({ "operation": operation }), "order a payment of")
}

/// Write what maintenance of a member is pending, or start it.
pub fn patch(member: &MemberFact, mut spec: Value, what: &str) -> Option<Step> {
    let object = member.object.as_ref()?;
    if object.at("/spec/owes").is_some() && spec.get("pendingMaintenance").is_some() {
        spec["owes"] = Value::Null;
    }
    Some(Step::patch_as_seen(
        kinds::MEMBER,
        &object.meta,
        json!({ "spec": spec }),
        format!("{what} member {}", member.name),
    ))
}
