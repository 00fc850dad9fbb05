//! The kinds that this mind sees and writes, and what it keeps of each.

use palladion_api::labels;
use palladion_plan::{Keep, Resource, Route, Watch};
use serde_json::{Value, json};

/// `CassandraCluster`.
pub const CLUSTER: Resource = Resource::namespaced(
    palladion_api::GROUP,
    palladion_api::VERSION,
    "CassandraCluster",
    "cassandraclusters",
);
/// `CassandraMember`.
pub const MEMBER: Resource = Resource::namespaced(
    palladion_api::GROUP,
    palladion_api::VERSION,
    "CassandraMember",
    "cassandramembers",
);
/// `OperatorConfig`.
pub const OPERATOR_CONFIG: Resource = Resource::cluster(
    palladion_api::GROUP,
    palladion_api::VERSION,
    "OperatorConfig",
    "operatorconfigs",
);
/// StatefulSets.
pub const STATEFUL_SET: Resource =
    Resource::namespaced("apps", "v1", "StatefulSet", "statefulsets");
/// Pods.
pub const POD: Resource = Resource::namespaced("", "v1", "Pod", "pods");
/// Services.
pub const SERVICE: Resource = Resource::namespaced("", "v1", "Service", "services");
/// ConfigMaps.
pub const CONFIG_MAP: Resource = Resource::namespaced("", "v1", "ConfigMap", "configmaps");
/// Claims.
pub const CLAIM: Resource =
    Resource::namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims");
/// Service accounts.
pub const SERVICE_ACCOUNT: Resource =
    Resource::namespaced("", "v1", "ServiceAccount", "serviceaccounts");
/// Role bindings.
pub const ROLE_BINDING: Resource = Resource::namespaced(
    "rbac.authorization.k8s.io",
    "v1",
    "RoleBinding",
    "rolebindings",
);
/// Disruption budgets.
pub const DISRUPTION_BUDGET: Resource = Resource::namespaced(
    "policy",
    "v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
);
/// Storage classes.
pub const STORAGE_CLASS: Resource =
    Resource::cluster("storage.k8s.io", "v1", "StorageClass", "storageclasses");
/// Nodes.
pub const NODE: Resource = Resource::cluster("", "v1", "Node", "nodes");

/// Selects what Palladion made, by the label that every builder sets.
const OURS: &str = "app.kubernetes.io/managed-by=palladion";

/// One watch per kind for the whole process.
pub fn watches() -> Vec<Watch> {
    let by_cluster = Route::Label(labels::CLUSTER);
    let watch = |resource, selector, keep, route| Watch {
        resource,
        selector,
        keep,
        route,
    };
    vec![
        watch(CLUSTER, "", Keep::Everything, Route::Owner),
        watch(MEMBER, OURS, Keep::Everything, by_cluster),
        watch(OPERATOR_CONFIG, "", Keep::Only(&["/spec"]), Route::Every),
        watch(STATEFUL_SET, OURS, Keep::Everything, by_cluster),
        watch(POD, OURS, Keep::Projection(pod), by_cluster),
        watch(SERVICE, OURS, Keep::Everything, by_cluster),
        watch(CONFIG_MAP, OURS, Keep::Everything, by_cluster),
        watch(CLAIM, OURS, Keep::Projection(claim), by_cluster),
        watch(SERVICE_ACCOUNT, OURS, Keep::Everything, by_cluster),
        watch(ROLE_BINDING, OURS, Keep::Everything, by_cluster),
        watch(
            DISRUPTION_BUDGET,
            OURS,
            Keep::Projection(without_status),
            by_cluster,
        ),
        watch(
            STORAGE_CLASS,
            "",
            Keep::Only(&["/provisioner", "/allowVolumeExpansion"]),
            Route::Every,
        ),
        watch(NODE, "", Keep::Projection(node), Route::Every),
    ]
}

fn without_status(object: &Value) -> Value {
    json!({ "spec": object["spec"] })
}

fn condition(object: &Value, type_: &str) -> Value {
    object["status"]["conditions"]
        .as_array()
        .and_then(|all| all.iter().find(|c| c["type"] == type_))
        .map(|c| json!({ "status": c["status"], "reason": c["reason"], "message": c["message"] }))
        .unwrap_or(Value::Null)
}

/// A pod is about 100 KiB in memory when typed; decisions need a few words of it.
fn pod(object: &Value) -> Value {
    let containers: Vec<Value> = ["initContainerStatuses", "containerStatuses"]
        .iter()
        .filter_map(|key| object["status"][key].as_array())
        .flatten()
        .map(|c| {
            json!({
                "name": c["name"],
                "waiting": c["state"]["waiting"],
                "running": c["state"]["running"].is_object(),
                "terminated": ended(&c["state"]["terminated"]),
                "last": ended(&c["lastState"]["terminated"]),
            })
        })
        .collect();
    json!({
        "node": object["spec"]["nodeName"],
        "phase": object["status"]["phase"],
        "reason": object["status"]["reason"],
        "message": object["status"]["message"],
        "ready": condition(object, "Ready")["status"] == "True",
        "scheduled": condition(object, "PodScheduled"),
        "containers": containers,
    })
}

fn ended(terminated: &Value) -> Value {
    match terminated {
        Value::Object(_) => json!({
            "exitCode": terminated["exitCode"],
            "reason": terminated["reason"],
            "message": terminated["message"],
        }),
        _ => Value::Null,
    }
}

fn claim(object: &Value) -> Value {
    json!({
        "phase": object["status"]["phase"],
        "volume": object["spec"]["volumeName"],
        "class": object["spec"]["storageClassName"],
        "requested": object["spec"]["resources"]["requests"]["storage"],
        "capacity": object["status"]["capacity"]["storage"],
    })
}

fn node(object: &Value) -> Value {
    json!({
        "ready": condition(object, "Ready")["status"],
        "unschedulable": object["spec"]["unschedulable"].as_bool().unwrap_or(false),
    })
}
