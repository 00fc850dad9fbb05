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
    let is_reachable = point_in_time(facts, valid).is_some_and(|reach| reach.from.is_some());
    for member in facts.members.values().filter(|member| !member.is_gone()) {
        behind(member, draft);
        // A backup that is within all windows is behind every gap.
        if !is_reachable {
            gap(member, draft);
        }
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

fn gap(member: &MemberFact, draft: &mut Draft) {
    if let Some(gap) = member.status.archive.as_ref().and_then(|status| status.gap.as_ref()) {
        let (member, at, why) = (member.name.clone(), gap.at.0, gap.why.clone());
        draft.report(Trouble::Gap { member, at, why });
    }
}

/// What the spec says of it.
fn archive(valid: &Valid) -> Option<&crate::validate::ValidArchive> {
    valid.backup.as_ref()?.archive.as_ref()
}

/// To which points in time the ring can be restored. None where nothing is archived.
pub fn point_in_time(facts: &Facts<'_>, valid: &Valid) -> Option<PointInTime> {
    archive(valid)?;
    let next = window::next(facts);
    let reach = reach::of(facts, valid, next.window).unwrap_or_default();
    Some(PointInTime { window: next.window, restore_uid: next.restore_uid, ..reach })
}
