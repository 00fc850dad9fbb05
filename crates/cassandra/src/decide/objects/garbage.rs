//! Old configurations: a ConfigMap that no set and no pod's revision refers to.

use crate::build;
use crate::decide::draft::Draft;
use crate::decide::objects::standing;
use crate::facts::{Facts, SetFact};
use crate::resources as kinds;
use crate::validate::{RackPlace, Valid, ValidRack};
use crate::words::objects::Doing;
use palladion_api::labels;
use palladion_plan::{Loss, Step};
use serde_json::Value;

/// Delete configurations of racks whose pods all have the newest revision.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if draft.has_work() {
        return; // Tidying up never travels with work.
    }
    // Of a dropped rack nothing is rendered: what its pods mount is not known here.
    for rack in valid.racks.iter().filter(|r| r.place == RackPlace::Wanted) {
        // While its set goes, or has not taken a change yet, pods mount what the
        // spec does not ask for any more.
        let set = facts.sets.get(&rack.set).filter(|s| !s.object.meta.is_terminating());
        let Some((set, newest)) = set.and_then(|s| Some((s, s.update_revision.as_ref()?))) else {
            continue;
        };
        let pods = facts.members.values().filter(|m| m.rack == rack.name);
        if pods.filter_map(|m| m.pod.as_ref()).any(|pod| &pod.revision != newest) {
            continue;
        }
        let mut current = None;
        for map in facts.objects(kinds::CONFIG_MAP) {
            let of_rack =
                map.meta.labels.get(labels::RACK).is_some_and(|r| r == rack.name.as_str());
            if !of_rack
                || mounts(set, &map.meta.name)
                || !map.meta.is_controlled_by(&valid.uid)
                || map.meta.is_terminating()
            {
                continue;
            }
            let current = current.get_or_insert_with(|| name_of(facts, valid, rack));
            if *current == map.meta.name {
                continue;
            }
            let doing = Doing::DeleteConfiguration { config_map: map.meta.name.clone() };
            let step = Step::delete_seen(kinds::CONFIG_MAP, &map.meta, Loss::Nothing, doing);
            draft.steps.push(step);
        }
    }
}

/// The name of the configuration that the rack has now.
fn name_of(facts: &Facts<'_>, valid: &Valid, rack: &ValidRack) -> Value {
    let rendered = build::rendered(valid, rack, &standing::of(facts, rack));
    build::config_map(valid, rack, &rendered)["metadata"]["name"].take()
}

/// Do pods of this set's template mount the ConfigMap?
fn mounts(set: &SetFact, config_map: &str) -> bool {
    let volumes = set.object.at("/spec/template/spec/volumes").and_then(Value::as_array);
    volumes.into_iter().flatten().any(|v| v["configMap"]["name"] == config_map)
}
