//! Pods of an older revision in which no server serves: they are replaced at once, so
//! that a newer spec overtakes a broken one.

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::restart::{Doing, Happened, Waiting};
use palladion_plan::{Event, Flow};

/// Delete one pod of an older revision in which no server serves, without waiting for
/// anything: a fix must never wait for readiness (kubernetes/kubernetes#67250).
pub fn replace_broken_pod(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let Some(newest) = facts.newest_revision() else {
        return Flow::Free;
    };
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let pod = member.pod.as_ref().filter(|p| p.revision != newest && !p.terminating);
        let Some(pod) = pod else { continue };
        let Some((why, proof)) = evidence::serves_nothing(facts, member, pod) else {
            continue;
        };
        if member.claim.as_ref().is_some_and(|c| c.terminating) {
            continue; // Said by `claims`; the pod is all that keeps the data.
        }
        let name = || member.name.clone();
        let event = Event::normal(Happened::NewPod { member: name() });
        let namespace = facts.snapshot.owner.meta.namespace.as_str();
        let doing = Doing::ReplacePod { member: name() };
        let step = pod.removal((kinds::POD, namespace), proof.stated(), doing, None, Some(event));
        draft.steps.push(step);
        draft.wait_for(Waiting::Broken { member: name(), why }).about(member.subject());
        return Flow::Busy;
    }
    Flow::Free
}
