//! Old configurations: a ConfigMap that no set and no pod's revision refers to.

use crate::build;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::{RackPlace, Valid};
use crate::words::objects::Doing;
use palladion_api::labels;
use palladion_plan::{Loss, Step};

/// Delete configurations of racks whose pods all have the newest revision.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if draft.has_work() {
        return; // Tidying up never travels with work.
    }
    // Of a dropped rack nothing is rendered: what its pods mount is not known here.
    for rack in valid.racks.iter().filter(|r| r.place == RackPlace::Wanted) {
        let Some(newest) = facts.sets.get(&rack.set).and_then(|s| s.update_revision.as_ref())
        else {
            continue;
        };
        let pods = facts.members.values().filter(|m| m.rack == rack.name);
        if pods.filter_map(|m| m.pod.as_ref()).any(|pod| &pod.revision != newest) {
            continue;
        }
        let current = build::config_map(valid, rack);
        for map in facts.objects(kinds::CONFIG_MAP) {
            let of_rack =
                map.meta.labels.get(labels::RACK).is_some_and(|r| r == rack.name.as_str());
            let is_current = current["metadata"]["name"] == map.meta.name.as_str();
            if !of_rack
                || is_current
                || !map.meta.is_controlled_by(&valid.uid)
                || map.meta.is_terminating()
            {
                continue;
            }
            let doing = Doing::DeleteConfiguration { config_map: map.meta.name.clone() };
            let step = Step::delete_seen(kinds::CONFIG_MAP, &map.meta, Loss::Nothing, doing);
            draft.steps.push(step);
        }
    }
}
