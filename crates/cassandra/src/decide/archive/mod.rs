//! The archive of the commit logs: what members are ordered, to which points in time the ring can
//! be restored by what they report, and what a person should look at.

mod orders;
mod reach;
mod window;

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::archive::Trouble;
use palladion_api::backup::{ArchiveState, PointInTime};

/// Order it, and report what is behind or has a gap.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    orders::decide(facts, valid, draft);
    if archive(valid).is_none() {
        return;
    }
    let mut has_gap = false;
    for member in facts.members.values().filter(|member| !member.is_gone()) {
        behind(member, draft);
        has_gap |= gap(facts, valid, member, draft);
    }
    let reached = reach::of(facts, valid, window::next(facts).window);
    if reached.lacks_base && !has_gap {
        draft.report(Trouble::NoBase);
    }
}

fn behind(member: &MemberFact, draft: &mut Draft) {
    let Some(status) = &member.status.archive else { return };
    match status.state {
        ArchiveState::Behind => {}
        ArchiveState::Waiting | ArchiveState::Current | ArchiveState::Unknown => return,
    }
    let member = member.name.clone();
    draft.report(match (&status.until, &status.message) {
        (Some(until), Some(why)) => Trouble::BehindWhy { member, until: until.0, why: why.clone() },
        (Some(until), None) => Trouble::Behind { member, until: until.0 },
        (None, why) => {
            let why = why.clone().unwrap_or_default();
            Trouble::NotBegun { member, why }
        }
    });
}

/// Report the gap of a member, unless a backup is behind it.
fn gap(facts: &Facts<'_>, valid: &Valid, member: &MemberFact, draft: &mut Draft) -> bool {
    let Some(status) = &member.status.archive else { return false };
    let Some(gap) = &status.gap else { return false };
    let (member, at, why) = (member.name.clone(), gap.at.0, gap.why.clone());
    if reach::is_behind(facts, valid, status, at) {
        return false;
    }
    draft.report(match (&status.since, &status.message) {
        (None, Some(waits)) => Trouble::GapStays { member, at, why, waits: waits.clone() },
        (Some(_), _) | (None, None) => Trouble::Gap { member, at, why },
    });
    true
}

/// What the spec says of it.
fn archive(valid: &Valid) -> Option<&crate::validate::ValidArchive> {
    valid.backup.as_ref()?.archive.as_ref()
}

/// To which points in time the ring can be restored. None where nothing is archived.
pub fn point_in_time(facts: &Facts<'_>, valid: &Valid) -> Option<PointInTime> {
    archive(valid)?;
    let next = window::next(facts);
    let reach = reach::of(facts, valid, next.window).point.unwrap_or_default();
    Some(PointInTime { window: next.window, restore_uid: next.restore_uid, ..reach })
}
