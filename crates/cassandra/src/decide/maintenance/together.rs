//! Which members of a ring that was down as a whole are let in without a person: those that
//! ended together, lack nothing, and are most of the ring. Clocks of machines differ, and who
//! was cut off does not know it: one that alone looks like the one with everything may be the
//! one that lacks it (safety rule 7.8).

use super::{absences, debts, stale, stopped};
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::MemberName;

/// Members that ended within this time have ended together: a sign of life is up to a
/// minute old, and is written a moment later.
pub(super) const TOGETHER: SignedDuration = SignedDuration::from_secs(90);

/// What the reports of all members come to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Together<'a> {
    /// Nobody's data is too old to start with.
    NobodyAsks,
    /// These start: nobody else has what they lack.
    LetIn(Vec<&'a MemberName>),
    /// These have not said when they ended, or run: they may have taken deletions.
    Unheard(Vec<&'a MemberName>),
    /// All have said when they ended, and it is not known who has everything.
    Doubtful {
        /// How many ended together and lack nothing.
        complete: usize,
        /// How many there are whose volumes are not given up.
        all: usize,
    },
}

impl Together<'_> {
    /// Is this member let in with the others?
    pub(super) fn lets_in(&self, member: &MemberFact) -> bool {
        match self {
            Together::LetIn(names) => names.contains(&&member.name),
            Together::NobodyAsks | Together::Unheard(_) | Together::Doubtful { .. } => false,
        }
    }
}

/// What is known of the members whose volumes are not given up.
pub(super) fn judge<'a>(facts: &'a Facts<'_>) -> Together<'a> {
    let all: Vec<&MemberFact> = facts.joined().filter(|m| !is_out(m)).collect();
    let ended = |m: &&'a MemberFact| ended_at(m).map(|at| (*m, at));
    let ends: Vec<(&MemberFact, Timestamp)> = all.iter().filter_map(ended).collect();
    if ends.is_empty() {
        return Together::NobodyAsks;
    }
    if ends.len() < all.len() {
        let unheard = all.iter().filter(|m| ended_at(m).is_none());
        return Together::Unheard(unheard.map(|m| &m.name).collect());
    }
    // Members of other datacenters may have gone on, and have forgotten deletions since.
    if facts.others_may_have_run() {
        return Together::Doubtful { complete: 0, all: all.len() };
    }
    let whole: Vec<(&MemberFact, Timestamp)> =
        ends.iter().copied().filter(|(m, at)| !lacked_data(m, *at)).collect();
    let in_order = stopped::by_operator(&ends);
    let last = whole.iter().map(|(_, at)| *at).max();
    let ended_with = |at: &Timestamp| last.is_some_and(|last| last.duration_since(*at) <= TOGETHER);
    let (group, before): (Vec<_>, Vec<_>) =
        whole.iter().copied().partition(|(_, at)| in_order || ended_with(at));
    let first = group.iter().map(|(_, at)| *at).min();
    let is_known = first.is_some_and(|first| {
        // Who lacks something may have gone on, and have taken what nobody else has.
        let went_on = |(_, at): &(&MemberFact, Timestamp)| at.duration_since(first) > TOGETHER;
        in_order
            || !ends.iter().any(went_on) && before.iter().all(|(m, at)| is_noted(m, *at, first))
    });
    match is_known && 2 * group.len() > all.len() {
        true => Together::LetIn(group.iter().map(|(m, _)| &m.name).collect()),
        false => Together::Doubtful { complete: group.len(), all: all.len() },
    }
}

/// It ended before the others, by its own word. Does the note of the operator say so, too?
/// The clock of its machine may be behind.
fn is_noted(member: &MemberFact, at: Timestamp, first: Timestamp) -> bool {
    let noted = absences::since_on_record(member);
    noted.is_some_and(|since| since >= at - TOGETHER && since <= first + TOGETHER)
}

/// When it ended: as it says, or as it said before it was allowed to start just now.
pub(super) fn ended_at(member: &MemberFact) -> Option<Timestamp> {
    stale::last_ran_at(member).or_else(|| {
        let has_missed = member.volume().is_none_or(|v| v.missed.is_some());
        let is_starting = member.agent_speaks() && !member.is_normal() && !has_missed;
        stale::allowed(member).filter(|_| is_starting)
    })
}

/// Did it lack what others had when the ring went down at this time? Deletions may be among
/// that: the others drop their tombstones as soon as they are up.
pub(super) fn lacked_data(member: &MemberFact, at: Timestamp) -> bool {
    let mut pending = member.spec.iter().flat_map(|s| &s.pending_maintenance);
    let is_owed = member.spec.as_ref().is_some_and(|s| s.repair_owed_until.is_some());
    was_away_before(member, at) || is_owed || pending.any(debts::may_lack)
}

/// Is it on record that it was down, or cut off, before the ring was?
pub(super) fn was_away_before(member: &MemberFact, at: Timestamp) -> bool {
    absences::since_on_record(member).is_some_and(|since| since < at - TOGETHER)
}

/// Is its volume given up or marked for replacement? What no server starts on any more brings
/// nothing back.
pub(super) fn is_out(member: &MemberFact) -> bool {
    member.is_terminated() || marks::of(member).is_some()
}
