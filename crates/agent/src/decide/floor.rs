//! What no server on this volume is started without (safety rule 7.17). The operator says it where
//! it knows; an older one, and one that has lost its records, says nothing, and then what is noted
//! on the volume holds.

use super::{Facts, VolumeFact};
use crate::words::start::Waiting;
use palladion_api::member::{Guard, missing_guards};
use palladion_api::words::Names;

/// What holds now.
pub fn of<'a>(facts: &'a Facts<'_>) -> Option<&'a [Guard]> {
    let noted = match &facts.volume {
        VolumeFact::Found(found) => found.note.floor.as_deref(),
        VolumeFact::Unreadable(_) => None,
    };
    facts.spec.and_then(|known| known.spec.security_floor.as_deref()).or(noted)
}

/// What the operator has said, and is not noted yet.
pub fn to_note(facts: &Facts<'_>) -> Option<Vec<Guard>> {
    let said = facts.spec?.spec.security_floor.as_ref()?;
    let VolumeFact::Found(found) = &facts.volume else {
        return None;
    };
    let is_ours = found.ledger.is_some() && found.marker.is_some();
    (is_ours && found.note.floor.as_ref() != Some(said)).then(|| said.clone())
}

/// What stands against a start with the configuration of this pod. What this agent does not know
/// it cannot miss.
pub fn forbids(facts: &Facts<'_>) -> Option<Waiting> {
    let known = |guard: &Guard| !matches!(guard, Guard::Unknown(_));
    let mut missing = missing_guards(of(facts)?, &facts.seal.guards);
    missing.retain(known);
    (!missing.is_empty()).then(|| Waiting::SecurityLowered { missing: Names::of(missing) })
}
