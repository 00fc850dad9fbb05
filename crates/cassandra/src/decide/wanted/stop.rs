//! The stop of one member: only while all others are up and normal, unless the
//! person who wants it says otherwise.

use super::order::{self, Order};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Proof, Purpose, Unproven, records};
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
    if proof_without_witnesses(facts, member).is_some() {
        return true;
    }
    let name = member.name.clone();
    // Only its agent can stop it, and by the time that it is back the ring may be another.
    if !member.agent_speaks() {
        let waiting = Stopping::ForAgent { member: name, pod: pod_words(member) };
        draft.wait_for(waiting).about(member.subject());
        return false;
    }
    if let Err(why) = evidence::ring_is_quiet(facts) {
        draft.wait_for(Forbidden::Stop { member: name, why }).about(member.subject());
        return false;
    }
    true
}

/// What lets it be stopped whoever else is down: that its server does not run
/// anyway, or that a person answers for it.
fn proof_without_witnesses(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    evidence::runs_no_server(facts, member)
        .or_else(|| records::stop_of_member_is_wanted(facts, member))
}

/// Go on with a Stop turn.
pub fn advance(facts: &Facts<'_>, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        draft.steps.push(lock::end(facts, turn, Ended::NoMember, None));
        return;
    };
    if member.is_stopped() {
        return follow(facts, turn, member, draft);
    }
    if order::of(member) != Some(Order::Stop) || order::is_on_its_way(member) {
        draft.steps.push(lock::end(facts, turn, Ended::NotWanted, None));
        return;
    }
    let proof = match proof_without_witnesses(facts, member) {
        Some(proof) => proof,
        None => {
            let own = member.recorded_host_id().filter(|_| !member.is_normal());
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
    draft.steps.extend(order_stop(facts, turn, member, &proof));
}

/// The order, as long as the wish is the one that was seen.
fn order_stop(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, proof: &Proof) -> Option<Step> {
    let name = || member.name.clone();
    let event = match proof.stated().kind() == ProofKind::Wanted {
        true => Event::warning(Happened::StopsNow { member: name() }),
        false => Event::normal(Happened::Stops { member: name() }),
    };
    let patch = json!({ "spec": { "run": RunState::Stopped } });
    let meta = &member.object.as_ref()?.meta;
    let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, Doing::Stop { member: name() });
    Some(step.fenced(facts.fence(turn)).proven(proof.stated()).announced(event))
}

/// The order is given: the turn is held until its server has ended. Whose agent
/// is away reads the order when it is back, and holds up nobody meanwhile.
fn follow(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let name = || member.name.clone();
    if !answers(facts, member) {
        draft.steps.push(lock::end(facts, turn, Ended::Silent, None));
        return;
    }
    let state = member.reported_server().map(|s| s.state);
    match state {
        Some(ServerState::Stopped | ServerState::Decommissioned) => {
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

/// Is its agent there to carry out an order? What it said last on a machine that
/// does not answer is no sign of life.
pub fn answers(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let node = member.pod.as_ref().and_then(|p| p.node.as_deref()).unwrap_or_default();
    member.agent_speaks() && facts.nodes.get(node) == Some(&true)
}
