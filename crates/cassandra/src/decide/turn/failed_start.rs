//! Starts that failed: when no more are tried in a pod, and what failed.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::join;
use crate::words::turn::{FailedStart, LastMessage, Problem};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::Turn;
use palladion_api::member::PermitState;
use palladion_api::reasons::Reason;

/// Tries per pod before the turn is released for others.
pub const TRIES: u32 = 3;

/// Has this pod used up its tries, or has its agent refused? A new pod (or a
/// new spec) tries again.
pub fn has_failed_for_good(member: &MemberFact) -> bool {
    let Some(start) = member.spec.as_ref().and_then(|s| s.start.as_ref()) else {
        return false;
    };
    let of_this_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == start.nonce);
    of_this_pod
        && match answer.map(|p| p.state) {
            Some(PermitState::Failed) => start.attempt >= TRIES,
            Some(PermitState::Refused) => true,
            None
            | Some(
                PermitState::Used
                | PermitState::Done
                | PermitState::Withdrawn
                | PermitState::Unknown,
            ) => false,
        }
}

/// When it is tried again, this long after the last try of this turn ended, or
/// began where its end is not on record.
pub fn again(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    delay: SignedDuration,
) -> Timestamp {
    let last = member.status.start_history.first();
    let ended = last.and_then(|s| s.ended_at.as_ref()).map_or(turn.since.0, |t| t.0);
    facts.again(ended, Some(turn.since.0), delay)
}

/// The last failed start of a member, under the reason that its agent reports.
pub fn problem(member: &MemberFact) -> Problem {
    let failed = failed(member);
    let reported = member.status.server.as_ref().and_then(|s| s.reason.as_deref());
    match reported {
        Some(r) if r == Reason::ConfigurationRefused.as_str() => {
            Problem::ConfigurationRefused { failed }
        }
        Some(r) if r == Reason::NotEnoughMemory.as_str() => Problem::NotEnoughMemory { failed },
        Some(_) | None => Problem::Other { failed },
    }
}

/// Report a member whose start is not tried again. A cause that is known goes
/// before the fact: whoever corrects the spec gets another pod by that.
pub fn report_for_good(member: &MemberFact, draft: &mut Draft) {
    match problem(member) {
        known @ (Problem::ConfigurationRefused { .. } | Problem::NotEnoughMemory { .. }) => {
            draft.report(known)
        }
        Problem::Other { failed } => draft.report(join::Problem::Failed { failed }),
    }
}

/// The last failure of a member, in the server's own words.
pub fn failed(member: &MemberFact) -> FailedStart {
    let record = member.status.start_history.first();
    let said = member.status.server.as_ref().and_then(|s| s.message.clone());
    if let Some(message) = said.clone().filter(|_| is_refused(member)) {
        return FailedStart::Refused { member: member.name.clone(), message };
    }
    let message = match said.or_else(|| record.and_then(|r| r.message.clone())) {
        Some(message) => LastMessage::Said { message },
        None => LastMessage::Nothing,
    };
    let member = member.name.clone();
    match record.and_then(|r| r.exit_code) {
        Some(code) => FailedStart::Exited { member, code, message },
        None => FailedStart::Unknown { member, message },
    }
}

/// Was no server started, because the agent refused the permit?
fn is_refused(member: &MemberFact) -> bool {
    let start = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let answer =
        member.status.permit.as_ref().filter(|p| start.is_some_and(|s| s.nonce == p.nonce));
    answer.is_some_and(|p| p.state == PermitState::Refused)
}
