//! Pods that a deleted StatefulSet leaves behind for a while.
//!
//! Until the last of them is gone a new set of that name cannot make its own,
//! and the StatefulSet controller doubles its pause after each refused try. It
//! hears nothing of the end of a pod that is not its own, so that the seconds
//! that an old server takes to drain become minutes: 164 s were seen on
//! Kubernetes 1.34, and 1,000 s are its limit. Therefore the set is created when
//! they are gone.

use super::words::Blocked;
use crate::object::{Meta, Object};
use jiff::{SignedDuration, Timestamp};
use palladion_api::names;
use std::sync::Arc;

/// So long after the time at which it should have been killed a pod is not
/// waited for: its Node does not answer, and the other pods have to start.
const OVERDUE: SignedDuration = SignedDuration::from_secs(60);

/// A pod for which the creation of a set waits.
#[derive(Debug, PartialEq, Eq)]
pub struct FormerPod {
    /// Its name.
    pub pod: String,
    /// When it is not waited for any more; `None` = the garbage collector has
    /// not come to it yet.
    pub until: Option<Timestamp>,
}

impl FormerPod {
    /// Why `what`, a set in the words of its mind, is not created now.
    pub fn blocks(&self, what: impl ToString) -> Blocked {
        Blocked::FormerPod { what: what.to_string(), pod: self.pod.clone() }
    }
}

/// The pod, among those `seen`, that a set which does not exist has to wait for.
/// A pod without a controller is no hindrance: the set will adopt it.
pub fn in_the_way(seen: &[Arc<Object>], set: &str, now: Timestamp) -> Option<FormerPod> {
    let is_controlled = |meta: &Meta| meta.owner_references.iter().any(|o| o.controller);
    seen.iter()
        .map(|pod| &pod.meta)
        .filter(|meta| names::ordinal(set, &meta.name).is_some() && is_controlled(meta))
        .map(|meta| FormerPod {
            pod: meta.name.clone(),
            until: meta.deletion_timestamp.map(|killed| killed + OVERDUE),
        })
        .find(|pod| pod.until.is_none_or(|until| now < until))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::OwnerReference;
    use serde_json::json;

    const NOW: &str = "2026-01-01T00:10:00Z";

    fn pod(name: &str, is_controlled: bool, killed: Option<&str>) -> Arc<Object> {
        let owner = OwnerReference {
            kind: "StatefulSet".into(),
            name: "demo-a".into(),
            uid: "old".into(),
            controller: true,
            ..OwnerReference::default()
        };
        let meta = Meta {
            name: name.into(),
            owner_references: is_controlled.then_some(owner).into_iter().collect(),
            deletion_timestamp: killed.and_then(|t| t.parse().ok()),
            ..Meta::default()
        };
        Arc::new(Object { meta, body: json!({}) })
    }

    fn waited_for(pods: &[Arc<Object>]) -> Option<String> {
        in_the_way(pods, "demo-a", NOW.parse().expect("a time")).map(|p| p.pod)
    }

    #[test]
    fn pods_of_a_deleted_set_are_waited_for_until_they_are_overdue() {
        let is_waited_for = |pod| waited_for(&[pod]).is_some();
        assert!(is_waited_for(pod("demo-a-0", true, None)), "it will be deleted");
        assert!(is_waited_for(pod("demo-a-1", true, Some("2026-01-01T00:12:00Z"))));
        assert!(is_waited_for(pod("demo-a-1", true, Some("2026-01-01T00:09:01Z"))));
        assert!(!is_waited_for(pod("demo-a-1", true, Some("2026-01-01T00:09:00Z"))), "overdue");
        assert!(!is_waited_for(pod("demo-a-0", false, None)), "an orphan is adopted");
        assert!(!is_waited_for(pod("demo-ab-0", true, None)), "another set's");
        assert!(!is_waited_for(pod("demo-a-b-0", true, None)), "another set's");
    }

    #[test]
    fn one_that_is_overdue_hides_no_other() {
        let pods = [
            pod("demo-a-0", true, Some("2026-01-01T00:00:00Z")),
            pod("demo-a-1", true, Some("2026-01-01T00:12:00Z")),
        ];
        assert_eq!(waited_for(&pods).as_deref(), Some("demo-a-1"));
    }
}
