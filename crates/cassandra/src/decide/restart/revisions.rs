//! In which pod revisions a member's server may start. Under OnDelete every
//! re-created pod has the newest revision, so an unproven change must not
//! spread by the loss of a node (safety rule 2.9).

use crate::decide::draft::Draft;
use crate::decide::maintenance::stale;
use crate::facts::{Facts, MemberFact, PodFact};
use crate::resources as kinds;
use crate::words::restart::{Doing, Waiting};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::MemberName;
use palladion_api::member::{ServerState, VolumeState};
use palladion_api::reasons::Reason;
use palladion_plan::Step;
use serde_json::json;

/// Allow the revision of a pod that exists, where it is proven, where nothing
/// can be lost by it, or where this member is the one that proves it.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    // All pods of a ring that was stopped come at once: one of them proves.
    let prover = next_prover(facts);
    for member in facts.members.values() {
        let (Some(object), Some(pod)) = (&member.object, pod_that_waits(member)) else {
            continue;
        };
        let found_now = prover.filter(|p| **p != member.name);
        let found_now = found_now.filter(|_| needs_proof(facts, member, &pod.revision)).cloned();
        if let Some(canary) = waits_for_proof(facts, member).or(found_now) {
            draft
                .wait_for(Waiting::ForProof { member: member.name.clone(), canary })
                .about(member.subject());
            continue;
        }
        draft.steps.push(allow(member, object, &pod.revision));
    }
}

/// A pod that exists and whose revision is not allowed yet.
fn pod_that_waits(member: &MemberFact) -> Option<&PodFact> {
    let (spec, pod) = (member.spec.as_ref()?, member.pod.as_ref()?);
    (!spec.revisions.contains(&pod.revision) && !pod.terminating).then_some(pod)
}

/// The first member that could prove the revision of its pod: one that may start, if there
/// is one. Who waits for the others to come up first would keep them waiting for ever.
fn next_prover<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberName> {
    let waits = |m: &&MemberFact| {
        m.object.is_some()
            && pod_that_waits(m).is_some_and(|pod| needs_proof(facts, m, &pod.revision))
    };
    let mut all = facts.members.values().filter(waits);
    let first = all.clone().next();
    all.find(|m| !needs_the_others(facts, m)).or(first).map(|m| &m.name)
}

/// Would this member, in a pod of that revision, only wait for another one that restarts?
pub fn would_wait(facts: &Facts<'_>, member: &MemberFact, revision: &str) -> bool {
    let is_of_another = |t: &Turn| t.step == TurnStep::Restart && t.member != member.name;
    needs_proof(facts, member, revision) && facts.turn().is_some_and(is_of_another)
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
    // What an agent that is not heard yet has said in its last pod is no news; one on a
    // node that does not answer, and one that waits for the others, is not waited for.
    let is_away = pod.silent_node(&facts.nodes).is_some();
    spec.revisions.contains(&pod.revision)
        && !member.is_normal()
        && !needs_the_others(facts, member)
        && if member.agent_speaks() {
            is_starting(member)
        } else {
            !is_away && !is_proven(facts, &pod.revision)
        }
}

/// Can its server start only when others are up, or when a person has done something: no
/// machine has room for its pod, its volume is unusable, or it waits for a permit or to be
/// let in with old data? What only a newer agent reports is waited for.
fn needs_the_others(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_unusable = member.volume().is_some_and(|volume| match volume.state {
        VolumeState::Lost
        | VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted
        | VolumeState::Left => true,
        VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Joined
        | VolumeState::Unknown => false,
    });
    let waiting = member.reported_server().filter(|s| s.state == ServerState::Waiting);
    let reason = waiting.and_then(|s| s.reason.as_deref());
    member.pod.as_ref().is_some_and(|p| p.unschedulable.is_some())
        || is_unusable
        || reason.is_some_and(|r| WAIT_FOR_OTHERS.iter().any(|w| w.as_str() == r))
        || stale::waits_for_a_user(facts, member)
}

/// What keeps a server that waits from starting before the others.
const WAIT_FOR_OTHERS: [Reason; 6] = [
    Reason::WaitingForPermit,
    Reason::WaitingForAddress,
    Reason::AddressChanged,
    Reason::StaleTwin,
    Reason::MemberTerminated,
    Reason::RetainedVolumeInTheWay,
];

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

/// Write the one revision that a member may start in. The uid is enough: an agent starts in a
/// pod of that revision alone, and one that comes late stands until the next decision, which
/// looks at the pod that is there. An agent that comes up reports often, and each report would
/// hold its start up.
pub fn allow(member: &MemberFact, object: &palladion_plan::Object, revision: &str) -> Step {
    Step::patch_seen(
        kinds::MEMBER,
        &object.meta,
        json!({ "spec": { "revisions": [revision] } }),
        Doing::Allow { member: member.name.clone(), revision: revision.to_string() },
    )
}
