//! In which pod revisions a member's server may start. Under OnDelete every
//! re-created pod has the newest revision, so an unproven change must not
//! spread by the loss of a node (safety rule 2.9).

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::restart::{Doing, Waiting};
use palladion_api::cluster::TurnStep;
use palladion_api::ids::MemberName;
use palladion_api::member::ServerState;
use palladion_plan::Step;
use serde_json::json;

/// Allow the revision of a pod that exists, where it is proven, where nothing
/// can be lost by it, or where this member is the one that proves it.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    // All pods of a ring that was stopped come at once: one of them proves.
    let mut prover: Option<&MemberName> = None;
    for member in facts.members.values() {
        let (Some(object), Some(spec), Some(pod)) = (&member.object, &member.spec, &member.pod)
        else {
            continue;
        };
        if spec.revisions.contains(&pod.revision) || pod.terminating {
            continue;
        }
        let needs_proof = needs_proof(facts, member, &pod.revision);
        let found_now = prover.filter(|_| needs_proof).cloned();
        if let Some(canary) = found_now.or_else(|| waits_for_proof(facts, member)) {
            draft
                .wait_for(Waiting::ForProof { member: member.name.clone(), canary })
                .about(member.subject());
            continue;
        }
        if needs_proof {
            prover = Some(&member.name);
        }
        draft.steps.push(allow(member, object, &pod.revision));
    }
}

/// The member that proves this member's revision first, if one does.
fn waits_for_proof(facts: &Facts<'_>, member: &MemberFact) -> Option<MemberName> {
    let revision = member.pod.as_ref().map(|p| p.revision.as_str())?;
    if !needs_proof(facts, member, revision) {
        return None;
    }
    let turn = facts.turn().filter(|t| t.step == TurnStep::Restart);
    if turn.is_some_and(|t| t.member == member.name) {
        return None;
    }
    if let Some(turn) = turn {
        return Some(turn.member.clone());
    }
    // Without a turn the first such member proves it, whichever rack it is in.
    facts
        .members
        .values()
        .filter(|m| m.name != member.name && m.recorded_host_id().is_some())
        .find(|m| proves_now(facts, m))
        .map(|m| m.name.clone())
}

/// Could data be lost by a start in this revision?
fn needs_proof(facts: &Facts<'_>, member: &MemberFact, revision: &str) -> bool {
    let has_data = member.recorded_host_id().is_some();
    let has_turn =
        facts.turn().is_some_and(|t| t.step == TurnStep::Restart && t.member == member.name);
    has_data && !has_turn && !is_proven(facts, revision)
}

/// Does this member start, right now, a revision that nobody has proven?
fn proves_now(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let (Some(spec), Some(pod)) = (&member.spec, &member.pod) else {
        return false;
    };
    // What an agent that is not heard yet has said in its last pod is no news;
    // one on a node that does not answer is not waited for.
    let is_away = pod.node.as_ref().is_some_and(|n| facts.nodes.get(n) == Some(&false));
    spec.revisions.contains(&pod.revision)
        && !member.is_normal()
        && if member.agent_speaks() {
            is_starting(member)
        } else {
            !is_away && !is_proven(facts, &pod.revision)
        }
}

fn is_starting(member: &MemberFact) -> bool {
    member.status.server.as_ref().is_none_or(|s| match s.state {
        ServerState::Starting
        | ServerState::Waiting
        | ServerState::Failed
        | ServerState::Unknown => true,
        ServerState::Running
        | ServerState::Stopped
        | ServerState::Stopping
        | ServerState::Decommissioned => false,
    })
}

/// Is some member up and normal in a pod of this revision?
pub fn is_proven(facts: &Facts<'_>, revision: &str) -> bool {
    facts
        .members
        .values()
        .any(|m| m.is_normal() && m.pod.as_ref().is_some_and(|p| p.revision == revision))
}

/// Write the one revision that a member may start in.
pub fn allow(member: &MemberFact, object: &palladion_plan::Object, revision: &str) -> Step {
    Step::patch_seen(
        kinds::MEMBER,
        &object.meta,
        json!({ "spec": { "revisions": [revision] } }),
        Doing::Allow { member: member.name.clone(), revision: revision.to_string() },
    )
}
