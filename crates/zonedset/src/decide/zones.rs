//! Zones that no node carries: their pods would wait for ever.

use super::draft::Draft;
use crate::facts::Facts;
use crate::resources::NODE;
use crate::validate::Valid;
use crate::words::objects::{KnownZones, Problem};
use palladion_plan::words::Names;

/// Name the zones without nodes, and the zones that there are.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let label = &valid.spec.zone_node_label;
    let mut carried: Vec<&str> = facts
        .objects(NODE)
        .iter()
        .filter_map(|n| n.meta.labels.get(label).map(String::as_str))
        .collect();
    carried.sort_unstable();
    carried.dedup();
    for zone in valid.zones.iter().filter_map(|z| z.name.as_deref()) {
        if !carried.contains(&zone) {
            let known = match carried.is_empty() {
                true => KnownZones::NoNode { label: label.clone() },
                false => KnownZones::Some { zones: Names::of(&carried) },
            };
            let (label, zone) = (label.clone(), zone.to_string());
            draft.report(Problem::ZoneWithoutNodes { label, zone, known });
        }
    }
}
