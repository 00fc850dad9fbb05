//! A ring that begins with a backup: a table of contents. Its members start once, empty and
//! closed to clients, with the tokens that the members of the backup had ([`start`], by
//! [`places`]); then its tables are compared, created and finished like those of any restore,
//! but for the files, which become each member's own. Then come roles ([`roles`]), clients are
//! let in ([`open`]), and members repair what they have ([`repair`]).

pub mod begin;
mod open;
mod places;
mod repair;
mod roles;
mod start;

pub use start::start;

use super::answers::One;
use super::orders::{Active, UnderWay};
use super::read::Restore;
use crate::decide::draft::Draft;
use crate::decide::transfers::identity;
use crate::facts::Facts;
use crate::validate::ValidBackup;
use palladion_api::cluster::{RestoredPlace, WholeRing};
use palladion_api::member::{VolumeState, VolumeStatus};
use palladion_api::restore::RestorePhase;

/// How its members start, if this restore is of a whole ring.
pub fn of(active: &Active) -> Option<&WholeRing> {
    active.record.whole_ring.as_ref()
}

/// Has a member of it been started, or may have been? Then the ring is this one, whatever becomes
/// of the restore.
pub fn has_begun(facts: &Facts<'_>) -> bool {
    facts.ring_exists() || facts.status.initialization.is_some()
}

/// Is it a ring that takes no clients, and that nobody but this restore lets any in?
pub fn keeps_closed(facts: &Facts<'_>, active: &Active) -> bool {
    of(active).is_some_and(|whole| !whole.open) && has_begun(facts)
}

/// Clients are let in: that is not taken back, and neither is the repair without which deletions
/// would be forgotten, whatever becomes of the restore.
pub fn goes_on(
    facts: &Facts<'_>,
    (restore, active, own): (&Restore<'_>, &Active, Option<&ValidBackup>),
    draft: &mut Draft,
) -> bool {
    let Some(ring) = of(active).filter(|ring| ring.open) else {
        return false;
    };
    match restore.status.phase {
        Some(RestorePhase::Opening) => open::open(facts, (restore, active, own), ring, draft),
        Some(RestorePhase::Repairing) => {
            repair::repair(facts, (restore, active, own), ring, draft);
        }
        _ => return false,
    }
    true
}

/// Its object was deleted when clients were let in: all members open, and repair what they have.
pub fn goes_on_without_object(
    facts: &Facts<'_>,
    (active, own): (&Active, Option<&ValidBackup>),
    draft: &mut Draft,
) -> bool {
    let Some(ring) = of(active).filter(|ring| ring.open) else {
        return false;
    };
    open::close_behind(facts, (active, own), ring, draft)
        || repair::pay(facts, active, ring, draft).is_some()
}

/// What comes when all rows are in place.
pub fn end(
    facts: &Facts<'_>,
    under_way: &UnderWay<'_, '_>,
    (phase, ring): (RestorePhase, &WholeRing),
    draft: &mut Draft,
) {
    match phase {
        RestorePhase::Opening => {
            let UnderWay { restore, active, own } = under_way;
            open::open(facts, (restore, active, Some(own)), ring, draft);
        }
        RestorePhase::Repairing => {
            let UnderWay { restore, active, own } = under_way;
            repair::repair(facts, (restore, active, Some(own)), ring, draft);
        }
        _ => roles::roles(facts, under_way, ring, draft),
    }
}

/// Who has taken this place.
enum Taken<'a> {
    /// This member, which is in the ring.
    By(One<'a>),
    /// Nobody yet.
    NotYet,
    /// Nobody ever: its volume is another one now.
    Lost,
}

fn taken<'a>(facts: &'a Facts<'_>, place: &RestoredPlace) -> Taken<'a> {
    let Some(member) = facts.members.get(&place.member).filter(|member| !member.is_gone()) else {
        return Taken::Lost;
    };
    // One that cannot be looked at has no ID: it may be this one yet.
    let is_other = |volume: &VolumeStatus| match volume.state {
        VolumeState::Lost | VolumeState::Left => true,
        VolumeState::Empty | VolumeState::Incomplete | VolumeState::Joined => {
            volume.volume_id != place.volume_id
        }
        VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted
        | VolumeState::Unknown => false,
    };
    if member.volume().is_some_and(is_other) {
        return Taken::Lost;
    }
    match identity(member) {
        Some((host, volume)) if *volume == place.volume_id => Taken::By((member, host, volume)),
        Some(_) => Taken::Lost,
        None => Taken::NotYet,
    }
}

/// All of them; a place that nobody takes is none.
///
/// # Errors
/// A place is lost.
fn all_taken<'a>(
    facts: &'a Facts<'_>,
    whole: &'a WholeRing,
) -> Result<Vec<(&'a RestoredPlace, One<'a>)>, &'a RestoredPlace> {
    let mut all = Vec::new();
    for place in &whole.places {
        match taken(facts, place) {
            Taken::By(one) => all.push((place, one)),
            Taken::NotYet => {}
            Taken::Lost => return Err(place),
        }
    }
    Ok(all)
}
