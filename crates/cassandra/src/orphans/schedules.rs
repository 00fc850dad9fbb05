//! The mind of `CassandraTaskSchedule`s whose `CassandraCluster` is not there: it says so, and
//! nothing else. All else about schedules the mind of their cluster decides.

use super::{after_a_moment, without_cluster};
use crate::resources::{CLUSTER, SCHEDULE};
use crate::rights;
use crate::words::schedules::{Doing, Invalid};
use palladion_api::conditions::ACCEPTED;
use palladion_api::rights::Right;
use palladion_api::task_schedule::CassandraTaskScheduleStatus;
use palladion_plan::{
    Conditions, Hazard, Keep, Mind, Object, ObjectKey, Plan, Resource, Route, Snapshot, Step, Watch,
};
use serde_json::json;

/// Decides for every `CassandraTaskSchedule` whose cluster is not there.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScheduleOrphanMind;

impl Mind for ScheduleOrphanMind {
    fn name(&self) -> &'static str {
        "cassandra-orphan-schedules"
    }

    fn owner(&self) -> Resource {
        SCHEDULE
    }

    fn watches(&self) -> Vec<Watch> {
        let watch = |resource, keep, route| Watch { resource, selector: "", keep, route };
        vec![
            watch(SCHEDULE, Keep::Everything, Route::Owner),
            // Only which there are.
            watch(CLUSTER, Keep::Only(&[]), Route::Namespace),
        ]
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_ORPHAN_SCHEDULES
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
        let Some((cluster, fence)) = without_cluster(snapshot) else {
            return Plan::default();
        };
        after_a_moment(snapshot, fence, || say(snapshot, cluster))
    }
}

/// What is on record of its times stays: they are due when the cluster is there.
fn say(snapshot: &Snapshot, cluster: String) -> Option<Step> {
    let schedule = snapshot.owner.as_ref();
    let status: Option<CassandraTaskScheduleStatus> = schedule.part("status").ok()?;
    let before = status.unwrap_or_default().conditions;
    let mut conditions = Conditions::new(&before, schedule.meta.generation, snapshot.now);
    conditions.set_false(ACCEPTED, Invalid::NoCluster { cluster });
    if conditions.all() == before.as_slice() || schedule.meta.is_terminating() {
        return None;
    }
    let doing = Doing::Report { schedule: schedule.meta.name.clone() };
    let patch = json!({ "status": { "conditions": conditions.all() } });
    Some(Step::patch_status_as_seen(SCHEDULE, &schedule.meta, patch, doing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orphans::tests::{snapshot, there};
    use palladion_plan::Meta;
    use serde_json::Value;
    use std::sync::Arc;

    fn schedule(seconds_ago: i64, status: Value) -> Arc<Object> {
        let mut meta = Meta { name: "nightly".into(), namespace: "n".into(), ..Meta::default() };
        meta.creation_timestamp = jiff::Timestamp::from_second(-seconds_ago).ok();
        let body = json!({ "spec": { "cluster": "demo" }, "status": status });
        Arc::new(Object { meta, body })
    }

    #[test]
    fn a_schedule_whose_cluster_is_not_there_says_so_after_a_minute() {
        let decide = |seconds_ago, status, clusters: &[&str]| {
            let owner = schedule(seconds_ago, status);
            ScheduleOrphanMind.decide(&snapshot(&owner, there(clusters)))
        };
        let new = decide(10, Value::Null, &[]);
        assert_eq!((new.steps, new.wake), (vec![], jiff::Timestamp::from_second(50).ok()));
        assert_eq!(decide(600, Value::Null, &["demo"]).steps, []);
        let told = decide(60, Value::Null, &["another"]);
        let [Step::Patch { patch, fences, .. }] = told.steps.as_slice() else {
            panic!("{told:?}");
        };
        let accepted = &patch["status"]["conditions"][0];
        let is = (&accepted["type"], &accepted["status"], &accepted["reason"], fences.len());
        assert_eq!(is, (&json!("Accepted"), &json!("False"), &json!("ClusterNotFound"), 1));
        assert_eq!(decide(600, patch["status"].clone(), &[]).steps, [], "told once");
    }
}
