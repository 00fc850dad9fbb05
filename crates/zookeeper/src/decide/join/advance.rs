//! The turn of a joiner: from the permit to its vote.

use super::old_data;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::change::{self, Goal};
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course, Permit, TRIES};
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::join::{Doing, Happened, Waiting};
use crate::words::turn::Ended;
use jiff::SignedDuration;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{DataBeforeServiceStart, Peer};
use palladion_plan::members::{late, turn as shared};
use palladion_plan::proof::ProofKind;
use palladion_plan::{Event, turn};

/// A joiner leaves no trace with the others that a second try would meet.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    let is_wanted = member.ordinal < valid.size;
    if !is_wanted && !is_begun(facts, turn) {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    }
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, turn, member, draft),
        // A new pod needs a permit of its own.
        Course::PodEnded => again(facts, turn, member, draft),
        Course::Open => join(facts, turn, member, draft),
        Course::Done => finish(facts, turn, member, draft),
        Course::Failed if turn.attempt < TRIES => retry(facts, turn, member, draft),
        Course::Failed if lock::votes(facts, turn) => {
            end(facts, turn, Ended::InConfiguration, draft);
        }
        Course::Failed => {
            end(facts, turn, Ended::Failed { server: member.server_words() }, draft);
        }
        Course::Refused(why) => end(facts, turn, Ended::AgentRefused { why }, draft),
    }
}

/// Does its server vote, or may somebody be at letting it? From then on nobody stops it. What it
/// was permitted to before leaves no trace with the others.
pub fn is_begun(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    lock::votes(facts, turn) || change::is_ordered(facts, turn)
}

/// End the turn, and leave the permit where it is: it says what came of it.
fn end(facts: &Facts<'_>, turn: &ServiceTurn, why: Ended, draft: &mut Draft) {
    draft.steps.push(shared::end(facts, turn, why));
}

fn before_permit(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    match permit::keeps_volume(turn, member) {
        // Others may go on meanwhile.
        None if !is_begun(facts, turn) => {
            return lock::release(facts, turn, Ended::PodGone, draft);
        }
        None => {
            let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
            let until = change::open_until(facts, turn);
            draft.wait_for(waiting).about(member.subject()).until = until;
            return;
        }
        Some(false) => return lock::release(facts, turn, Ended::OtherVolume, draft),
        Some(true) if !is_begun(facts, turn) && late::until(facts, member).is_some() => {
            // The permit went, and the operator ended before the turn did.
            return late::end_postponed(facts, turn, member, draft);
        }
        Some(true) => {}
    }
    let Some(address) = member.service().and_then(|s| s.address.as_ref()) else {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    };
    // It votes already: without it the others may be no majority, and nobody answers.
    let known = facts.configuration().filter(|_| lock::votes(facts, turn));
    if let Some((configuration, proof)) =
        known.and_then(|c| Some((c, evidence::keeps_its_data(facts, turn, member)?)))
    {
        let data = DataBeforeServiceStart::Keep;
        let peers = permit::peers(&configuration, turn);
        let permit = Permit { turn, member, address, peers, data, proof: &proof };
        return permit::give(facts, &permit, draft);
    }
    let question = Question::about(member).without(turn.server_id);
    if old_data::on_volume(member).is_some() {
        return leave_old_data(facts, turn, member, &question, draft);
    }
    let proven = evidence::prove(facts, turn, &question, ProofKind::AllWell, draft);
    let Some(agreed) = proven else { return };
    let votes = turn.server_id.is_some_and(|id| agreed.configuration.server(id).is_some());
    let data = match votes {
        true => DataBeforeServiceStart::Keep,
        false => permit::data_before_join(member),
    };
    let peers = permit::peers(&agreed.configuration, turn);
    let permit = Permit { turn, member, address, peers, data, proof: &agreed.proof };
    permit::give(facts, &permit, draft);
}

/// What an old server has left on the volume is given up, once the ensemble has agreed on a
/// configuration without it.
fn leave_old_data(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    question: &Question<'_>,
    draft: &mut Draft,
) {
    if old_data::is_to_be_noted(member) {
        let (name, server) = (member.name.clone(), member.server_words());
        draft.wait_for(Waiting::Starting { member: name, server }).about(member.subject());
        return;
    }
    let proven = evidence::prove(facts, turn, question, ProofKind::Gone, draft);
    let Some(agreed) = proven else { return };
    // The user has thought again, or it votes.
    let is_unknown = old_data::is_unknown(facts, member, &agreed.configuration);
    if old_data::off_record(member).is_some() || !is_unknown {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    }
    old_data::leave(facts, turn, member, &agreed, draft);
}

/// It was started: once it follows, it is made to vote.
fn join(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let (name, server) = (member.name.clone(), member.server_words());
    // What one on a dead machine said last is no answer.
    let answers = member.agent_answers(&facts.nodes);
    let follows = answers && member.view().is_some_and(|v| v.mode.is_some());
    let (Some(id), Some(address)) = (turn.server_id, member.address()) else {
        return lock::release(facts, turn, Ended::NoServerId, draft);
    };
    if !follows {
        return starting(facts, turn, member, draft);
    }
    let question = Question { joiner: Some(member), ..Question::about(member) };
    let add = vec![Peer { server_id: id, address: address.clone() }];
    let goal = Goal { add, remove: Vec::new() };
    let made = change::bring(facts, turn, &question, ProofKind::AllWell, &goal, draft);
    if made.is_some() {
        draft.wait_for(Waiting::Completing { member: name, server }).about(member.subject());
    }
}

/// Its server is starting, or its agent waits before that, and has a while for it as long as it
/// does not vote: from then on it counts, and nobody stops it.
fn starting(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    late::report(facts, member, draft);
    if is_begun(facts, turn) {
        return wait(member, draft);
    }
    // Others may go on meanwhile.
    if late::is_going_with_its_machine(facts, member) {
        return lock::release(facts, turn, Ended::PodGone, draft);
    }
    let deadline = late::deadline(facts, turn, member);
    if facts.now() >= deadline {
        return late::postpone(facts, turn, member, draft);
    }
    wait(member, draft);
    draft.wake_at(deadline);
}

fn wait(member: &MemberFact, draft: &mut Draft) {
    let (name, server) = (member.name.clone(), member.server_words());
    draft.wait_for(Waiting::Starting { member: name, server }).about(member.subject());
}

fn finish(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let done = late::forget(facts, member).or_else(|| permit::withdraw(facts, member));
    draft.steps.extend(done);
    let name = member.name.clone();
    let joined = turn.server_id.map(|id| Event::normal(Happened::Joined { member: name, id }));
    draft.steps.push(lock::finish(facts, turn, joined));
}

fn retry(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let at = turn.since.0 + RETRY;
    if facts.now() < at {
        let waiting = Waiting::Retry { member: member.name.clone(), at };
        draft.wait_for(waiting).about(member.subject()).until(at);
        return;
    }
    again(facts, turn, member, draft);
}

fn again(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let next = turn::again(facts.snapshot, turn);
    draft.steps.push(lock::write(facts, &next, Doing::Again { member: member.name.clone() }));
}
