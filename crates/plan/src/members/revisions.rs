//! In which pod revisions a member's server may start, and pods of an older revision in
//! which none does. Under OnDelete every pod that is created again has the newest
//! revision, so an unproven change must not spread by the loss of a node.

use super::proving::Proving;
use super::{Draft, Grounds, MEMBER, MemberFact, Prove, ServiceFacts};
use crate::draft::Flow;
use crate::kinds::POD;
use crate::object::Object;
use crate::plan::{Event, Step};
use crate::words::revisions::{Doing, Happened, Waiting};
use palladion_api::service::ServiceStep;
use serde_json::json;

/// Allow the revision of a pod that exists, where it is proven, where nothing can be
/// lost by it, or where this member is the one that proves it.
pub fn decide(facts: &ServiceFacts<'_>, draft: &mut Draft) {
    // All pods of a service that came down come at once: one of them proves.
    let mut proving = Proving::now(facts);
    for member in facts.members.values() {
        let (Some(object), Some(spec), Some(pod)) = (&member.object, &member.spec, &member.pod)
        else {
            continue;
        };
        if spec.revisions.contains(&pod.revision) || pod.terminating {
            continue;
        }
        if needs_proof(facts, member, &pod.revision) && proving.spares(&pod.revision) {
            if let Some(canary) = proving.awaited(member, &pod.revision) {
                let waiting = Waiting::ForProof { member: member.name.clone(), canary };
                draft.wait_for(waiting).about(member.subject());
                continue;
            }
            proving.starts(member, &pod.revision);
        }
        draft.steps.push(allow(member, object, &pod.revision));
    }
}

/// Could data be lost by a start in this revision?
fn needs_proof(facts: &ServiceFacts<'_>, member: &MemberFact, revision: &str) -> bool {
    let turn = facts.turn().filter(|t| t.step == ServiceStep::Restart);
    let has_turn = turn.is_some_and(|t| t.member == member.name);
    member.identity.is_some() && !has_turn && !is_proven(facts, revision)
}

/// Does some member serve in a pod of this revision?
fn is_proven(facts: &ServiceFacts<'_>, revision: &str) -> bool {
    let serves = |m: &MemberFact| m.pod.as_ref().is_some_and(|p| p.revision == revision);
    facts.members.values().any(|m| serves(m) && m.serves)
}

/// Write the one revision that a member may start in.
fn allow(member: &MemberFact, object: &Object, revision: &str) -> Step {
    let doing = Doing::Allow { member: member.name.clone(), revision: revision.to_string() };
    let patch = json!({ "spec": { "revisions": [revision] } });
    Step::patch_seen(MEMBER, &object.meta, patch, doing)
}

/// Delete one pod of an older revision in which no server serves, without waiting for
/// anything: a fix must never wait for readiness (kubernetes/kubernetes#67250).
pub fn replace_broken_pod(facts: &ServiceFacts<'_>, prove: Prove, draft: &mut Draft) -> Flow {
    let Some(newest) = facts.newest_revision() else {
        return Flow::Free;
    };
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let pod = member.pod.as_ref().filter(|p| p.revision != newest && !p.terminating);
        let Some(pod) = pod else { continue };
        let Some((why, grounds)) = Grounds::serves_nothing(facts, member, pod) else {
            continue;
        };
        if member.claim.as_ref().is_some_and(|c| c.terminating) {
            continue; // Said by `objects::claims`; the pod is all that keeps the data.
        }
        let name = || member.name.clone();
        let event = Event::normal(Happened::NewPod { member: name() });
        let namespace = facts.snapshot.owner.meta.namespace.as_str();
        let doing = Doing::ReplacePod { member: name() };
        let step = pod.removal((POD, namespace), prove(&grounds), doing, None, Some(event));
        draft.steps.push(step);
        draft.wait_for(Waiting::Broken { member: name(), why }).about(member.subject());
        return Flow::Busy;
    }
    Flow::Free
}

/// Is its pod of an older revision?
pub fn is_outdated(facts: &ServiceFacts<'_>, member: &MemberFact) -> bool {
    let pod = member.pod.as_ref().filter(|p| !p.terminating);
    facts.newest_revision().zip(pod).is_some_and(|(newest, pod)| pod.revision != newest)
}

/// Does the disruption budget count what clients count? It also counts the pods of members
/// that wait to join, which may wait for this very rollout, those of members that have left
/// below one that stays: a set has no gaps, and nothing makes such a pod ready again, and those of
/// lost ones. For these it would say no for ever. Where another one that clients miss is not ready
/// either, it says no for a reason.
pub fn budget_counts_right(facts: &ServiceFacts<'_>, member: &MemberFact) -> bool {
    let others = facts.members.values().filter(|m| m.name != member.name && m.pod.is_some());
    let mut unready = others.filter(|m| !m.is_ready()).peekable();
    let is_missed = |m: &MemberFact| m.has_served() && !m.is_gone() && m.loss().is_none();
    unready.peek().is_none() || unready.any(is_missed)
}
