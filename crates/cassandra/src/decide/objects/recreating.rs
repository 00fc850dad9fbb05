//! What a StatefulSet cannot change: its claim template. Then, or always where
//! the spec says so, the set alone is deleted, its pods stay as orphans, and the
//! recreated set adopts them (tried on Kubernetes 1.34: uids of pods and
//! revisions stay).

use crate::decide::draft::Draft;
use crate::facts::{Facts, SetFact};
use crate::validate::{Valid, ValidRack};
use crate::words::objects::{Happened, Problem};
use palladion_api::cluster::StatefulSetReplace;
use palladion_api::labels;
use palladion_plan::Event;
use palladion_plan::differ;
use palladion_plan::workload::claims::{Change, compare, release_pods};
use serde_json::Value;

const TEMPLATES: &str = "/spec/volumeClaimTemplates";

/// What is done with a wanted set whose stored one differs in what is fixed.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It can be applied.
    Apply,
    /// The stored one goes first; its pods stay.
    Recreate,
}

/// Make the wanted set such that the API server takes it, or let the stored
/// one go. An apply that tries to change what is fixed is refused as a whole,
/// and with it every other change of the rack.
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
    // Nobody's start or stop is under way while the set is away.
    let may_go = facts.turn().is_none() && !stored.object.meta.is_terminating();
    match change(stored, wanted) {
        Change::None if may_go && is_replaced(valid, stored, wanted) => {
            release(stored, Happened::SetReplaced { rack: rack.name.clone() }, draft)
        }
        Change::None => Outcome::Apply,
        Change::Other(change) => {
            draft.report(Problem::ClaimTemplate { rack: rack.name.clone(), change });
            keep(stored, wanted);
            Outcome::Apply
        }
        Change::Growth if !may_go => {
            keep(stored, wanted);
            Outcome::Apply
        }
        Change::Growth => {
            release(stored, Happened::SetRecreated { rack: rack.name.clone() }, draft)
        }
    }
}

fn release(stored: &SetFact, happened: Happened, draft: &mut Draft) -> Outcome {
    draft.steps.push(release_pods(&stored.object, Some(Event::normal(happened))));
    Outcome::Recreate
}

/// Does the spec ask for another set where a change in place would do? Told by
/// the hash of what a person changed: the number of pods is not in it, and what
/// somebody edited in the set itself is put back in place.
fn is_replaced(valid: &Valid, stored: &SetFact, wanted: &Value) -> bool {
    let has = stored.object.meta.annotations.get(labels::SPEC_HASH).map(String::as_str);
    let wants = wanted["metadata"]["annotations"][labels::SPEC_HASH].as_str();
    match valid.set_replace {
        StatefulSetReplace::WhenImmutable => false,
        StatefulSetReplace::Always => has.is_some() && has != wants,
    }
}

/// What differs between the templates; changed labels are carried
/// out as a larger size is: for claims to come.
fn change(stored: &SetFact, wanted: &Value) -> Change {
    let templates = |set: Option<&Value>| set.and_then(Value::as_array).cloned();
    let has = templates(stored.object.at(TEMPLATES)).unwrap_or_default();
    let want = templates(wanted.pointer(TEMPLATES)).unwrap_or_default();
    let labels = |all: &[Value]| -> Vec<Value> {
        all.iter().map(|t| t["metadata"]["labels"].clone()).collect()
    };
    match compare(&want, &has) {
        Change::None if !differ::contains(&labels(&has).into(), &labels(&want).into()) => {
            Change::Growth
        }
        same @ (Change::None | Change::Growth | Change::Other(_)) => same,
    }
}

fn keep(stored: &SetFact, wanted: &mut Value) {
    if let (Some(have), Some(want)) = (stored.object.at(TEMPLATES), wanted.pointer_mut(TEMPLATES)) {
        want.clone_from(have);
    }
}
