//! Which operation of a member is the one that was ordered for its maintenance.

use crate::facts::MemberFact;
use crate::words::maintenance::Work;
use palladion_api::ids::MemberName;
use palladion_api::member::{
    Debt, DebtKind, Operation, OperationKind, OperationStatus, RepairRanges,
};
use palladion_plan::hash;
use serde_json::json;

/// Digits of the hash by which one cause is told from another.
const DIGITS: usize = 8;

pub(super) fn kind_of(debt: &Debt) -> OperationKind {
    match debt.kind {
        DebtKind::Repair => OperationKind::Repair,
        DebtKind::Cleanup => OperationKind::Cleanup,
        DebtKind::UpgradeSstables => OperationKind::UpgradeSstables,
        DebtKind::Rebuild => OperationKind::Rebuild,
        DebtKind::Unknown(word) => OperationKind::Unknown(word),
    }
}

/// Can this operator order it? What a newer one has recorded stays on record.
pub(super) fn is_known(debt: &Debt) -> bool {
    !matches!(debt.kind, DebtKind::Unknown(_)) && !matches!(debt.ranges, RepairRanges::Unknown(_))
}

/// How the IDs of its operations begin. They name the cause, so that what was
/// done for an earlier one does not pay for this one.
pub(super) fn prefix(debt: &Debt) -> String {
    let cause: String = hash::of(&json!(debt.reason)).chars().take(DIGITS).collect();
    format!("pay-{:?}-{cause}-", kind_of(debt)).to_lowercase()
}

/// The operation that was ordered for this maintenance.
pub(super) fn ordered<'a>(member: &'a MemberFact, debt: &Debt) -> Option<&'a Operation> {
    let operation = member.spec.as_ref()?.operation.as_ref()?;
    let is_it = operation.id.starts_with(&prefix(debt)) && operation.ranges == debt.ranges;
    is_it.then_some(operation)
}

/// What its agent says of it.
pub(super) fn outcome<'a>(
    member: &'a MemberFact,
    ordered: &Operation,
) -> Option<&'a OperationStatus> {
    member.status.operation.as_ref().filter(|s| s.id == ordered.id)
}

/// What is said of each maintenance: what, whose, and why.
pub(super) fn words(member: &MemberFact, debt: &Debt) -> (Work, MemberName, String) {
    (debt.kind.into(), member.name.clone(), debt.reason.clone())
}
