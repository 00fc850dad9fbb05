//! The kinds that this mind sees and writes, and what it keeps of each.

use palladion_api::zoned_stateful_set::names;
pub use palladion_plan::kinds::{
    CLAIM, CONFIG_MAP, NODE, OPERATOR_CONFIG, POD, SECRET, SERVICE, STATEFUL_SET,
};
use palladion_plan::workload::{claims, pod};
use palladion_plan::{Keep, Resource, Route, Watch};
use serde_json::{Value, json};

/// `ZonedStatefulSet`.
pub const ZONED_SET: Resource = Resource::ours("ZonedStatefulSet", "zonedstatefulsets");

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
        watch(CLAIM, OURS, Keep::Projection(claims::project), by_owner),
        watch(NODE, "", Keep::Projection(nothing), Route::Every),
    ]
}

/// Of a node, its labels are enough.
fn nothing(_: &Value) -> Value {
    json!({})
}
