//! Settings that servers take while they run travel to every member at once:
//! nothing is restarted for them, and nobody needs a turn.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::maintenance::Doing;
use palladion_api::runtime::RuntimeSettings;
use palladion_plan::Step;
use serde_json::{Value, json};

/// Write them to every member whose record differs.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let wanted = &valid.runtime_settings;
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        if spec.runtime_settings == *wanted {
            continue;
        }
        draft.steps.push(Step::patch_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": { "runtimeSettings": patch(&spec.runtime_settings, wanted) } }),
            Doing::SetRuntimeSettings { member: member.name.clone() },
        ));
    }
}

/// A merge patch: what is taken out must be named.
fn patch(old: &RuntimeSettings, new: &RuntimeSettings) -> Value {
    if new.is_empty() {
        return Value::Null;
    }
    let mut levels = json!(new.log_levels);
    for gone in old.log_levels.keys() {
        if !new.log_levels.contains_key(gone) {
            levels[gone] = Value::Null;
        }
    }
    json!({
        "compactionThroughput": new.compaction_throughput,
        "streamThroughput": new.stream_throughput,
        "logLevels": levels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::runtime::LogLevel;

    #[test]
    fn what_is_taken_out_is_named() {
        let levels = |names: &[&str]| RuntimeSettings {
            log_levels: names.iter().map(|n| ((*n).to_string(), LogLevel::Debug)).collect(),
            ..RuntimeSettings::default()
        };
        assert_eq!(
            patch(&levels(&["a", "b"]), &levels(&["b"])),
            json!({
                "compactionThroughput": null,
                "streamThroughput": null,
                "logLevels": { "a": null, "b": "DEBUG" },
            })
        );
        assert_eq!(patch(&levels(&["a"]), &levels(&[])), Value::Null);
    }
}
