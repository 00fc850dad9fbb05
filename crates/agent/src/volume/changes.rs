//! How the ledger changes with what the agent does: pure, so that whoever
//! carries the actions out (the agent on a disk, a simulator in memory) writes
//! the same history.

use super::ledger::{Ban, End, Ledger, Membership};
use super::{Data, seconds};
use crate::words::job::Failed;
use crate::words::volume::DataKept;
use jiff::Timestamp;
use palladion_api::ids::{HostId, Nonce, StaticAddress};
use palladion_api::member::{
    DataBeforeStart, IntentState, OperationState, OperationStatus, PermitKind,
};

/// Where membership stands after an intent was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Where it stood.
    Unchanged,
    /// A full member again.
    Joined,
    /// Out of the ring, for good.
    Left,
}

/// Why a server may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It has joined before.
    Autonomous,
    /// By permit.
    Permit {
        /// Its kind.
        kind: PermitKind,
        /// Its nonce.
        nonce: Nonce,
        /// What is done with data first.
        data: DataBeforeStart,
    },
}

impl Cause {
    /// Does the member enter the ring as new, so that nothing noted on the volume before is about
    /// it?
    pub fn enters_as_new(&self) -> bool {
        use DataBeforeStart::{Keep, MustBeEmpty, Retire, Unknown, Wipe};
        let Self::Permit { kind, data, .. } = self else { return false };
        match (kind, data) {
            (
                PermitKind::Initialize | PermitKind::Join | PermitKind::Replace,
                MustBeEmpty | Wipe | Retire,
            ) => true,
            (
                PermitKind::Initialize | PermitKind::Join | PermitKind::Replace,
                Keep | Unknown(_),
            )
            | (
                PermitKind::ResumeLeave
                | PermitKind::Readdress
                | PermitKind::Restore
                | PermitKind::Unknown(_),
                _,
            ) => false,
        }
    }
}

impl Ledger {
    /// May the data be removed? Nothing but empty directories is lost already.
    pub fn check_wipe(&self, data: Data) -> Result<(), DataKept> {
        let joined = match self.membership {
            Membership::Empty | Membership::Joining { .. } => false,
            Membership::Joined | Membership::Leaving { .. } | Membership::Left => true,
        };
        if joined && data != Data::Absent {
            return Err(match self.host_id.clone() {
                Some(host_id) => DataKept::Joined { host_id },
                None => DataKept::JoinedUnknown,
            });
        }
        Ok(())
    }

    /// May the data be set aside, and under which host ID?
    pub fn check_retire(&self, used: u64, free: u64) -> Result<HostId, DataKept> {
        let host_id = self.host_id.as_ref().ok_or(DataKept::Nameless)?.clone();
        if free < used {
            return Err(DataKept::NoRoom { host_id, used, free });
        }
        Ok(host_id)
    }

    /// Data was removed or set aside as a permit says.
    pub fn data_prepared(&mut self, what: DataBeforeStart) {
        match what {
            DataBeforeStart::MustBeEmpty | DataBeforeStart::Keep | DataBeforeStart::Unknown(_) => {}
            DataBeforeStart::Wipe | DataBeforeStart::Retire => self.reset_data(),
        }
    }

    /// What a start under this address is called in the history; a permit that it
    /// needs is used up.
    pub fn use_cause(&mut self, cause: &Cause, address: &StaticAddress) -> String {
        match cause {
            Cause::Autonomous => "Autonomous".into(),
            Cause::Permit { kind, nonce, .. } => {
                self.use_permit(nonce);
                match kind {
                    PermitKind::Initialize
                    | PermitKind::Join
                    | PermitKind::Restore
                    | PermitKind::Replace => {
                        self.membership = Membership::Joining { kind: *kind, nonce: nonce.clone() };
                        self.host_id = None;
                        self.address = None;
                        self.ban = Ban::None;
                        self.ban_pod = None;
                    }
                    // Still leaving, until the server is seen to be a full member again.
                    PermitKind::ResumeLeave | PermitKind::Unknown(_) => {}
                    // From now on it starts under this one by itself: the others may have
                    // heard of it before anything else is noted.
                    PermitKind::Readdress => self.address = Some(address.clone()),
                }
                format!("{kind:?}")
            }
        }
    }

    /// How the last start ended.
    pub fn end_start(
        &mut self,
        end: End,
        at: Timestamp,
        exit_code: Option<i32>,
        message: Option<String>,
    ) {
        if let Some(start) = self.starts.first_mut() {
            start.end = end;
            start.record.ended_at = Some(seconds(at));
            start.record.exit_code = exit_code;
            start.record.message = message;
        }
    }

    /// A full member was seen. One that had joined keeps what is recorded; a
    /// difference is reported.
    pub fn record_normal(&mut self, host_id: HostId, address: StaticAddress, now: Timestamp) {
        if let Some(start) = self.starts.first_mut() {
            start.record.normal_at = Some(seconds(now));
        }
        if self.membership != Membership::Joined || self.host_id.is_none() {
            self.host_id = Some(host_id);
            self.address = Some(address);
        }
        self.membership = Membership::Joined;
    }

    /// The member is about to leave the ring: noted before the call.
    pub fn begin_leave(&mut self, nonce: &Nonce, now: Timestamp) {
        self.membership = Membership::Leaving { nonce: nonce.clone() };
        self.set_intent(nonce, IntentState::Running, None, now);
    }

    /// Membership after an intent was settled.
    pub fn follow(&mut self, then: Then) {
        match then {
            Then::Unchanged => {}
            Then::Joined => self.membership = Membership::Joined,
            Then::Left => self.membership = Membership::Left,
        }
    }

    /// An operation is begun: noted before the work begins, so that no ID is begun twice.
    pub fn begin_operation(&mut self, id: &str, now: Timestamp) {
        self.set_operation(OperationStatus {
            id: id.into(),
            state: OperationState::Running,
            progress: None,
            message: None,
            started_at: Some(seconds(now)),
            finished_at: None,
        });
    }

    /// How an operation ended: a line for people either way.
    pub fn end_operation(&mut self, id: &str, outcome: Result<String, String>, now: Timestamp) {
        let (state, message) = match outcome {
            Ok(message) => (OperationState::Succeeded, message),
            Err(message) => (OperationState::Failed, message),
        };
        let started_at = self.operation(id).and_then(|o| o.started_at.clone());
        self.set_operation(OperationStatus {
            id: id.into(),
            state,
            progress: None,
            message: Some(message),
            started_at,
            finished_at: Some(seconds(now)),
        });
    }

    /// What was under way when an earlier agent ended.
    pub fn interrupt_operations(&mut self, now: Timestamp) {
        for operation in self.operations.iter_mut().filter(|o| o.state == OperationState::Running) {
            operation.state = OperationState::Interrupted;
            operation.finished_at = Some(seconds(now));
            operation.message = Some(Failed::Interrupted.to_string());
        }
    }
}
