//! Restores of a ring for which nothing is decided: it is paused, or its spec is refused. What
//! members were ordered goes on; nothing is begun.

use super::begin::{ends_at_once, say};
use super::course::write;
use super::orders::Active;
use super::{give_up, read};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::status::pause;
use crate::words::restores::Pending;
use crate::words::status::Paused;
use palladion_api::restore::RestorePhase;

/// Say so of all that have not ended.
pub fn hold(facts: &Facts<'_>, draft: &mut Draft) {
    let active = Active::read(facts);
    for restore in read::open(facts) {
        let is_under_way = active.as_ref().is_some_and(|active| active.uid() == restore.uid());
        let held = why(facts);
        match is_under_way {
            true if give_up::taken_back(facts, &restore, draft) => {}
            true => write(facts, &restore, restore.status.clone(), held, draft),
            false if ends_at_once(facts, &restore, draft) => {}
            // What is asked stays to be read.
            false if restore.status.phase == Some(RestorePhase::Confirming) => {}
            false => say(facts, &restore, held, draft),
        }
    }
}

fn why(facts: &Facts<'_>) -> Pending {
    let cluster = facts.snapshot.owner.meta.name.clone();
    match pause(facts) {
        Some(Paused::Everywhere) => Pending::PausedEverywhere,
        Some(Paused::Here) => Pending::Paused { cluster },
        None => Pending::NotAccepted { cluster },
    }
}
