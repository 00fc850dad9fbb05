//! What existing pods should carry and a template cannot give them: their
//! ordinal as a label (QuarksStatefulSet sets it by a webhook) and the current
//! list of zones, which may change without a restart.

use super::draft::Draft;
use crate::build::set::zones_annotation;
use crate::facts::Facts;
use crate::resources::POD;
use crate::validate::Valid;
use crate::words::objects::Doing;
use palladion_api::ids::Uid;
use palladion_api::zoned_stateful_set::names;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{ObjectKey, Precondition, Step};
use serde_json::{Map, Value, json};
use std::fmt::Display;

/// Patch every pod that lacks something.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let zones = zones_annotation(valid);
    for pod in facts.pods().filter(|p| !p.terminating) {
        let mut labels = Map::new();
        let mut annotations = Map::new();
        let ordinal = pod.ordinal.to_string();
        if pod.labels.get(names::POD_ORDINAL) != Some(&ordinal) {
            labels.insert(names::POD_ORDINAL.into(), ordinal.into());
        }
        if pod.annotations.get(names::ZONES) != zones.as_ref() {
            let value = zones.clone().map_or(Value::Null, Value::String);
            annotations.insert(names::ZONES.into(), value);
        }
        if !labels.is_empty() || !annotations.is_empty() {
            let patch = json!({ "metadata": { "labels": labels, "annotations": annotations } });
            draft.steps.push(patch_pod(
                valid,
                pod,
                patch,
                Doing::LabelPod { pod: pod.name.clone() },
            ));
        }
    }
}

/// A merge patch of one pod, as it was seen.
pub fn patch_pod(valid: &Valid, pod: &PodFact, patch: Value, doing: impl Display) -> Step {
    let key = ObjectKey::new(POD, &valid.namespace, &pod.name);
    Step::patch(key, Precondition::Uid(Uid::from(&pod.uid)), patch, doing)
}
