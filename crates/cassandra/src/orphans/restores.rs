//! The mind of `CassandraRestore`s whose `CassandraCluster` is gone, or was never there.

use super::{after_a_moment, is_seen, only, without_cluster};
use crate::decide::restores::{end_one, is_over, say_without_cluster};
use crate::resources::{CLUSTER, RESTORE};
use crate::rights;
use palladion_api::rights::Right;
use palladion_plan::{
    Hazard, Keep, Mind, Object, ObjectKey, Plan, Resource, Route, Snapshot, Watch,
};

/// Decides for every `CassandraRestore` whose cluster is gone.
#[derive(Debug, Clone, Copy, Default)]
pub struct RestoreOrphanMind;

impl Mind for RestoreOrphanMind {
    fn name(&self) -> &'static str {
        "cassandra-orphan-restores"
    }

    fn owner(&self) -> Resource {
        RESTORE
    }

    fn watches(&self) -> Vec<Watch> {
        let watch = |resource, keep, route| Watch { resource, selector: "", keep, route };
        vec![
            watch(RESTORE, Keep::Everything, Route::Owner),
            // Only which there are.
            watch(CLUSTER, Keep::Only(&[]), Route::Namespace),
        ]
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_ORPHAN_RESTORES
    }

    fn references(&self, _owner: &Object) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn reports_health(&self) -> bool {
        false
    }

    fn hazards(&self) -> &'static [Hazard] {
        &[]
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        let restore = snapshot.owner.as_ref();
        if is_over(restore) || restore.meta.is_terminating() {
            return Plan::default();
        }
        let Some((cluster, fence)) = without_cluster(snapshot) else {
            return Plan::default();
        };
        if is_seen(restore) {
            return only(end_one(restore, cluster, snapshot.now), fence);
        }
        after_a_moment(snapshot, fence, || say_without_cluster(restore, cluster, snapshot.now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{snapshot, there};
    use super::*;
    use palladion_plan::{Meta, Step};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn a_restore_whose_cluster_is_gone_fails_and_one_whose_cluster_is_there_goes_on() {
        let meta = Meta { name: "back".into(), namespace: "n".into(), ..Meta::default() };
        let spec =
            json!({ "cluster": "demo", "mode": "Tables", "source": { "backup": "nightly" } });
        let body = json!({ "spec": spec, "status": { "phase": "Loading" } });
        let restore = Arc::new(Object { meta, body });
        let gone = RestoreOrphanMind.decide(&snapshot(&restore, there(&["another"])));
        let [Step::Patch { patch, fences, .. }] = gone.steps.as_slice() else {
            panic!("{gone:?}");
        };
        assert_eq!(fences.len(), 1);
        assert_eq!(patch["status"]["phase"], "Failed");
        assert_eq!(patch["status"]["conditions"][0]["reason"], "RestoreFailed");
        assert_eq!(RestoreOrphanMind.decide(&snapshot(&restore, there(&["demo"]))).steps, []);
    }
}
