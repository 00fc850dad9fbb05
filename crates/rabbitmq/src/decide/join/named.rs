//! Who cannot join because a queue names its node: that is for a person, the turn is free for
//! others, and what was answered counts for some minutes before all are asked again.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::join::{Problem, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::{NodeQueues, QueueNames};
use palladion_plan::Flow;

/// A turn waits so long itself: a node that hears late of a queue's end names it for seconds.
const PATIENCE: SignedDuration = SignedDuration::from_mins(1);
/// Each look costs every node a second of a processor. Whatever is done meanwhile asks as well,
/// and by that answer the member goes at once.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// Say what a person has to do about it.
pub(super) fn report(
    facts: &Facts<'_>,
    member: &MemberFact,
    on_it: &NodeQueues,
    draft: &mut Draft,
) {
    let (member, node) = (member.name.clone(), facts.node_of(member));
    draft.report(Problem::QueueNamesNode { member, node, queues: most(on_it).into() });
}

/// Waiting for that.
pub(super) fn waiting(facts: &Facts<'_>, member: &MemberFact) -> Waiting {
    Waiting::ForName { member: member.name.clone(), node: facts.node_of(member) }
}

/// Has its join waited for long enough? A replacement goes on: nothing else may change the
/// cluster before it.
pub(super) fn gives_way(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    turn.step == ServiceStep::Join && facts.now() >= turn.since.0 + PATIENCE
}

/// Busy with nothing, while what was answered lately counts.
pub(super) fn wait(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let Some((on_it, again)) = lately(facts, member) else {
        return Flow::Free;
    };
    report(facts, member, &on_it, draft);
    draft.wait_for(waiting(facts, member)).about(member.subject()).until(again);
    Flow::Busy
}

/// What is on its node by the last answers of others, and until when that counts.
fn lately(facts: &Facts<'_>, member: &MemberFact) -> Option<(NodeQueues, Timestamp)> {
    let node = facts.node_of(member);
    let others = facts.members.values().filter(|m| m.name != member.name && m.serves);
    let answers = others.filter_map(|m| m.status.evidence.as_ref());
    let last = answers.max_by_key(|evidence| evidence.read_at.0)?;
    let on_it = last.queues.as_ref()?.on(&node);
    // From now at the latest, whatever clock that agent has.
    let again = last.read_at.0.min(facts.now()) + LOOK_AGAIN;
    (!on_it.is_empty() && facts.now() < again).then_some((on_it, again))
}

fn most(on_it: &NodeQueues) -> &QueueNames {
    let (replicas, streams) = (&on_it.replicas, &on_it.streams);
    let larger = if streams.count > replicas.count { streams } else { replicas };
    if on_it.classic.count > larger.count { &on_it.classic } else { larger }
}
