//! Servers that repair themselves: Cassandra 5.0.8 and later can (`auto_repair`, CEP-37).
//! Beside them a schedule that covers the ring would repair everything twice, and its
//! members would remember only one of the two. So it stands still, and says so.

use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::schedules::Invalid;
use palladion_api::repair::AutoRepair;
use palladion_plan::words::Names;
use serde_json::Value;
use std::collections::BTreeMap;

/// The section of `cassandra.yaml`.
const AUTO_REPAIR: &str = "auto_repair";

/// Do they, by their configuration or by their own word?
pub(super) fn of(facts: &Facts<'_>, valid: Option<&Valid>) -> Option<Invalid> {
    let merged = valid.into_iter().flat_map(|valid| &valid.racks).map(|rack| &rack.server.config);
    // Of a spec that is not valid the rest is not known.
    if merged.chain([&facts.spec.config]).any(is_enabled) {
        let cluster = facts.snapshot.owner.meta.name.clone();
        return Some(Invalid::RepairedByConfig { cluster });
    }
    let says_so = |member: &&MemberFact| {
        let repair = member.status.repair.as_ref();
        repair.and_then(|repair| repair.auto_repair) == Some(AutoRepair::Enabled)
    };
    let members: Vec<_> = facts.joined().filter(says_so).map(|member| &member.name).collect();
    (!members.is_empty()).then(|| Invalid::RepairedByServers { members: Names::of(members) })
}

/// Is its scheduler enabled? Which kinds of repair it begins can be changed while servers run.
fn is_enabled(config: &BTreeMap<String, Value>) -> bool {
    config.get(AUTO_REPAIR).and_then(|section| section.get("enabled")) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_is_the_scheduler_that_counts() {
        let enabled = |section: Value| is_enabled(&[(AUTO_REPAIR.to_string(), section)].into());
        assert!(enabled(json!({ "enabled": true })));
        assert!(!enabled(json!({ "enabled": false })));
        assert!(!enabled(json!({ "repair_type_overrides": { "full": { "enabled": true } } })));
        assert!(!enabled(json!(null)));
        assert!(!is_enabled(&BTreeMap::new()));
    }
}
