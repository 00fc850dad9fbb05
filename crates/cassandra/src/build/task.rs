//! A task by the template of a schedule: at its time, or when a person asks for it.

use crate::resources::TASK;
use palladion_api::labels;
use palladion_api::rules::repair::LEAST_SEGMENT_BYTES;
use serde_json::{Value, json};

/// The task `name` of a schedule with this spec: the template as it is stored, for
/// the cluster of the schedule. It has no owner, so that it outlives the schedule.
pub fn of_schedule(schedule: &str, namespace: &str, spec: &Value, name: &str) -> Value {
    let repair = of_cover(&spec["cover"]);
    let template = repair.as_ref().unwrap_or(&spec["taskTemplate"]);
    let mut labels = object(&template["metadata"]["labels"]);
    labels[labels::MANAGED_BY] = json!(labels::PALLADION);
    labels[labels::SCHEDULE] = json!(schedule);
    let mut task = object(&template["spec"]);
    task["cluster"] = spec["cluster"].clone();
    // A schedule that was stored before there was a least has tasks all the same.
    if let Some(bytes) = task["repair"]["segmentBytes"].as_u64() {
        task["repair"]["segmentBytes"] = json!(bytes.max(LEAST_SEGMENT_BYTES));
    }
    // Nor does one stop that was stored with what is refused by now.
    if !may_skip(&task)
        && let Some(fields) = task.as_object_mut()
    {
        fields.remove("whenDown");
    }
    json!({
        "apiVersion": TASK.api_version(),
        "kind": TASK.kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "annotations": object(&template["metadata"]["annotations"]),
        },
        "spec": task,
    })
}

/// The template of a schedule that covers a ring: a member that fails, or is down, keeps
/// no other from its repair.
fn of_cover(cover: &Value) -> Option<Value> {
    let mut repair = json!({ "scope": "Due" });
    let cover = cover.as_object()?;
    for field in ["segmentBytes", "parallel", "intensityPercent"] {
        if let Some(value) = cover.get(field) {
            repair[field] = value.clone();
        }
    }
    // Whoever repairs alone waits for all others to be up.
    let when_down = if repair["parallel"] == 1 { "Wait" } else { "Skip" };
    Some(json!({ "spec": { "repair": repair, "onFailure": "Continue", "whenDown": when_down } }))
}

/// May such a task leave out members that are down? As the API server has it
/// (`palladion_api::rules::task::skip_has_a_use`).
fn may_skip(task: &Value) -> bool {
    let is_of_one = task["members"].as_array().is_some_and(|members| members.len() == 1);
    let repair = &task["repair"];
    let is_by_several = repair.is_null() || (repair["scope"] == "Due" && repair["parallel"] != 1);
    let waits_for_all = ["cleanup", "replication", "restart", "removeDatacenter"]
        .iter()
        .any(|body| task[*body].is_object());
    is_of_one || (is_by_several && !waits_for_all)
}

fn object(value: &Value) -> Value {
    if value.is_object() { value.clone() } else { json!({}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_left_out_where_that_is_refused_whatever_a_schedule_had_stored() {
        let skips = |mut task: Value| {
            task["whenDown"] = json!("Skip");
            let spec = json!({ "cluster": "demo", "taskTemplate": { "spec": task } });
            of_schedule("always", "default", &spec, "always-1")["spec"]["whenDown"] == "Skip"
        };
        assert!(skips(json!({ "flush": {} })));
        assert!(skips(json!({ "repair": { "scope": "Due" } })));
        assert!(skips(json!({ "restart": {}, "members": ["demo-dc1-a-0"] })));
        for refused in ["cleanup", "restart", "replication", "repair"] {
            assert!(!skips(json!({ refused: {} })), "{refused}");
        }
        assert!(!skips(json!({ "repair": { "scope": "Due", "parallel": 1 } })));
        assert!(!skips(json!({ "restart": {}, "members": ["demo-dc1-a-0", "demo-dc1-a-1"] })));
    }

    #[test]
    fn segments_are_not_tiny_whatever_a_schedule_had_stored() {
        let bytes = |spec: &Value| {
            let task = of_schedule("always", "default", spec, "always-1");
            task["spec"]["repair"]["segmentBytes"].clone()
        };
        let cover = |repair: Value| json!({ "cluster": "demo", "cover": repair });
        let template = |repair: Value| json!({ "cluster": "demo", "taskTemplate": { "spec": { "repair": repair } } });
        for (stored, taken) in [(1, 67_108_864), (67_108_864, 67_108_864), (1 << 30, 1 << 30)] {
            let repair = json!({ "scope": "Due", "segmentBytes": stored });
            assert_eq!(bytes(&cover(repair.clone())), json!(taken));
            assert_eq!(bytes(&template(repair)), json!(taken));
        }
        assert_eq!(bytes(&cover(json!({}))), Value::Null);
        assert_eq!(bytes(&template(json!({}))), Value::Null);
        let flush = json!({ "cluster": "demo", "taskTemplate": { "spec": { "flush": {} } } });
        let task = of_schedule("always", "default", &flush, "always-1");
        assert_eq!(task["spec"], json!({ "cluster": "demo", "flush": {} }));
    }
}
