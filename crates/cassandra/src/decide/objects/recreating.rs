//! What a StatefulSet cannot change: its claim template. Then the set alone is
//! deleted, its pods stay as orphans, and the recreated set adopts them
//! (tried on Kubernetes 1.34: uids of pods and revisions stay).

use crate::decide::draft::Draft;
use crate::facts::{Facts, SetFact};
use crate::validate::ValidRack;
use crate::words::objects::{Happened, Problem};
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
    rack: &ValidRack,
    wanted: &mut Value,
    draft: &mut Draft,
) -> Outcome {
    let Some(stored) = facts.sets.get(&rack.set) else {
        return Outcome::Apply;
    };
    match change(stored, wanted) {
        Change::None => Outcome::Apply,
        Change::Other(change) => {
            draft.report(Problem::ClaimTemplate { rack: rack.name.clone(), change });
            keep(stored, wanted);
            Outcome::Apply
        }
        // Nobody's start or stop is under way while the set is away.
        Change::Growth if facts.turn().is_some() || stored.object.meta.is_terminating() => {
            keep(stored, wanted);
            Outcome::Apply
        }
        Change::Growth => {
            let event = Event::normal(Happened::SetRecreated { rack: rack.name.clone() });
            draft.steps.push(release_pods(&stored.object, Some(event)));
            Outcome::Recreate
        }
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
