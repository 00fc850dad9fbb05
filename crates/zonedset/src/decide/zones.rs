//! Zones that no node carries: their pods would wait for ever.

use super::Draft;
use crate::facts::Facts;
use crate::resources::NODE;
use crate::validate::Valid;
use palladion_api::reasons::Reason;

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
                true => "no node has this label at all".to_string(),
                false => format!("nodes have: {}", carried.join(", ")),
            };
            draft.trouble(Reason::ZoneWithoutNodes, format!("no node has {label}={zone}; {known}"));
        }
    }
}
