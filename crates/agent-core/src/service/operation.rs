//! Operations: each ID is begun at most once, whatever dies meanwhile: the ledger notes it
//! before the work begins. Pure; what an operation is, its agent knows.

use super::ledger::{Ledger, Own};
use crate::words::operation::Failed;
use palladion_api::member::OperationState;
use palladion_api::service_member::{MemberOperation, ServiceMemberSpec};

/// Does a job of this agent run?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// No.
    Idle,
    /// Yes.
    Busy,
}

/// What is due about the operation in the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due<'a> {
    /// Nothing.
    Nothing,
    /// One was under way when an earlier agent ended: it is not begun again.
    NoteInterrupted,
    /// One that was never begun.
    Next(&'a MemberOperation),
}

/// Decide.
pub fn due<'a, O: Own>(spec: &'a ServiceMemberSpec, ledger: &Ledger<O>, worker: Worker) -> Due<'a> {
    if worker == Worker::Busy {
        return Due::Nothing;
    }
    if ledger.operations.iter().any(|o| o.state == OperationState::Running) {
        return Due::NoteInterrupted;
    }
    match &spec.operation {
        Some(wanted) if ledger.operation(&wanted.id).is_none() => Due::Next(wanted),
        Some(_) | None => Due::Nothing,
    }
}

/// Is an operation for the volume that is here?
///
/// # Errors
/// It is for another one.
pub fn check_volume<O>(wanted: &MemberOperation, ledger: &Ledger<O>) -> Result<(), Failed> {
    if wanted.volume_id == ledger.volume_id {
        return Ok(());
    }
    let (named, found) = (wanted.volume_id.clone(), ledger.volume_id.clone());
    Err(Failed::OtherVolume { named, found })
}
