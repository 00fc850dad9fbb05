//! In which pod revisions a member's server may start. Under OnDelete every pod that
//! is created again has the newest revision, so an unproven change must not spread
//! by the loss of a node.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::restart::{Doing, Waiting};
use palladion_api::ids::MemberName;
use palladion_api::service::ServiceStep;
use palladion_plan::{Object, Step};
use serde_json::json;

/// Allow the revision of a pod that exists, where it is proven, where nothing can be
/// lost by it, or where this member is the one that proves it.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    // All pods of an ensemble that came down come at once: one of them proves.
    let mut prover: Option<MemberName> = starting(facts);
    for member in facts.members.values() {
        let (Some(object), Some(spec), Some(pod)) = (&member.object, &member.spec, &member.pod)
        else {
            continue;
        };
        if spec.revisions.contains(&pod.revision) || pod.terminating {
            continue;
        }
        if needs_proof(facts, member, &pod.revision) {
            if let Some(canary) = prover.clone().filter(|p| *p != member.name) {
                let waiting = Waiting::ForProof { member: member.name.clone(), canary };
                draft.wait_for(waiting).about(member.subject());
                continue;
            }
            prover = Some(member.name.clone());
        }
        draft.steps.push(allow(member, object, &pod.revision));
    }
}

/// Could data be lost by a start in this revision?
fn needs_proof(facts: &Facts<'_>, member: &MemberFact, revision: &str) -> bool {
    let turn = facts.turn().filter(|t| t.step == ServiceStep::Restart);
    let has_turn = turn.is_some_and(|t| t.member == member.name);
    member.server_id().is_some() && !has_turn && !is_proven(facts, revision)
}

/// The member that proves a revision now: it has the turn, or was allowed to start in one
/// that nobody has proven.
fn starting(facts: &Facts<'_>) -> Option<MemberName> {
    let turn = facts.turn().filter(|t| t.step == ServiceStep::Restart);
    let of_turn = turn.map(|t| t.member.clone());
    of_turn.or_else(|| {
        let proves = |m: &&MemberFact| {
            let (Some(spec), Some(pod)) = (&m.spec, &m.pod) else { return false };
            m.server_id().is_some()
                && spec.revisions.contains(&pod.revision)
                && !is_proven(facts, &pod.revision)
                && m.pod.as_ref().is_some_and(|p| !p.is_stuck())
        };
        facts.members.values().find(proves).map(|m| m.name.clone())
    })
}

/// Does some member serve in a pod of this revision?
fn is_proven(facts: &Facts<'_>, revision: &str) -> bool {
    let serves = |m: &MemberFact| m.pod.as_ref().is_some_and(|p| p.revision == revision);
    facts.members.values().any(|m| serves(m) && m.votes())
}

/// Write the one revision that a member may start in.
fn allow(member: &MemberFact, object: &Object, revision: &str) -> Step {
    let doing = Doing::Allow { member: member.name.clone(), revision: revision.to_string() };
    let patch = json!({ "spec": { "revisions": [revision] } });
    Step::patch_seen(kinds::MEMBER, &object.meta, patch, doing)
}
