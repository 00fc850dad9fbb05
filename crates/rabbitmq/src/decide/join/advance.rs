//! The turn of a joiner: from the permit to its replicas.

use super::{finish, named, next, old_data, without_data};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Question};
use crate::decide::turn::order::{self, Job};
use crate::decide::turn::permit::{self, Course, Permit, TRIES};
use crate::decide::turn::{lock, yet_to_grow};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::join::{Doing, Happened, Waiting};
use crate::words::turn::Ended;
use jiff::SignedDuration;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::ForgetQueues;
use palladion_plan::members::{late, turn as shared};
use palladion_plan::proof::ProofKind;
use palladion_plan::{Event, turn};

/// From a start that failed to the next.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    let course = permit::course(facts, turn, member);
    let is_wanted = member.ordinal < valid.size;
    let is_free = !facts.is_named(member) && !next::is_awaited(facts, member);
    if !is_wanted && course != Course::Done && is_free {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    }
    match course {
        Course::NotGiven => before_permit(facts, turn, member, draft),
        // A new pod needs a permit of its own.
        Course::PodEnded => again(facts, turn, member, draft),
        Course::Open => starting(facts, turn, member, draft),
        Course::Done => finish(facts, turn, member, draft),
        Course::Failed if turn.attempt < TRIES => retry(facts, turn, member, draft),
        Course::Failed => {
            let why = Ended::Failed { server: member.server_words() };
            draft.steps.push(shared::end(facts, turn, why));
        }
        Course::Refused(_) if goes_on(member) => starting(facts, turn, member, draft),
        Course::Refused(why) => {
            draft.steps.push(shared::end(facts, turn, Ended::AgentRefused { why }));
        }
    }
}

/// Has it its permit, or do the others name it, or wait for it? What it has yet to take when it
/// has joined is on record, and asks for answers of all.
pub fn is_begun(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let Some(member) = facts.members.get(&turn.member) else { return false };
    if order::is_under_way(facts, turn) {
        return true;
    }
    if next::gives_way(facts, member) {
        return false;
    }
    match permit::course(facts, turn, member) {
        Course::Done => false,
        Course::NotGiven => {
            goes_on(member) || facts.is_named(member) || next::is_awaited(facts, member)
        }
        Course::PodEnded | Course::Open | Course::Failed | Course::Refused(_) => true,
    }
}

/// Does its node run already, by the permit that an earlier pod had? The agent saves it, as
/// nobody may be there to be asked: it needs no other.
pub fn goes_on(member: &MemberFact) -> bool {
    member.server().is_some_and(|server| server.state.may_run())
}

/// Its node is starting, or its agent waits before that, and has a while for it as long as the
/// others do not name it: from then on it counts, and nobody stops it.
fn starting(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    if without_data::is_so(facts, member) {
        return without_data::forget(facts, turn, member, draft);
    }
    late::report(facts, member, draft);
    if facts.is_named(member) || is_waited_for(facts, member) {
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

/// Is there nobody who could say whether it is named? Of two nodes the first one may wait for it,
/// and for what it has. Where it may be another one, each has its time.
fn is_waited_for(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let serves_another = facts.views().any(|(other, _)| other.name != member.name);
    !serves_another && !next::is_one_of_several(facts, member)
}

fn wait(member: &MemberFact, draft: &mut Draft) {
    let (name, server) = (member.name.clone(), member.server_words());
    draft.wait_for(Waiting::Starting { member: name, server }).about(member.subject());
}

fn before_permit(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    match permit::keeps_volume(turn, member) {
        // Others may go on meanwhile.
        None if !facts.is_named(member) => {
            return lock::release(facts, turn, Ended::PodGone, draft);
        }
        None => {
            let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
            draft.wait_for(waiting).about(member.subject());
            return;
        }
        Some(false) => return lock::release(facts, turn, Ended::OtherVolume, draft),
        Some(true) if !next::is_awaited(facts, member) && late::until(facts, member).is_some() => {
            // The permit went, and the operator ended before the turn did.
            return late::end_postponed(facts, turn, member, draft);
        }
        Some(true) if goes_on(member) => return starting(facts, turn, member, draft),
        Some(true) => {}
    }
    if permit::give_again(facts, turn, member, draft).is_busy() {
        return;
    }
    let question = Question::about(member).without([facts.node_of(member)]);
    match old_data::on_volume(member) {
        None => {
            let _ = permitted(facts, turn, member, &question, ProofKind::AllWell, draft);
        }
        Some(_) => leave_old_data(facts, turn, member, &question, draft),
    }
}

/// What an old node has left on the volume is given up, once nobody knows that node.
fn leave_old_data(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    question: &Question<'_>,
    draft: &mut Draft,
) {
    if old_data::is_to_be_noted(member) {
        return wait(member, draft);
    }
    // The user has thought again.
    if old_data::off_record(facts, member).is_some() {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    }
    if order::is_open(facts, turn, question, draft) {
        return;
    }
    let prove = |kind, draft: &mut Draft| evidence::prove(facts, turn, question, kind, draft);
    let Some(agreed) = prove(ProofKind::AllWell, draft) else { return };
    if !is_unknown(facts, turn, (member, question), &agreed, draft) {
        return;
    }
    // The same answers: nobody names its node.
    if let Some(gone) = prove(ProofKind::Gone, draft) {
        old_data::leave(facts, turn, member, &gone, draft);
    }
}

/// Give the permit to join, once nobody and no queue knows the name of the node: an empty
/// node under a name that a queue knows would vote for data that it does not have. True
/// when it was given.
pub fn permitted(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    question: &Question<'_>,
    kind: ProofKind,
    draft: &mut Draft,
) -> bool {
    if order::is_open(facts, turn, question, draft) {
        return false;
    }
    let Some(agreed) = evidence::prove(facts, turn, question, kind, draft) else {
        return false;
    };
    if !is_unknown(facts, turn, (member, question), &agreed, draft) {
        return false;
    }
    let own = facts.node_of(member);
    let (nodes, flags) = permit::of_cluster(&agreed, &own);
    let data = permit::data_before_join(member);
    let permit = Permit { turn, member, nodes, flags, data, proof: &agreed.proof };
    permit::give(facts, &permit, draft);
    true
}

/// Do neither the others nor a queue name its node? A node that they name is forgotten
/// first, and a queue that does is left to a person.
fn is_unknown(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    (member, question): (&MemberFact, &Question<'_>),
    agreed: &Agreed,
    draft: &mut Draft,
) -> bool {
    let own = facts.node_of(member);
    let on_it = agreed.on(&own);
    if !on_it.is_empty() {
        named::report(facts, member, &on_it, draft);
        match named::gives_way(facts, turn) {
            true => lock::postpone(facts, turn, Ended::QueueNamesNode, draft),
            false => {
                let waiting = named::waiting(facts, member);
                evidence::look_again(facts, turn, question, waiting, draft);
            }
        }
        return false;
    }
    if agreed.names(&own) {
        let job = Job::Forget(own.clone(), ForgetQueues::MustNotName);
        let executor = order::executor(facts, turn, agreed, &own);
        let step = executor.and_then(|e| order::give(facts, turn, e, &job, &agreed.proof));
        draft.steps.extend(step);
        return false;
    }
    true
}

fn finish(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let name = || member.name.clone();
    if finish::complete(facts, turn, member, draft).is_none() {
        return;
    }
    // Of one that only took replicas again there is nothing to announce: it had no permit.
    let permit = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    let event = permit.map(|_| Event::normal(Happened::Joined { member: name() }));
    draft.steps.extend(yet_to_grow::forget(facts, member));
    draft.steps.push(lock::finish(facts, turn, finish::announced(member, event)));
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
