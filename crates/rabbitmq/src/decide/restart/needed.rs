//! Who cannot be restarted because queues need its node: its turn is free for others, and what
//! its own agent has answered counts for some minutes before all are asked again.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::restart::Waiting;
use jiff::{SignedDuration, Timestamp};
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::QueueNames;

/// A turn waits so long itself: a leader that is being elected, or a replica that is being
/// added, makes a queue need a node for seconds.
const PATIENCE: SignedDuration = SignedDuration::from_mins(1);
/// Each look costs every node a second of a processor. Whatever is done meanwhile asks as well,
/// and by that answer the member goes at once.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// Has the turn waited for queues for long enough?
pub(super) fn has_waited(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    facts.now() >= turn.since.0 + PATIENCE
}

/// The queues that need its node by what it has answered last, and until when that counts. One
/// that does not serve keeps everybody from changing anything: it is asked for all the time.
pub(super) fn lately<'a>(
    facts: &Facts<'_>,
    member: &'a MemberFact,
) -> Option<(&'a QueueNames, Timestamp)> {
    // A spec that has changed since is a new question.
    let generation = facts.snapshot.owner.meta.generation;
    let is_of_this_spec = facts.status.observed_generation == Some(generation);
    let answers = member.status.evidence.as_ref().filter(|_| member.serves && is_of_this_spec);
    let evidence = answers?;
    let queues = &evidence.queues.as_ref()?.critical;
    // From now at the latest, whatever clock its agent has.
    let again = evidence.read_at.0.min(facts.now()) + LOOK_AGAIN;
    (!queues.is_empty() && facts.now() < again).then_some((queues, again))
}

/// Say what this one waits for.
pub(super) fn wait(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) {
    if let Some((queues, again)) = lately(facts, member) {
        let waiting = Waiting::ForQueues { member: member.name.clone(), queues: queues.into() };
        draft.wait_for(waiting).about(member.subject()).until(again);
    }
}
