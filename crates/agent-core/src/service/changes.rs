//! How the ledger changes with what the agent does: pure, so that whoever carries
//! the actions out (the agent on a disk, a simulator in memory) writes the same
//! history.

use super::ledger::{Ban, End, Ledger, Membership, Own};
use crate::init::protocol::Phase;
use crate::volume::seconds;
use crate::words::operation::Failed;
use jiff::Timestamp;
use palladion_api::ids::{Nonce, PodUid, StaticAddress};
use palladion_api::member::{IntentState, OperationState};
use palladion_api::service_member::{
    DataBeforeServiceStart, MemberOperationStatus, OperationAnswer, QueueNames, ServicePermitKind,
};

/// Why a server may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is a member.
    Autonomous,
    /// By permit.
    Permit {
        /// Its kind.
        kind: ServicePermitKind,
        /// Its nonce.
        nonce: Nonce,
        /// What is done with data first.
        data: DataBeforeServiceStart,
    },
}

/// How a server has ended, by the stop that was under way and by what was seen of it.
pub fn end_of<W, T>(stop: Option<W>, container: Phase, seen: Option<&T>) -> End {
    match (stop, container, seen) {
        (Some(_), _, _) | (None, Phase::Ending, _) => End::Stopped,
        (None, Phase::Serving, Some(_)) => End::Died,
        (None, Phase::Serving, None) => End::WithContainer,
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Was it made, and if not, why?
    pub answer: OperationAnswer,
    /// Queues that it left as they were, of a system that has queues.
    pub queues: Option<QueueNames>,
    /// A line for people.
    pub message: String,
}

impl<O: Own> Ledger<O> {
    /// What a start is called in the history; a permit that it needs is used up. A joiner
    /// that is started again by its own permit goes on joining.
    pub fn use_cause(&mut self, cause: &Cause, id: O::Id, address: &StaticAddress) -> String {
        match cause {
            Cause::Autonomous => "Autonomous".into(),
            Cause::Permit { kind, nonce, .. } => {
                self.use_permit(nonce);
                match kind {
                    ServicePermitKind::Initialize | ServicePermitKind::Join => {
                        self.membership = Membership::Joining { kind: *kind, nonce: nonce.clone() };
                        self.own.name(id);
                        self.address = Some(address.clone());
                        self.ban = Ban::None;
                        self.ban_pod = None;
                    }
                    // It is a member, and goes on alone.
                    ServicePermitKind::Rescue | ServicePermitKind::Unknown(_) => {}
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
        let is_joining = matches!(self.membership, Membership::Joining { .. });
        if end == End::Died && is_joining {
            self.failed_starts = self.failed_starts.saturating_add(1);
        }
        if let Some(start) = self.starts.first_mut() {
            start.end = end;
            start.record.ended_at = Some(seconds(at));
            start.record.exit_code = exit_code;
            start.record.message = message;
        }
    }

    /// The server is proven to be a full member.
    pub fn record_member(&mut self, now: Timestamp) {
        self.membership = Membership::Joined;
        self.record_served(now);
    }

    /// The server serves as a member for the first time in this start.
    pub fn record_served(&mut self, now: Timestamp) {
        if let Some(start) = self.starts.first_mut() {
            start.record.served_at.get_or_insert_with(|| seconds(now));
        }
    }

    /// The member leaves: noted before its server is stopped, so that none starts again
    /// whatever ends in between.
    pub fn begin_leave(&mut self, nonce: &Nonce, now: Timestamp) {
        self.counter = self.counter.saturating_add(1);
        self.membership = Membership::Left;
        self.set_intent(nonce, IntentState::Running, None, now);
    }

    /// No server is started on this data again. A participant has left with that.
    pub fn terminate(&mut self, pod: PodUid) {
        self.counter = self.counter.saturating_add(1);
        self.ban = Ban::Terminated;
        self.ban_pod = Some(pod);
        if self.membership == Membership::Joined {
            self.membership = Membership::Left;
        }
    }

    /// An operation is begun: noted before the work begins, so that no ID is begun twice.
    pub fn begin_operation(&mut self, id: &str) {
        self.counter = self.counter.saturating_add(1);
        self.set_operation(MemberOperationStatus {
            id: id.into(),
            state: OperationState::Running,
            answer: None,
            queues: None,
            message: None,
            finished_at: None,
        });
    }

    /// How an operation ended.
    pub fn end_operation(&mut self, id: &str, outcome: &Outcome, now: Timestamp) {
        let state = match outcome.answer {
            OperationAnswer::Made => OperationState::Succeeded,
            OperationAnswer::BadVersion
            | OperationAnswer::NewConfigNoQuorum
            | OperationAnswer::ReconfigInProgress
            | OperationAnswer::Other
            | OperationAnswer::Unknown => OperationState::Failed,
            // Only what is read afterwards tells whether it was made.
            OperationAnswer::NoAnswer => OperationState::Interrupted,
        };
        self.set_operation(MemberOperationStatus {
            id: id.into(),
            state,
            answer: Some(outcome.answer),
            queues: outcome.queues.clone(),
            message: Some(outcome.message.clone()),
            finished_at: Some(seconds(now)),
        });
    }

    /// What was under way when an earlier agent ended. Nobody has heard the answer.
    pub fn interrupt_operations(&mut self, now: Timestamp) {
        for operation in self.operations.iter_mut().filter(|o| o.state == OperationState::Running) {
            operation.state = OperationState::Interrupted;
            operation.answer = Some(OperationAnswer::NoAnswer);
            operation.finished_at = Some(seconds(now));
            operation.message = Some(Failed::Interrupted.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Named;
    use super::*;

    fn permit(kind: ServicePermitKind, nonce: &'static str) -> Cause {
        let data = DataBeforeServiceStart::MustBeEmpty;
        Cause::Permit { kind, nonce: nonce.into(), data }
    }

    fn ledger() -> Ledger<Named> {
        Ledger::new("v1".into(), None)
    }

    #[test]
    fn a_start_by_permit_uses_it_up_and_names_the_server() {
        let mut ledger = ledger();
        let (name, address) = ("a".to_string(), "10.96.0.13".into());
        let join = permit(ServicePermitKind::Join, "n1");
        let cause = ledger.use_cause(&join, name.clone(), &address);
        ledger.set_permit(&"n2".into(), palladion_api::member::PermitState::Refused, None);
        assert!(ledger.has_used(&"n1".into()), "also when another one came after it");
        assert_eq!((cause.as_str(), ledger.own.name.as_ref()), ("Join", Some(&name)));
        assert_eq!(ledger.address, Some(address));
    }

    #[test]
    fn every_start_and_every_turn_is_counted() {
        let mut ledger = ledger();
        let now = Timestamp::UNIX_EPOCH;
        ledger.begin_start("t1", "Join", now);
        ledger.begin_start("t2", "Autonomous", now);
        ledger.begin_operation("o1");
        ledger.begin_leave(&"n".into(), now);
        assert_eq!(ledger.counter, 4);
    }

    #[test]
    fn a_member_that_is_terminated_has_left_and_a_volume_without_data_has_not() {
        let after = |membership| {
            let mut ledger = Ledger { membership, ..ledger() };
            ledger.terminate("p1".into());
            assert_eq!(ledger.ban, Ban::Terminated);
            ledger.membership
        };
        assert_eq!(after(Membership::Joined), Membership::Left);
        assert_eq!(after(Membership::Empty), Membership::Empty);
    }

    #[test]
    fn an_answer_that_nobody_heard_is_no_failure() {
        let mut ledger = ledger();
        ledger.begin_operation("o1");
        ledger.interrupt_operations(Timestamp::UNIX_EPOCH);
        let operation = ledger.operation("o1").unwrap();
        assert_eq!(operation.state, OperationState::Interrupted);
        assert_eq!(operation.answer, Some(OperationAnswer::NoAnswer));
    }
}
