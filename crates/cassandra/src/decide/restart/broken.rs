//! Pods of an older revision in which no server serves: they are replaced at
//! once, so that a newer spec overtakes a broken one.

use crate::clients;
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::objects::replicas;
use crate::decide::restart::revisions;
use crate::decide::restart::steps::delete_pod;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::restart::Waiting;
use palladion_plan::Flow;

/// Delete one pod of an older revision in which no server serves, without
/// waiting for anything: a fix must never wait for readiness
/// (kubernetes/kubernetes#67250).
pub fn replace_broken_pod(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    for (index, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        let Some(newest) = facts.newest_revision(&valid.racks[index].set) else {
            continue;
        };
        let Some(pod) = member.pod.as_ref().filter(|p| p.revision != newest && !p.terminating)
        else {
            continue;
        };
        // A server that ends by itself comes back in the revision that it ran in.
        if revisions::would_wait(facts, member, newest) {
            continue;
        }
        // In its next pod it would wait for longer.
        if clients::lacks_address(valid, member) {
            continue;
        }
        let Some((why, proof)) = evidence::serves_nothing(facts, member, pod) else {
            continue;
        };
        if member.claim.as_ref().is_some_and(|c| c.terminating) {
            continue; // Reported by `claims`; the pod is all that keeps the data.
        }
        draft.steps.push(delete_pod(valid, member, pod, &proof, None));
        let subject = member.subject();
        draft.wait_for(Waiting::Broken { member: name, why }).about(subject);
        return Flow::Busy;
    }
    Flow::Free
}
