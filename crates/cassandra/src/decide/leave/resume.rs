//! A leaver whose server ended in the middle. Killed while it streams it is
//! still a member and may come back to leave again; killed after the others
//! took its leave it would bootstrap itself back into the ring, so it is never
//! started: only the others can tell which (safety rule 2.7).

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven, absence, marks};
use crate::decide::leave::{delivered, steps};
use crate::decide::turn::lock;
use crate::decide::turn::permit;
use crate::facts::leaver::{could_not_come_back, elsewhere, is_interrupted, is_too_old};
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::departure::Problem::LastInterrupted;
use crate::words::leave::{Doing, Ended, Happened, Problem, Waiting};
use crate::words::turn;
use palladion_api::cluster::{Replaced, Turn, TurnStep};
use palladion_api::member::{PermitKind, PermitState, StartPermit};
use palladion_plan::{Event, Flow, Step, Trouble};

/// Starts that this pod may fail at; then a new pod or a new spec tries again.
const TRIES: usize = 3;

fn has_failed_for_good(member: &MemberFact) -> bool {
    let failed = member.status.start_history.iter();
    let failed = failed.take_while(|s| s.cause == "ResumeLeave" && s.normal_at.is_none());
    let is_of_pod = permit_of_pod(member).is_some();
    is_of_pod && could_not_come_back(member) && failed.count() >= TRIES
}

/// The permit to come back and leave again that this pod has got.
fn permit_of_pod(member: &MemberFact) -> Option<&StartPermit> {
    let (start, pod) = (member.spec.as_ref()?.start.as_ref()?, member.pod.as_ref()?);
    (start.kind == PermitKind::ResumeLeave && start.pod_uid == pod.uid).then_some(start)
}

/// What the agent of this pod has said instead of starting the server: it would say so again.
fn refused(member: &MemberFact) -> Option<String> {
    let start = permit_of_pod(member)?;
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == start.nonce)?;
    let is_refused = answer.state == PermitState::Refused;
    is_refused.then(|| answer.message.clone().unwrap_or_default())
}

/// The first leaver that was interrupted gets the turn before anybody else:
/// the ring is not whole while it is away.
pub fn next(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let is_open = |m: &&MemberFact| is_interrupted(m) && marks::of(m).is_none();
    // Who may not come back is asked about only where the others seem to have let it go.
    let has_left = |m: &MemberFact| absence::has_left(facts, m);
    for member in facts.members.values().filter(is_open).filter(|m| !has_left(m)) {
        draft.troubles.extend(in_the_way(member).map(Trouble::of));
    }
    let may_end = |m: &MemberFact| has_left(m) || !is_too_old(m) && in_the_way(m).is_none();
    let mut open = facts.members.values().filter(is_open);
    let Some(member) = open.find(|m| !has_failed_for_good(m) && may_end(m)) else {
        return Flow::Free;
    };
    let Some(volume) = member.volume() else {
        return Flow::Free;
    };
    let turn = lock::new(facts, &member.name, &volume.volume_id, TurnStep::ResumeLeave, 1);
    let doing = Doing::FindOut { member: member.name.clone() };
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}

/// It would come back where the ring does not know it, or its agent does not start it. What
/// to do about that is for a person to say.
fn in_the_way(member: &MemberFact) -> Option<Problem> {
    let name = member.name.clone();
    if let Some((before, now)) = elsewhere(member) {
        let (before, now) = (before.clone(), now.clone());
        return Some(Problem::Elsewhere { member: name, before, now });
    }
    Some(Problem::AgentRefused { member: name, why: refused(member)? })
}

/// Go on with a ResumeLeave turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return steps::end(facts, turn, turn::Ended::MemberGone, None, draft);
    };
    if member.is_gone() {
        return steps::end(facts, turn, Ended::HasLeft, None, draft);
    }
    if marks::of(member).is_some() {
        return steps::end(facts, turn, Ended::Marked, None, draft);
    }
    let granted =
        member.spec.as_ref().and_then(|s| s.start.as_ref()).filter(|s| s.nonce == turn.nonce);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    match (granted, answer.map(|a| a.state)) {
        (_, Some(PermitState::Done)) => {
            steps::end(facts, turn, Ended::RunsAgain, None, draft);
        }
        (Some(_), Some(PermitState::Failed | PermitState::Refused | PermitState::Withdrawn)) => {
            let why = answer.and_then(|a| a.message.clone()).unwrap_or_default();
            if let Some(removal) = removal(facts, turn, member, &why) {
                draft.steps.push(removal);
                return;
            }
            steps::end(facts, turn, Ended::CouldNotStart { why }, None, draft);
        }
        (Some(start), None | Some(PermitState::Used | PermitState::Unknown)) => {
            if member.pod.as_ref().is_none_or(|p| p.uid != start.pod_uid) {
                return steps::end(facts, turn, turn::Ended::PodGone, None, draft);
            }
            let (name, server) = (member.name.clone(), server_words(member));
            draft.wait_for(Waiting::Resuming { member: name, server }).about(member.subject());
        }
        (None, _) if !is_interrupted(member) => {
            steps::end(facts, turn, Ended::NotInterrupted, None, draft);
        }
        (None, _) => find_out(facts, valid, turn, member, draft),
    }
}

/// What the server says when the ring has its address under another identity:
/// it will say so at every start.
const COLLISION: &str = "already exists";

/// The ring will not take it back to leave again: the others remove it.
fn removal(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, why: &str) -> Option<Step> {
    let spec = member.spec.as_ref().filter(|_| why.contains(COLLISION))?;
    let mut removal = lock::new(facts, &turn.member, &turn.volume_id, TurnStep::Remove, 1);
    removal.replaces = Some(Replaced {
        host_id: member.recorded_host_id()?.clone(),
        address: spec.address.clone()?,
    });
    let (name, why) = (turn.member.clone(), why.to_string());
    let event = Event::normal(Happened::ToBeRemoved { member: name.clone() });
    let doing = Doing::StartRemoval { member: name, why };
    Some(lock::pass(facts, &removal, doing, Some(event)))
}

fn find_out(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let Some(host_id) = member.recorded_host_id() else {
        return steps::end(facts, turn, Ended::NoHostId, None, draft);
    };
    if facts.leaves() && evidence::others(facts, &member.name).is_empty() {
        let datacenter = facts.spec.datacenter.name.clone();
        draft.report(LastInterrupted { member: member.name.clone(), datacenter });
    }
    // It says itself that it does not run; if the others have it, it leaves again.
    if let Some(proof) = absence::all_see_down(facts, turn, member) {
        if is_too_old(member) {
            return steps::end(facts, turn, Ended::TooOld, None, draft);
        }
        if elsewhere(member).is_some() {
            return steps::end(facts, turn, Ended::Elsewhere, None, draft);
        }
        return permit::give(facts, valid, turn, member, &proof, draft);
    }
    match evidence::prove(facts, turn, member, &Purpose::Interrupted { host_id }, draft) {
        Ok(proof) => match delivered::after(facts, turn, member) {
            Some(waits) => {
                draft.wait_for(waits).about(member.subject());
            }
            None => draft.steps.push(steps::terminate(facts, valid, member, &proof, turn)),
        },
        Err(Unproven::Waiting) => {}
        // They do not agree, or too few can be asked: the same turn asks again.
        Err(Unproven::AskAgain(_)) => {
            let renewed = lock::again(facts, turn);
            let doing = Doing::AskAgain { member: member.name.clone() };
            draft.steps.push(lock::renew(facts, &renewed, doing));
        }
    }
}
