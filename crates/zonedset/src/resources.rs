//! The kinds that this mind sees and writes, and what it keeps of each.

use palladion_api::zoned_stateful_set::names;
use palladion_plan::workload::pod;
use palladion_plan::{Keep, Resource, Route, Watch};
use serde_json::{Value, json};

/// `ZonedStatefulSet`.
pub const ZONED_SET: Resource = Resource::namespaced(
    palladion_api::GROUP,
    palladion_api::VERSION,
    "ZonedStatefulSet",
    "zonedstatefulsets",
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
/// ConfigMaps; watched by name only.
pub const CONFIG_MAP: Resource = Resource::namespaced("", "v1", "ConfigMap", "configmaps");
/// Secrets; watched by name only.
pub const SECRET: Resource = Resource::namespaced("", "v1", "Secret", "secrets");
/// Claims.
pub const CLAIM: Resource =
    Resource::namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims");
/// Nodes.
pub const NODE: Resource = Resource::cluster("", "v1", "Node", "nodes");

/// Selects what Palladion made; the same words in every mind, so that the
/// engine needs one watch for all.
const OURS: &str = "app.kubernetes.io/managed-by=palladion";

/// One watch per kind for the whole process.
pub fn watches() -> Vec<Watch> {
    let by_owner = Route::Label(names::OWNER);
    let watch = |resource, selector, keep, route| Watch { resource, selector, keep, route };
    vec![
        watch(ZONED_SET, "", Keep::Everything, Route::Owner),
        watch(OPERATOR_CONFIG, "", Keep::Only(&["/spec"]), Route::Every),
        watch(STATEFUL_SET, OURS, Keep::Everything, by_owner),
        watch(POD, OURS, Keep::Projection(pod::project), by_owner),
        watch(SERVICE, OURS, Keep::Everything, by_owner),
        watch(CLAIM, OURS, Keep::Projection(claim), by_owner),
        watch(NODE, "", Keep::Projection(nothing), Route::Every),
    ]
}

fn claim(object: &Value) -> Value {
    json!({ "requested": object["spec"]["resources"]["requests"]["storage"] })
}

/// Of a node, its labels are enough.
fn nothing(_: &Value) -> Value {
    json!({})
}
