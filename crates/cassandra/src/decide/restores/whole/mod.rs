//! A ring that begins with a backup: a table of contents. Its members start once, empty and
//! closed to clients, with the tokens that the members of the backup had ([`start`], by
//! [`places`]); then its tables are compared, created and finished like those of any restore,
//! but for the files, which become each member's own, and for what was archived since then, if it
//! goes to a point in time ([`reach`], [`replay`]). Then come roles ([`roles`]), clients are
//! let in ([`open`]), and members repair what they have ([`repair`]).

pub mod begin;
mod open;
mod places;
mod reach;
mod repair;
mod replay;
mod roles;
mod start;

pub use replay::{REPLAY, replay};
pub use start::start;

use super::answers::One;
use super::orders::{Active, UnderWay};
use super::read::Restore;
use crate::decide::draft::Draft;
use crate::decide::transfers::identity;
use crate::facts::Facts;
use crate::validate::ValidBackup;
use palladion_api::cluster::{RestoredPlace, WholeRing};
use palladion_api::ids::MemberName;
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
    of_ring: (&Restore<'_>, &Active, Option<&ValidBackup>),
    draft: &mut Draft,
) -> bool {
    let ring = of(of_ring.1).filter(|ring| ring.open);
    ring.is_some_and(|ring| is_last(facts, of_ring, ring, draft))
}

/// Go on with the last phases, if it is in one of them.
fn is_last(
    facts: &Facts<'_>,
    of_ring: (&Restore<'_>, &Active, Option<&ValidBackup>),
    ring: &WholeRing,
    draft: &mut Draft,
) -> bool {
    match of_ring.0.status.phase {
        Some(RestorePhase::Opening) => open::open(facts, of_ring, ring, draft),
        Some(RestorePhase::Repairing) => repair::repair(facts, of_ring, ring, draft),
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
pub fn end(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, ring: &WholeRing, draft: &mut Draft) {
    let UnderWay { restore, active, own } = under_way;
    if !is_last(facts, (restore, active, Some(own)), ring, draft) {
        roles::roles(facts, under_way, ring, draft);
    }
}

/// Whose place nobody will ever take: its volume is another one now. Not once clients are let in:
/// from then on members are replaced.
pub fn lost<'a>(facts: &Facts<'_>, active: &'a Active) -> Option<&'a MemberName> {
    let ring = of(active).filter(|ring| !ring.open)?;
    let lost = ring.places.iter().find(|place| is_lost(facts, place));
    lost.map(|place| &place.member)
}

fn is_lost(facts: &Facts<'_>, place: &RestoredPlace) -> bool {
    let Some(member) = facts.members.get(&place.member).filter(|member| !member.is_gone()) else {
        return true;
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
    member.volume().is_some_and(is_other)
        || identity(member).is_some_and(|(_, volume)| *volume != place.volume_id)
}

/// Who has taken this place, and is in the ring.
fn taken<'a>(facts: &'a Facts<'_>, place: &RestoredPlace) -> Option<One<'a>> {
    if is_lost(facts, place) {
        return None;
    }
    let member = facts.members.get(&place.member)?;
    let (host, volume) = identity(member)?;
    Some((member, host, volume))
}

/// All that are taken.
fn in_place<'a>(
    facts: &'a Facts<'_>,
    ring: &'a WholeRing,
) -> impl Iterator<Item = (&'a RestoredPlace, One<'a>)> {
    ring.places.iter().filter_map(|place| Some((place, taken(facts, place)?)))
}
