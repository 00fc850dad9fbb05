//! How each StatefulSet is, and what that amounts to.

use crate::decide::draft::Draft;
use crate::facts::{Facts, SetFact};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::zoned_stateful_set::{RolloutState, SetStatus, names};
use palladion_plan::{Precondition, Step};
use std::collections::BTreeMap;

/// The most telling state of the wanted sets.
pub fn most_telling(facts: &Facts<'_>, draft: &Draft) -> Option<RolloutState> {
    let wanted = facts.sets.values().filter(|s| draft.more.wanted.contains(&s.name));
    wanted.map(|s| coming(s, draft)).min()
}

/// The state that this decision is about to write, so that the status is not
/// one step behind.
fn coming(set: &SetFact, draft: &Draft) -> RolloutState {
    let written = draft.steps.iter().find_map(|step| match step {
        Step::Apply { object, precondition: Precondition::Version { uid, .. }, .. }
            if *uid == set.object.meta.uid =>
        {
            object["metadata"]["annotations"][names::STATE].as_str()
        }
        Step::Apply { .. }
        | Step::Create { .. }
        | Step::Patch { .. }
        | Step::CompareAndSet { .. }
        | Step::Issue { .. }
        | Step::Delete { .. } => None,
    });
    RolloutState::ALL.into_iter().find(|s| Some(s.as_str()) == written).unwrap_or(set.state)
}

/// Every set, by its name.
pub fn sets(facts: &Facts<'_>, draft: &Draft) -> BTreeMap<String, SetStatus> {
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    facts
        .sets
        .values()
        .map(|set| {
            let status = SetStatus {
                zone_index: set.zone_index,
                zone: set.zone.clone(),
                version: set.version,
                state: coming(set, draft),
                started: set.started.map(Time),
                replicas: set.replicas,
                ready_replicas: count(set.ready()),
                updated_replicas: count(set.pods.iter().filter(|p| set.is_updated(p)).count()),
                message: draft.more.messages.get(&set.name).map(ToString::to_string),
            };
            (set.name.clone(), status)
        })
        .collect()
}
