//! Has the process that holds the Lease ended for certain? Only the kubelet of
//! its machine knows, and says so in the status of the pod.
//!
//! That the pod is gone proves nothing: one that is deleted by force, or with
//! its Node, may run on where nobody can reach it. Nor does its phase, which
//! others than the kubelet write. Such a leader is followed when its Lease has
//! run out, and the fences stand against what it still writes.

use crate::leader::evaluate::RENEW_EVERY;
use jiff::Timestamp;
use palladion_api::rights::{Place, Right, Verb};
use palladion_plan::{ObjectKey, Resource};
use serde_json::Value;
use std::time::Duration;

const POD: Resource = Resource::namespaced("", "v1", "Pod", "pods");
/// What is needed to see that a leader has ended.
pub const RIGHT: Right = Right::new(
    Place::Own,
    POD.group,
    POD.plural,
    &[Verb::Get],
    "A leader that has ended is followed before its Lease runs out",
);
/// A leader that has not renewed for so long may have ended: it is worth asking
/// for its pod. One that lives costs no such request.
pub const LATE: Duration = RENEW_EVERY.saturating_add(Duration::from_secs(2));

/// A holder whose pod is known by its identity, `<pod>_<uid>_<process>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pod: String,
    uid: String,
    /// By the clock of its own machine, which is the kubelet's as well.
    renewed: Timestamp,
}

impl Holder {
    /// Of the identity and the time of its last renewal.
    pub fn parse(identity: &str, renewed: &str) -> Option<Self> {
        let mut parts = identity.splitn(3, '_');
        let (pod, uid, _process) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { pod: pod.into(), uid: uid.into(), renewed: renewed.parse().ok()? })
    }

    /// Its pod.
    pub fn pod(&self, namespace: &str) -> ObjectKey {
        ObjectKey::new(POD, namespace, &self.pod)
    }

    /// Does the status of its pod say that no container runs, and that each has
    /// ended after the holder renewed last? A status that is older than the
    /// renewal is about an earlier process in the same pod.
    pub fn has_ended(&self, pod: &Value) -> bool {
        let containers = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
        let Some(statuses) = pod["status"]["containerStatuses"].as_array() else {
            return false;
        };
        pod["metadata"]["uid"] == self.uid.as_str()
            && containers > 0
            && statuses.len() == containers
            && statuses.iter().all(|status| ended(status).is_some_and(|at| at > self.renewed))
    }
}

/// When a container ended that does not run; the kubelet counts whole seconds.
fn ended(status: &Value) -> Option<Timestamp> {
    let terminated = match status["state"]["waiting"].is_null() {
        true => &status["state"]["terminated"],
        // Ended, and to be started again later.
        false => &status["lastState"]["terminated"],
    };
    terminated["finishedAt"].as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holder() -> Holder {
        Holder::parse("one_u1_p", "2026-01-01T10:00:05.500000Z").unwrap()
    }

    fn pod(uid: &str, statuses: &Value) -> Value {
        json!({
            "metadata": {"uid": uid},
            "spec": {"containers": [{"name": "operator"}]},
            "status": {"phase": "Failed", "containerStatuses": statuses},
        })
    }

    fn terminated(at: &str) -> Value {
        json!({"terminated": {"exitCode": 137, "finishedAt": at}})
    }

    #[test]
    fn only_the_kubelet_s_word_about_this_very_process_is_proof() {
        let ended = json!([{"state": terminated("2026-01-01T10:00:07Z")}]);
        let to_be_restarted = json!([{
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": terminated("2026-01-01T10:00:07Z"),
        }]);
        let runs_again = json!([{
            "state": {"running": {}}, "lastState": terminated("2026-01-01T10:00:07Z"),
        }]);
        let table = [
            (pod("u1", &ended), true, "it has ended"),
            (pod("u1", &to_be_restarted), true, "it waits for its restart"),
            (pod("u2", &ended), false, "another pod of the name"),
            (pod("u1", &runs_again), false, "a container runs"),
            (pod("u1", &json!([])), false, "no status, whatever the phase"),
            (
                pod("u1", &json!([{"state": terminated("2026-01-01T10:00:05Z")}])),
                false,
                "an earlier process",
            ),
            (pod("u1", &json!([{"state": terminated("")}])), false, "the kubelet lost sight of it"),
            (pod("u1", &json!([{"state": {"waiting": {}}}])), false, "never started, or not known"),
        ];
        for (pod, expected, why) in table {
            assert_eq!(holder().has_ended(&pod), expected, "{why}");
        }
        let mut two = pod("u1", &ended);
        two["spec"]["containers"] = json!([{"name": "operator"}, {"name": "proxy"}]);
        assert!(!holder().has_ended(&two), "one of two containers is not accounted for");
    }

    #[test]
    fn an_identity_without_a_pod_s_uid_leads_to_no_pod() {
        assert_eq!(Holder::parse("one_p", "2026-01-01T10:00:05.500000Z"), None);
        assert_eq!(Holder::parse("", ""), None);
    }
}
