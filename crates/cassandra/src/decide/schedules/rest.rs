//! When the next repair of a covered ring is created: a rest after the last one, and a
//! longer one while members are down. Then what has no copy there is repaired; whether that
//! is much only the agents know, so that a task finds out now and then.

use super::read::Schedule;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::schedules::Accepted;
use jiff::{SignedDuration, Timestamp};
use palladion_plan::words::Names;

/// After a repair has ended, whatever way, the next one begins no earlier: what
/// fails at once must not be tried without end.
const REST: SignedDuration = SignedDuration::from_hours(1);
/// It is a shorter rest where deletions are kept for less than ten hours, and a longer one
/// while members are down: between when a range is due and when it is late lie three of these
/// parts.
const PART_OF_GRACE: u32 = 10;

/// How long after the end of a repair the next one begins while members are down, where
/// nobody reports for how long deletions are kept.
const A_DAY: SignedDuration = SignedDuration::from_hours(24);

/// What keeps the next task from being created: the rest after the last one, or members that
/// are down.
pub(super) fn waits(
    facts: &Facts<'_>,
    schedule: &Schedule<'_>,
    (due, last): (Timestamp, Option<Timestamp>),
    down: &[&MemberFact],
    draft: &mut Draft,
) -> Option<Accepted> {
    let members = || Names::of(down.iter().map(|m| &m.name));
    let cover = schedule.spec.cover.as_ref();
    let is_alone = cover.is_some_and(|cover| cover.parallel == Some(1));
    if !down.is_empty() && (is_alone || !can_be_repaired(facts, down)) {
        return Some(Accepted::Down { due, members: members() });
    }
    let rest = if down.is_empty() { rest(facts) } else { rest_while_down(facts) };
    let until = last.map(|last| last + rest).filter(|until| *until > facts.now())?;
    draft.wake_at(until);
    Some(match down.is_empty() {
        true => Accepted::Rests { due, until, seconds: rest.as_secs() },
        false => Accepted::DownRests { due, members: members(), until },
    })
}

/// How long after the end of a repair the next one begins at the earliest.
fn rest(facts: &Facts<'_>) -> SignedDuration {
    part_of_grace(facts).map_or(REST, |part| part.min(REST))
}

/// The same while members are down: what is due and has copies there fails each time.
fn rest_while_down(facts: &Facts<'_>) -> SignedDuration {
    part_of_grace(facts).unwrap_or(A_DAY)
}

/// A part of the shortest time for which deletions are kept, by what members report.
fn part_of_grace(facts: &Facts<'_>) -> Option<SignedDuration> {
    let reported = facts.joined().filter_map(|m| m.status.repair.as_ref()?.grace_seconds);
    reported.min().map(|seconds| SignedDuration::from_secs((seconds / PART_OF_GRACE).into()))
}

/// Members that are down, by their own word or by that of others.
pub(super) fn away<'a>(facts: &'a Facts<'_>) -> Vec<&'a MemberFact> {
    let is_away =
        |m: &&MemberFact| !m.lives_by_its_own_word(&facts.nodes) || m.down_note().is_some();
    facts.joined().filter(is_away).collect()
}

/// May anything be repaired without these? They have been down for long, and the others are
/// enough for all copies of a keyspace.
fn can_be_repaired(facts: &Facts<'_>, down: &[&MemberFact]) -> bool {
    let is_noted = down.iter().all(|member| member.down_note().is_some());
    let up = facts.joined().count().saturating_sub(down.len());
    is_noted && fewest_copies(facts).is_some_and(|copies| up >= copies)
}

/// The copies of that keyspace which has the fewest, of those that are covered and that have
/// more than one.
fn fewest_copies(facts: &Facts<'_>) -> Option<usize> {
    let copies = facts.joined().flat_map(|member| {
        let cover = member.spec.as_ref().and_then(|spec| spec.repair.as_ref());
        let named = cover.map_or(&[][..], |cover| cover.keyspaces.as_slice());
        let is_covered = |name: &String| named.is_empty() || named.contains(name);
        member.status.copies.iter().filter(move |(name, _)| is_covered(name)).map(|(_, n)| *n)
    });
    copies.filter(|copies| *copies > 1).min().and_then(|copies| usize::try_from(copies).ok())
}
