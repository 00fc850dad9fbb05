//! The mind of `CassandraTask`s whose `CassandraCluster` is gone: nobody decides for
//! such a cluster any more, so that nobody else would end what was under way for it.
//! All else about tasks the mind of their cluster decides.

use crate::decide::tasks::{end_one, is_over};
use crate::resources::{CLUSTER, TASK};
use crate::rights;
use crate::words::jobs::Failed;
use palladion_api::rights::Right;
use palladion_plan::{
    Fence, Hazard, Keep, Mind, Object, ObjectKey, Plan, Resource, Route, Snapshot, Step, Watch,
};
use serde_json::Value;

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

    fn hazards(&self) -> &'static [Hazard] {
        &[]
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        Plan { steps: end(snapshot).into_iter().collect(), ..Plan::default() }
    }
}

/// The end of a task that some operator has seen beside its cluster. One that nobody
/// has seen yet may have been made before it.
fn end(snapshot: &Snapshot) -> Option<Step> {
    let task = snapshot.owner.as_ref();
    let is_seen = task.at("/status/phase").is_some_and(Value::is_string);
    if !is_seen || is_over(task) || task.meta.is_terminating() {
        return None;
    }
    let name = task.str_at("/spec/cluster")?;
    // What could not be read is there.
    let clusters = snapshot.all(CLUSTER).ok()?;
    if clusters.iter().any(|cluster| cluster.meta.name == name) {
        return None;
    }
    let why = Failed::ClusterGone { cluster: name.to_string() };
    let fence = Fence {
        object: ObjectKey::new(CLUSTER, &task.meta.namespace, name),
        pointer: String::new(),
        expected: Value::Null,
    };
    Some(end_one(task, why, snapshot.now)?.fenced(fence))
}

#[cfg(test)]
mod tests {
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

    fn plan(owner: &Arc<Object>, clusters: Observed<Vec<Arc<Object>>>) -> Plan {
        OrphanMind.decide(&Snapshot {
            now: jiff::Timestamp::UNIX_EPOCH,
            epoch: 1,
            nonce: "n".into(),
            owner: Arc::clone(owner),
            objects: BTreeMap::from([(CLUSTER, clusters)]),
            references: BTreeMap::new(),
            probes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            failure: None,
            settings: Arc::default(),
        })
    }

    fn there(clusters: &[&str]) -> Observed<Vec<Arc<Object>>> {
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
        assert_eq!(plan(&task(Value::Null), there(&[])).steps, [], "made before its cluster");
    }
}
