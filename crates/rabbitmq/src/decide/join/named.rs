//! Who cannot join because a queue names its node: that is for a person, the turn is free for
//! others, and what was answered counts for some minutes before all are asked again.

use crate::decide::draft::Draft;
use crate::decide::turn::postponed;
use crate::facts::{Facts, MemberFact};
use crate::words::join::{Problem, Waiting};
use jiff::Timestamp;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::{NodeQueues, QueueNames};
use palladion_plan::Flow;

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
    turn.step == ServiceStep::Join && postponed::has_waited(facts, turn)
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

/// What is on its node by the last answers of others, and until when its join is postponed for
/// that.
fn lately(facts: &Facts<'_>, member: &MemberFact) -> Option<(NodeQueues, Timestamp)> {
    let (node, again) = (facts.node_of(member), postponed::until(facts, &member.name)?);
    let others = facts.members.values().filter(|m| m.name != member.name && m.serves);
    let answers =
        others.filter_map(|m| Some(m.status.evidence.as_ref()?.queues.as_ref()?.on(&node)));
    Some((answers.into_iter().find(|on_it| !on_it.is_empty())?, again))
}

fn most(on_it: &NodeQueues) -> &QueueNames {
    let (replicas, streams) = (&on_it.replicas, &on_it.streams);
    let larger = if streams.count > replicas.count { streams } else { replicas };
    if on_it.classic.count > larger.count { &on_it.classic } else { larger }
}
