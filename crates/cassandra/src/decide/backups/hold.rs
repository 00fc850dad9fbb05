//! Backups of a ring for which nothing is decided: it is paused, or its spec is refused. What
//! members were ordered goes on; nothing is begun.

use super::begin::{ends_at_once, say};
use super::course::{Said, write};
use super::orders::Active;
use super::read::{self, Backup};
use super::{give_up, schedules};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::status::pause;
use crate::words::backups::Pending;
use crate::words::status::Paused;

/// Say so of all that have not ended.
pub fn hold(facts: &Facts<'_>, draft: &mut Draft) {
    schedules::hold(facts, draft);
    let active = Active::read(facts);
    for backup in read::open(facts) {
        let is_under_way = active.as_ref().is_some_and(|active| active.uid == *backup.uid());
        let held = why(facts);
        match is_under_way {
            true if give_up::taken_back(facts, &backup, draft) => {}
            true => keep(facts, &backup, held, draft),
            false if ends_at_once(facts, &backup, draft) => {}
            false => say(facts, &backup, held, draft),
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

fn keep(facts: &Facts<'_>, backup: &Backup<'_>, held: Pending, draft: &mut Draft) {
    write(facts, backup, backup.status.clone(), Said::from(held), draft);
}
