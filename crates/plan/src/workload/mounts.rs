//! Pods that have their Node and do not start there: a volume cannot be mounted, or the network
//! is not there. No status of a container says so, and the kubelet's own words are in its events
//! alone, which name the pod.

use super::pod::PodFact;
use super::words::Mounting;
use crate::draft::Draft;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// A volume that another node has to let go of, or that has many files, takes its time. The
/// kubelet's own patience with a mount is two minutes and three seconds, and its events say more
/// after that.
pub const PATIENCE: SignedDuration = SignedDuration::from_secs(150);

/// Report the members' pods that wait for longer. `nodes` are those that are known, and whether
/// they are ready: what waits on one that is not ready is reported as that.
pub fn report<'a, M>(
    pods: impl Iterator<Item = (String, &'a PodFact)>,
    nodes: &BTreeMap<String, bool>,
    now: Timestamp,
    draft: &mut Draft<M>,
) {
    for (member, pod) in pods {
        let silent = pod.silent_node(nodes).is_some();
        let Some((since, node)) = pod.unmounted_since.zip(pod.node.clone()).filter(|_| !silent)
        else {
            continue;
        };
        match since.saturating_add(PATIENCE) {
            Ok(until) if now < until => draft.wake_at(until),
            Ok(_) | Err(_) => {
                draft.report(Mounting::Waits { member, pod: pod.name.clone(), node, since });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::pod::project;
    use crate::{Meta, Object};
    use palladion_api::reasons::Reason;
    use serde_json::json;

    const SINCE: &str = "2026-01-01T00:00:00Z";

    fn pod(may_start: &str, phase: &str) -> PodFact {
        let object = json!({
            "spec": { "nodeName": "n1" },
            "status": { "phase": phase, "conditions": [{
                "type": "PodReadyToStartContainers", "status": may_start,
                "lastTransitionTime": SINCE,
            }] },
        });
        let meta = Meta { name: "p-0".into(), ..Meta::default() };
        PodFact::read(&Object { meta, body: project(&object) })
    }

    fn after(pod: &PodFact, seconds: i64, is_ready: bool) -> Draft {
        let now = SINCE.parse::<Timestamp>().expect("a time") + SignedDuration::from_secs(seconds);
        let nodes = BTreeMap::from([("n1".to_string(), is_ready)]);
        let mut draft = Draft::default();
        report([("m".to_string(), pod)].into_iter(), &nodes, now, &mut draft);
        draft
    }

    #[test]
    fn a_pod_that_does_not_start_on_its_node_is_reported_after_a_while() {
        let waits = pod("False", "Pending");
        let early = after(&waits, 149, true);
        assert!(early.troubles.is_empty() && early.wake.is_some(), "{early:?}");
        let late = after(&waits, 150, true);
        assert_eq!(late.troubles[0].reason, Reason::WaitingForVolumes);
        let said = late.troubles[0].message.to_string();
        assert!(said.contains("kubectl describe pod p-0") && said.contains("n1"), "{said}");
        assert!(after(&waits, 150, false).troubles.is_empty(), "its Node is reported instead");
        for starts in [pod("True", "Pending"), pod("False", "Running")] {
            let draft = after(&starts, 150, true);
            assert!(draft.troubles.is_empty() && draft.wake.is_none(), "{draft:?}");
        }
    }
}
