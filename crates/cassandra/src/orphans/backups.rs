//! The mind of `CassandraBackup`s whose `CassandraCluster` is gone, or was never there. What they
//! have left on volumes their agents clear.

use super::{after_a_moment, is_seen, only, without_cluster};
use crate::decide::backups::{end_one, is_over, say_without_cluster};
use crate::resources::{BACKUP, CLUSTER};
use crate::rights;
use palladion_api::rights::Right;
use palladion_plan::{
    Hazard, Keep, Mind, Object, ObjectKey, Plan, Resource, Route, Snapshot, Watch,
};

/// Decides for every `CassandraBackup` whose cluster is gone.
#[derive(Debug, Clone, Copy, Default)]
pub struct BackupOrphanMind;

impl Mind for BackupOrphanMind {
    fn name(&self) -> &'static str {
        "cassandra-orphan-backups"
    }

    fn owner(&self) -> Resource {
        BACKUP
    }

    fn watches(&self) -> Vec<Watch> {
        let watch = |resource, keep, route| Watch { resource, selector: "", keep, route };
        vec![
            watch(BACKUP, Keep::Everything, Route::Owner),
            // Only which there are.
            watch(CLUSTER, Keep::Only(&[]), Route::Namespace),
        ]
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_ORPHAN_BACKUPS
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
        let backup = snapshot.owner.as_ref();
        if is_over(backup) || backup.meta.is_terminating() {
            return Plan::default();
        }
        let Some((cluster, fence)) = without_cluster(snapshot) else {
            return Plan::default();
        };
        if is_seen(backup) {
            return only(end_one(backup, cluster, snapshot.now), fence);
        }
        after_a_moment(snapshot, fence, || say_without_cluster(backup, cluster, snapshot.now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{snapshot, there};
    use super::*;
    use palladion_plan::{Meta, Step};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn backup(status: Value) -> Arc<Object> {
        let meta = Meta { name: "nightly".into(), namespace: "n".into(), ..Meta::default() };
        let spec = json!({ "cluster": "demo", "deadlineSeconds": 600 });
        Arc::new(Object { meta, body: json!({ "spec": spec, "status": status }) })
    }

    fn said(plan: &Plan) -> (Value, String) {
        let [Step::Patch { patch, fences, .. }] = plan.steps.as_slice() else {
            panic!("{plan:?}");
        };
        assert_eq!(fences.len(), 1, "{plan:?}");
        let status = &patch["status"];
        (status["phase"].clone(), status["conditions"][0]["reason"].to_string())
    }

    #[test]
    fn a_backup_whose_cluster_is_gone_fails_and_one_whose_cluster_is_there_goes_on() {
        let under_way = backup(json!({ "phase": "Uploading" }));
        let gone = BackupOrphanMind.decide(&snapshot(&under_way, there(&["another"])));
        assert_eq!(said(&gone), (json!("Failed"), "\"BackupFailed\"".into()));
        let fine = BackupOrphanMind.decide(&snapshot(&under_way, there(&["demo"])));
        assert_eq!(fine.steps, []);
        let over = backup(json!({ "phase": "Complete" }));
        assert_eq!(BackupOrphanMind.decide(&snapshot(&over, there(&[]))).steps, []);
    }

    #[test]
    fn a_backup_whose_cluster_never_was_there_says_so_and_waits() {
        let mut new = (*backup(Value::Null)).clone();
        new.meta.creation_timestamp = jiff::Timestamp::from_second(-60).ok();
        let plan = BackupOrphanMind.decide(&snapshot(&Arc::new(new), there(&[])));
        assert_eq!(said(&plan), (json!("Pending"), "\"ClusterNotFound\"".into()));
    }
}
