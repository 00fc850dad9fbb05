//! Old configurations: a ConfigMap that no pod's revision refers to.

use super::super::spec::ServiceSpec;
use super::super::{Draft, ServiceFacts, SetFact};
use crate::kinds::CONFIG_MAP;
use crate::plan::{Loss, Step};
use crate::words::service::Doing;
use serde_json::Value;

/// Delete configurations but the `current` one, while all pods have the newest revision.
pub fn decide(facts: &ServiceFacts<'_>, spec: &ServiceSpec, current: &str, draft: &mut Draft) {
    if draft.has_work() {
        return; // Tidying up never travels with work.
    }
    let (Some(newest), Some(set)) = (facts.newest_revision(), &facts.set) else {
        return;
    };
    let mut pods = facts.members.values().filter_map(|m| m.pod.as_ref());
    if pods.any(|pod| pod.revision != newest) {
        return;
    }
    for map in facts.objects(CONFIG_MAP) {
        let meta = &map.meta;
        // The set may not have taken a change yet: then its pods mount what the spec does
        // not ask for any more.
        let is_used = current == meta.name || mounts(set, &meta.name);
        if is_used || !meta.is_controlled_by(&spec.uid) || meta.is_terminating() {
            continue;
        }
        let doing = Doing::DeleteConfiguration { config_map: meta.name.clone() };
        draft.steps.push(Step::delete_seen(CONFIG_MAP, meta, Loss::Nothing, doing));
    }
}

/// Do pods of the set's template mount the ConfigMap?
fn mounts(set: &SetFact, config_map: &str) -> bool {
    let volumes = set.object.at("/spec/template/spec/volumes").and_then(Value::as_array);
    volumes.into_iter().flatten().any(|v| v["configMap"]["name"] == config_map)
}
