//! The stop of one member: only while all others are up and normal, unless the
//! person who wants it says otherwise.

use super::order::{self, Order};
use super::{drain, now, terminated};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Proof, Purpose, Unproven, records};
use crate::decide::maintenance::asked;
use crate::decide::turn::lock;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::evidence::Forbidden;
use crate::words::wanted::{Doing, Ended, Happened, Stopping};
use palladion_api::cluster::Turn;
use palladion_api::member::{RunState, ServerState};
use palladion_plan::proof::ProofKind;
use palladion_plan::{Event, Step};
use serde_json::json;

/// May it be stopped, as far as the members report by themselves? Says why not.
pub fn may_begin(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> bool {
    // Until it has joined there is nothing to stop; a join is not cut in two.
    if member.recorded_host_id().is_none() {
        return false;
    }
    let name = member.name.clone();
    if let Some(agent) = too_old(member) {
        let too_old = Stopping::AgentTooOld { member: name, agent: agent.to_string() };
        draft.report(too_old.clone());
        draft.wait_for(too_old).about(member.subject());
        return false;
    }
    // Its agent notes on the volume that this is given up. Until it has, that stands on a
    // record alone, which may be lost.
    let is_for_good = order::of(member) == Some(Order::Terminate);
    if is_for_good && !member.agent_answers(&facts.nodes) {
        return wait_for_agent(member, draft);
    }
    if is_for_good && keeps_the_last_copies(facts, member, draft) {
        return false;
    }
    if proof_without_witnesses(facts, member).is_some() {
        return true;
    }
    // Only its agent can stop it, and by the time that it is back the ring may be another.
    if !member.agent_answers(&facts.nodes) {
        return wait_for_agent(member, draft);
    }
    // It need not be well itself: that may be why people want it stopped.
    let Err(why) = evidence::others_are_quiet(facts, member) else {
        return true;
    };
    match now::over_since(member) {
        Some(at) => draft.wait_for(Stopping::NowIsOver { member: name, why, at }),
        None => draft.wait_for(Forbidden::Stop { member: name, why }),
    }
    .about(member.subject());
    false
}

/// Its data is too old to start with, and so is that of others: what it has may be on none of
/// the members that are up.
fn keeps_the_last_copies(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> bool {
    let Some(first) = asked::other_first(facts, member) else {
        return false;
    };
    let (name, other) = (member.name.clone(), first.name.clone());
    let (up, copies) = (first.up, first.copies);
    let waiting = match first.allow {
        Some(at) => Stopping::OtherFirst { member: name, up, copies, other, at },
        None => Stopping::OtherStarts { member: name, up, copies, other },
    };
    draft.wait_for(waiting).about(member.subject());
    true
}

fn wait_for_agent(member: &MemberFact, draft: &mut Draft) -> bool {
    let waiting = Stopping::ForAgent { member: member.name.clone(), pod: pod_words(member) };
    draft.wait_for(waiting).about(member.subject());
    false
}

/// To stop a server any agent is good enough; not to give up its volume.
fn too_old(member: &MemberFact) -> Option<&str> {
    match order::of(member)? {
        Order::Terminate => terminated::too_old(member),
        Order::Stop | Order::Start => None,
    }
}

/// What lets it be stopped whoever else is down: that its server does not run
/// anyway, or that a person answers for it. To give up its volume the former is not enough: what
/// another one that is down has may be there alone.
fn proof_without_witnesses(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let by_wish = || records::stop_of_member_is_wanted(facts, member);
    if order::of(member) == Some(Order::Terminate) {
        return by_wish();
    }
    evidence::runs_no_server(facts, member)
        .or_else(|| evidence::stands_stopped(facts, member))
        .or_else(by_wish)
}

/// Go on with a Stop turn.
pub fn advance(facts: &Facts<'_>, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        draft.steps.push(lock::end(facts, turn, Ended::NoMember, None));
        return;
    };
    // A server that does not serve has nothing to drain for a task.
    let is_stop = matches!(order::of(member), Some(Order::Stop | Order::Terminate));
    let serves = member.is_normal() || member.is_drained();
    if drain::concerns(member) && (serves || !is_stop) {
        return drain::advance(facts, turn, member, draft);
    }
    let ordered = match order::of(member) {
        Some(order @ (Order::Stop | Order::Terminate)) if !order::is_on_its_way(member) => order,
        Some(Order::Stop | Order::Terminate | Order::Start) | None if member.is_stopped() => {
            return follow(facts, turn, member, draft);
        }
        Some(Order::Stop | Order::Terminate | Order::Start) | None => {
            draft.steps.push(lock::end(facts, turn, Ended::NotWanted, None));
            return;
        }
    };
    let proof = match proof_without_witnesses(facts, member) {
        Some(proof) => proof,
        None => {
            // The others may see it down although it is well by its own word.
            let own = member.recorded_host_id();
            let purpose = Purpose::Stop { except: own.into_iter().collect() };
            match evidence::prove(facts, turn, member, &purpose, draft) {
                Ok(proof) => proof,
                Err(Unproven::Waiting) => return,
                Err(Unproven::AskAgain(why)) => {
                    draft.steps.push(lock::end(facts, turn, Ended::Forbidden { why }, None));
                    return;
                }
            }
        }
    };
    draft.steps.extend(give(facts, turn, member, ordered, &proof));
}

/// The order, as long as the wish is the one that was seen.
fn give(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    ordered: Order,
    proof: &Proof,
) -> Option<Step> {
    let name = || member.name.clone();
    let mut patch = json!({ "spec": { "run": RunState::Stopped } });
    if let Some(at) = now::used(facts, member) {
        patch["spec"]["stoppedNowAt"] = json!(at);
    }
    let by_wish = proof.stated().kind() == ProofKind::Wanted;
    let (doing, event) = match ordered {
        Order::Terminate => {
            let record = terminated::record(facts, member)?;
            let volume = record.volume_id.clone();
            patch["spec"]["terminated"] = json!(record);
            let event = Event::warning(Happened::Terminates { member: name(), volume });
            (Doing::Terminate { member: name() }, event)
        }
        Order::Stop | Order::Start if by_wish => {
            (Doing::Stop { member: name() }, Event::warning(Happened::StopsNow { member: name() }))
        }
        Order::Stop | Order::Start => {
            (Doing::Stop { member: name() }, Event::normal(Happened::Stops { member: name() }))
        }
    };
    let meta = &member.object.as_ref()?.meta;
    let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, doing);
    Some(step.fenced(facts.fence(turn)).proven(proof.stated()).announced(event))
}

/// The order is given: the turn is held until its server has ended. Whose agent
/// is away reads the order when it is back, and holds up nobody meanwhile.
fn follow(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let name = || member.name.clone();
    if !member.agent_answers(&facts.nodes) {
        draft.steps.push(lock::end(facts, turn, Ended::Silent, None));
        return;
    }
    let state = member.reported_server().map(|s| s.state);
    match state {
        Some(ServerState::Stopped | ServerState::Decommissioned) => {
            let event = Event::normal(Happened::Stopped { member: name() });
            draft.steps.push(lock::finish(facts, turn, Some(event)));
        }
        // Its agent waits for something else, such as its volume, and starts nothing
        // meanwhile: it reads the order then.
        Some(ServerState::Waiting) if evidence::runs_no_server(facts, member).is_some() => {
            let event = Event::normal(Happened::Stopped { member: name() });
            draft.steps.push(lock::finish(facts, turn, Some(event)));
        }
        Some(
            ServerState::Waiting
            | ServerState::Starting
            | ServerState::Running
            | ServerState::Stopping
            | ServerState::Failed
            | ServerState::Unknown,
        )
        | None => {
            let waiting = Stopping::Draining { member: name(), server: server_words(member) };
            draft.wait_for(waiting).about(member.subject());
        }
    }
}
