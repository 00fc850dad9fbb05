//! Which operation of a member is the one that was ordered for its maintenance.

use crate::facts::MemberFact;
use palladion_api::member::{Debt, DebtKind, Operation, OperationKind};

pub(super) fn kind_of(debt: &Debt) -> OperationKind {
    match debt.kind {
        DebtKind::Repair => OperationKind::Repair,
        DebtKind::Cleanup => OperationKind::Cleanup,
        DebtKind::UpgradeSstables => OperationKind::UpgradeSstables,
    }
}

pub(super) fn prefix(kind: OperationKind) -> String {
    format!("pay-{kind:?}-").to_lowercase()
}

/// The operation that was ordered for this maintenance.
pub(super) fn ordered<'a>(member: &'a MemberFact, debt: &Debt) -> Option<&'a Operation> {
    let kind = kind_of(debt);
    let operation = member.spec.as_ref()?.operation.as_ref()?;
    let is_it = operation.id.starts_with(&prefix(kind)) && operation.ranges == debt.ranges;
    is_it.then_some(operation)
}
