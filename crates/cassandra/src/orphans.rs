//! The mind of `CassandraTask`s whose `CassandraCluster` is gone, or was never there: nobody
//! decides for such a cluster, so that nobody else would end what was under way for it, or
//! say what is waited for. All else about tasks the mind of their cluster decides.

mod backups;
mod restores;
mod schedules;

pub use backups::BackupOrphanMind;
pub use restores::RestoreOrphanMind;
pub use schedules::ScheduleOrphanMind;

use crate::decide::tasks::{end_one, is_over, say_without_cluster};
use crate::resources::{CLUSTER, TASK};
use crate::rights;
use crate::words::jobs::{Failed, Waiting};
use jiff::SignedDuration;
use palladion_api::reasons::Reason;
use palladion_api::rights::Right;
use palladion_plan::{
    Fence, Hazard, Keep, Mind, Object, ObjectKey, Plan, Resource, Route, Snapshot, Step, Watch,
};
use serde_json::Value;

/// An object and its cluster that are applied together are created within this time.
const TOGETHER: SignedDuration = SignedDuration::from_mins(1);

/// Decides for every `CassandraTask` whose cluster is gone.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrphanMind;

impl Mind for OrphanMind {
    fn name(&self) -> &'static str {
        "cassandra-orphans"
    }

    fn owner(&self) -> Resource {
        TASK
    }

    fn watches(&self) -> Vec<Watch> {
        let watch = |resource, keep, route| Watch { resource, selector: "", keep, route };
        vec![
            watch(TASK, Keep::Everything, Route::Owner),
            // Only which there are.
            watch(CLUSTER, Keep::Only(&[]), Route::Namespace),
        ]
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_ORPHANS
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
        let task = snapshot.owner.as_ref();
        if is_over(task) || task.meta.is_terminating() {
            return Plan::default();
        }
        let Some((cluster, fence)) = without_cluster(snapshot) else {
            return Plan::default();
        };
        if is_seen(task) {
            let why = Failed::ClusterGone { cluster };
            return only(end_one(task, why, snapshot.now), fence);
        }
        after_a_moment(snapshot, fence, || {
            say_without_cluster(task, Waiting::NoCluster { cluster }, snapshot.now)
        })
    }
}

fn only(step: Option<Step>, fence: Fence) -> Plan {
    Plan { steps: step.map(|step| step.fenced(fence)).into_iter().collect(), ..Plan::default() }
}

/// Has some operator seen it beside its cluster? One that nobody has seen yet may have been
/// made before it.
fn is_seen(task: &Object) -> bool {
    let has_phase = task.at("/status/phase").is_some_and(Value::is_string);
    let conditions = task.at("/status/conditions").and_then(Value::as_array);
    let missing = Reason::ClusterNotFound.to_string();
    let only_told = conditions.into_iter().flatten().any(|c| c["reason"] == missing.as_str());
    has_phase && !only_told
}

/// The cluster that the object names, if it is not there, and what proves that when it is
/// written.
fn without_cluster(snapshot: &Snapshot) -> Option<(String, Fence)> {
    let owner = snapshot.owner.as_ref();
    let name = owner.str_at("/spec/cluster")?;
    // What could not be read is there.
    let clusters = snapshot.all(CLUSTER).ok()?;
    if clusters.iter().any(|cluster| cluster.meta.name == name) {
        return None;
    }
    let fence = Fence {
        object: ObjectKey::new(CLUSTER, &owner.meta.namespace, name),
        pointer: String::new(),
        expected: Value::Null,
        lock: None,
    };
    Some((name.to_string(), fence))
}

/// Say that there is no such cluster, once what is applied together would be there.
fn after_a_moment(snapshot: &Snapshot, fence: Fence, say: impl FnOnce() -> Option<Step>) -> Plan {
    let created = snapshot.owner.meta.creation_timestamp;
    match created.and_then(|at| at.checked_add(TOGETHER).ok()) {
        Some(at) if snapshot.now < at => Plan { wake: Some(at), ..Plan::default() },
        Some(_) | None => only(say(), fence),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use palladion_plan::{Meta, Observed};
    use serde_json::json;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn task(status: Value) -> Arc<Object> {
        let meta = Meta { name: "work".into(), namespace: "n".into(), ..Meta::default() };
        let body = json!({ "spec": { "cluster": "demo", "flush": {} }, "status": status });
        Arc::new(Object { meta, body })
    }

    fn cluster(name: &str) -> Arc<Object> {
        let meta = Meta { name: name.into(), namespace: "n".into(), ..Meta::default() };
        Arc::new(Object { meta, body: json!({}) })
    }

    pub(super) fn snapshot(owner: &Arc<Object>, clusters: Observed<Vec<Arc<Object>>>) -> Snapshot {
        Snapshot {
            now: jiff::Timestamp::UNIX_EPOCH,
            epoch: 1,
            nonce: "n".into(),
            owner: Arc::clone(owner),
            objects: BTreeMap::from([(CLUSTER, clusters)]),
            references: BTreeMap::new(),
            probes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            lock: palladion_plan::LockFact::Unasked,
            failure: None,
            settings: Arc::default(),
        }
    }

    fn plan(owner: &Arc<Object>, clusters: Observed<Vec<Arc<Object>>>) -> Plan {
        OrphanMind.decide(&snapshot(owner, clusters))
    }

    pub(super) fn there(clusters: &[&str]) -> Observed<Vec<Arc<Object>>> {
        let value = clusters.iter().map(|name| cluster(name)).collect();
        Observed::Known { value, as_of: jiff::Timestamp::UNIX_EPOCH }
    }

    fn under_way() -> Arc<Object> {
        let running = json!({ "name": "demo-dc1-a-0", "state": "Running", "tries": 1, "startedAt": "1970-01-01T00:00:00Z" });
        let waiting = json!({ "name": "demo-dc1-a-1", "state": "Waiting", "tries": 0 });
        task(json!({ "phase": "Running", "members": [running, waiting] }))
    }

    #[test]
    fn a_task_whose_cluster_is_gone_ends_and_says_so() {
        let plan = plan(&under_way(), there(&["another"]));
        let [Step::Patch { patch, fences, .. }] = plan.steps.as_slice() else {
            panic!("{plan:?}");
        };
        let [fence] = fences.as_slice() else { panic!("{plan:?}") };
        let status = &patch["status"];
        assert_eq!(status["phase"], "Failed", "{status}");
        let failed =
            status["conditions"].as_array().unwrap().iter().find(|c| c["type"] == "Failed");
        assert_eq!(failed.unwrap()["status"], "True", "{status}");
        assert!(failed.unwrap()["message"].as_str().unwrap().contains("demo was deleted"));
        assert_eq!(status["members"][0]["state"], "Failed", "{status}");
        assert_eq!(status["members"][1]["state"], "Skipped", "{status}");
        assert_eq!((fence.object.name.as_str(), &fence.expected), ("demo", &Value::Null));
    }

    #[test]
    fn a_task_goes_on_while_its_cluster_is_there_or_may_be() {
        let unknown = Observed::Unknown { why: "no answer".into() };
        for clusters in [there(&["demo"]), unknown] {
            assert_eq!(plan(&under_way(), clusters).steps, []);
        }
        assert_eq!(plan(&task(json!({ "phase": "Done" })), there(&[])).steps, []);
    }

    fn created(seconds_ago: i64, status: Value) -> Arc<Object> {
        let mut task = (*task(status)).clone();
        task.meta.creation_timestamp = jiff::Timestamp::from_second(-seconds_ago).ok();
        Arc::new(task)
    }

    #[test]
    fn a_task_whose_cluster_never_was_there_says_so_after_a_minute_and_goes_on_with_it() {
        let new = plan(&created(10, Value::Null), there(&[]));
        assert_eq!(new.steps, [], "made before its cluster");
        assert_eq!(new.wake, jiff::Timestamp::from_second(50).ok());
        let told = plan(&created(60, Value::Null), there(&["another"]));
        let [Step::Patch { patch, fences, .. }] = told.steps.as_slice() else {
            panic!("{told:?}");
        };
        let status = &patch["status"];
        assert_eq!((&status["phase"], fences.len()), (&json!("Waiting"), 1), "{status}");
        let complete = &status["conditions"][0];
        assert_eq!(
            (&complete["status"], &complete["reason"]),
            (&json!("False"), &json!("ClusterNotFound"))
        );
        assert!(complete["message"].as_str().unwrap().contains("demo"), "{complete}");
        // It is told once, and nothing has failed.
        assert_eq!(plan(&created(600, status.clone()), there(&[])).steps, []);
        assert_eq!(plan(&created(600, status.clone()), there(&["demo"])).steps, []);
    }
}
