//! What a StatefulSet cannot change: then the set alone is deleted, its pods
//! stay as orphans, and the set that is made anew adopts them (tried on
//! Kubernetes 1.34: uids of pods and revisions stay).

use super::Draft;
use crate::facts::{Facts, SetFact};
use crate::resources as kinds;
use crate::validate::{Valid, ValidRack};
use palladion_api::reasons::Reason;
use palladion_plan::{Loss, ObjectKey, Precondition, Propagation, Step, differ};
use serde_json::Value;

/// Fields of a StatefulSet that only a new one can have otherwise. Another
/// `selector` would not adopt the pods; it never changes.
const FIXED: [&str; 3] = [
    "/spec/volumeClaimTemplates",
    "/spec/serviceName",
    "/spec/podManagementPolicy",
];

/// What becomes of a wanted set whose stored one differs in what is fixed.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It can be applied.
    Apply,
    /// The stored one goes first; its pods stay.
    Recreate,
}

/// Make the wanted set such that the API server takes it, or let the stored
/// one go.
pub fn prepare(
    facts: &Facts<'_>,
    valid: &Valid,
    rack: &ValidRack,
    wanted: &mut Value,
    draft: &mut Draft,
) -> Outcome {
    let Some(stored) = facts.sets.get(&rack.set) else {
        return Outcome::Apply;
    };
    let differing: Vec<&str> = FIXED
        .into_iter()
        .filter(|field| differs(stored, wanted, field))
        .collect();
    if differing.is_empty() {
        return Outcome::Apply;
    }
    let keeps_claims = claims_fit(stored, wanted);
    if !keeps_claims {
        draft.trouble(
            Reason::ClaimTemplateKept,
            format!(
                "the claim template of rack {} differs from that of its StatefulSet {} in more than its size; claims that exist are not changed, set it back",
                rack.name, rack.set
            ),
        );
    }
    // Nobody's start or stop is under way while the set is away.
    if !keeps_claims || facts.turn().is_some() || stored.object.meta.is_terminating() {
        keep(stored, wanted);
        return Outcome::Apply;
    }
    draft.steps.push(Step::Delete {
        key: ObjectKey::new(kinds::STATEFUL_SET, &valid.namespace, &rack.set),
        precondition: Precondition::Uid(stored.object.meta.uid.clone()),
        loss: Loss::Nothing,
        propagation: Propagation::Orphan,
        fence: None,
        doing: format!(
            "make the StatefulSet of rack {} anew around its pods: {} cannot be changed",
            rack.name,
            differing.join(", ")
        ),
        event: super::synced(format!(
            "The StatefulSet of rack {} is made anew; its pods stay",
            rack.name
        )),
    });
    Outcome::Recreate
}

fn differs(stored: &SetFact, wanted: &Value, field: &str) -> bool {
    match (stored.object.at(field), wanted.pointer(field)) {
        (Some(have), Some(want)) => !differ::contains(have, want),
        (None, _) | (_, None) => false,
    }
}

/// Are the claims of the stored set those that the wanted one would use? Their
/// names tie members to their data, and classes and modes are for life.
fn claims_fit(stored: &SetFact, wanted: &Value) -> bool {
    let same = |field: &str| {
        let pointer = format!("/spec/volumeClaimTemplates/0/{field}");
        let want = wanted.pointer(&pointer).unwrap_or(&Value::Null);
        stored
            .object
            .at(&pointer)
            .is_none_or(|have| want.is_null() || differ::contains(have, want))
    };
    let count = |set: Option<&Value>| set.and_then(Value::as_array).map(Vec::len);
    let templates = "/spec/volumeClaimTemplates";
    let size = "/spec/volumeClaimTemplates/0/spec/resources/requests/storage";
    let amount = |value: Option<&Value>| value.and_then(differ::quantity);
    let grows = amount(wanted.pointer(size)) >= amount(stored.object.at(size));
    let fixed = [
        "metadata/name",
        "spec/storageClassName",
        "spec/accessModes",
        "spec/volumeMode",
    ];
    grows
        && count(stored.object.at(templates)) == count(wanted.pointer(templates))
        && fixed.into_iter().all(same)
}

fn keep(stored: &SetFact, wanted: &mut Value) {
    for field in FIXED {
        if let (Some(have), Some(want)) = (stored.object.at(field), wanted.pointer_mut(field)) {
            want.clone_from(have);
        }
    }
}
