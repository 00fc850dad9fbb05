//! A leave that waits for a user: the turn is free for others, and what was asked stays in
//! the status until the nodes are asked again.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::leave::Waiting;
use jiff::{SignedDuration, Timestamp};
use palladion_api::labels;
use palladion_api::reasons::Reason;
use palladion_api::service::{Ask, AskKind};
use palladion_plan::words::Message;
use palladion_plan::{Flow, Trouble};

/// Each look costs every node a second of a processor. A user who has moved the messages
/// waits no longer than this.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// Say again what a user is asked about this leave. Busy while there is nothing new to ask
/// the nodes for.
pub fn wait(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let Some((ask, again)) = standing(facts).filter(|_| may_be_about(facts, member)) else {
        return Flow::Free;
    };
    let (reason, message) = (Reason::QueuesWouldBeLost, Message::quoted(&ask.message));
    draft.troubles.push(Trouble { reason, message });
    draft.more.ask = Some(ask.clone());
    let given = facts.snapshot.owner.meta.annotations.get(labels::ALLOW_FORGET);
    let is_allowed = given.is_some_and(|given| given == ask.nonce.as_str());
    if is_allowed || facts.now() >= again {
        return Flow::Free;
    }
    let waiting = Waiting::ForUser { member: member.name.clone() };
    draft.wait_for(waiting).about(member.subject()).until(again);
    Flow::Busy
}

/// May the question be about this one? By its last answer it has a classic queue, or that is not
/// known.
fn may_be_about(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let answer = member.status.evidence.as_ref();
    let queues = answer.and_then(|answer| answer.queues.as_ref());
    queues.is_none_or(|queues| !queues.on(&facts.node_of(member)).classic.is_empty())
}

/// What was asked under the spec as it is now, and when the nodes are asked again. Their
/// last answer counts from now at the latest, whatever clocks agents have.
fn standing<'a>(facts: &'a Facts<'_>) -> Option<(&'a Ask, Timestamp)> {
    let is_of_this_spec =
        facts.status.observed_generation == Some(facts.snapshot.owner.meta.generation);
    let ask = facts.status.ask.as_ref().filter(|ask| ask.kind == AskKind::Forget)?;
    let answers = facts.members.values().filter_map(|m| m.status.evidence.as_ref());
    let last = answers.map(|evidence| evidence.read_at.0).max()?;
    is_of_this_spec.then(|| (ask, last.min(facts.now()) + LOOK_AGAIN))
}
