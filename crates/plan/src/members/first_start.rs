//! A first server that does not start. Before it has served nobody has anything of it, and what may
//! have served its agent never begins anew, whatever a permit says: so another try does no harm,
//! however many there were. Nothing else can be done in the service meanwhile, so that the turn is
//! kept, the pauses get longer, and it is said what a person may do.

use super::spec::ServiceSpec;
use super::turn::TRIES;
use super::{Draft, MemberFact, ServiceFacts, survey};
use crate::turn as lock;
use crate::words::initialize::{Problem, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::service::ServiceTurn;

/// Before there is a service, nobody remembers a failed start.
const RETRY: SignedDuration = SignedDuration::from_secs(10);
/// After so many tries as any permit has. What passes by itself, as slow storage does, may take
/// longer, and each try is three starts.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);
/// Nobody who has corrected the cause waits longer than this.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing, for a while.
    Pause,
    /// Another try.
    Again(Box<ServiceTurn>),
    /// The survey of all volumes, which finds something else now.
    Survey,
}

/// After a start that failed.
pub fn after_failure(
    facts: &ServiceFacts<'_>,
    spec: &ServiceSpec,
    turn: &ServiceTurn,
    member: &MemberFact,
    draft: &mut Draft,
) -> Next {
    let at = turn.since.0 + pause(turn.attempt);
    let is_late = turn.attempt >= TRIES;
    if facts.now() >= at {
        if is_late {
            report(turn.attempt, member, draft);
        }
        // Since all volumes were looked at, somebody may have brought older ones.
        return match is_late && !survey::goes_on_with(facts, spec, member) {
            true => Next::Survey,
            false => Next::Again(Box::new(again(facts, turn, turn.attempt))),
        };
    }
    if is_late {
        let (namespace, server) = (namespace(facts), member.server_words());
        draft.report(Problem::Failed { member: member.name.clone(), server, at, namespace });
    }
    wait(member, at, draft);
    Next::Pause
}

/// After the agent has refused the permit. What it refuses may be what the survey of all volumes
/// asks a person about.
pub fn after_refusal(
    facts: &ServiceFacts<'_>,
    spec: &ServiceSpec,
    (turn, why): (&ServiceTurn, String),
    member: &MemberFact,
    draft: &mut Draft,
) -> Next {
    if !survey::goes_on_with(facts, spec, member) {
        return Next::Survey;
    }
    // It is not by chance that an agent refuses: it is said at once, and has the longer pauses.
    let attempt = turn.attempt.max(TRIES);
    let at = turn.since.0 + pause(attempt);
    if facts.now() >= at {
        report(attempt, member, draft);
        return Next::Again(Box::new(again(facts, turn, attempt)));
    }
    let namespace = namespace(facts);
    draft.report(Problem::Refused { member: member.name.clone(), why, at, namespace });
    wait(member, at, draft);
    Next::Pause
}

/// Say while it is tried once more, and before it has its permit for that, that it has failed so
/// often.
pub fn report_tries(turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let tries = turn.attempt.saturating_sub(1);
    if tries >= TRIES {
        report(tries, member, draft);
    }
}

fn report(tries: u32, member: &MemberFact, draft: &mut Draft) {
    let (member, server) = (member.name.clone(), member.server_words());
    draft.report(Problem::TriedAgain { member, tries, server });
}

fn wait(member: &MemberFact, at: Timestamp, draft: &mut Draft) {
    let waiting = Waiting::Serving { member: member.name.clone(), server: member.server_words() };
    draft.wait_for(waiting).about(member.subject()).until(at);
}

fn namespace(facts: &ServiceFacts<'_>) -> String {
    facts.snapshot.owner.meta.namespace.clone()
}

/// The turn once more, after so many tries. Nobody is asked anything.
fn again(facts: &ServiceFacts<'_>, turn: &ServiceTurn, tries: u32) -> ServiceTurn {
    let next = lock::again(facts.snapshot, turn);
    ServiceTurn { attempt: tries.saturating_add(1), question: None, ..next }
}

/// From the beginning of a try to the next, after so many.
fn pause(tries: u32) -> SignedDuration {
    match tries.checked_sub(TRIES) {
        None => RETRY,
        Some(more) => (FIRST_PAUSE * 2_i32.pow(more.min(4))).min(LONGEST_PAUSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tries_follow_each_other_and_the_pauses_after_that_get_longer_up_to_a_limit() {
        let seconds = [1, 2, 3, 4, 5, 6, 7, 99].map(|tries| pause(tries).as_secs());
        assert_eq!(seconds, [10, 10, 60, 120, 240, 480, 600, 600]);
    }
}
