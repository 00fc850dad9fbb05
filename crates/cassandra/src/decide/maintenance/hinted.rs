//! Members that get by hints what they have missed. Hints are with the member that coordinated
//! the write, and with no other: one that is lost while they may be on their way takes them
//! with it. Whoever they were for is repaired before anybody streams from it (safety rule 5.2).
//!
//! The time stands in an annotation of the member, and is written with the end of an absence;
//! restarts, which are too short to be noted, are in the report of its agent.

use super::missed::{self, Needs};
use super::together::TOGETHER;
use super::{absences, debts};
use crate::decide::evidence;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::maintenance::Cause;
use jiff::{SignedDuration, Timestamp};
use palladion_api::labels;
use palladion_api::member::{PermitKind, StartRecord};
use palladion_plan::Step;
use serde_json::{Value, json};

/// Hints take so many times as long as the absence that they are of: a member gets 1 MiB/s of
/// them, from all others together (`hinted_handoff_throttle`), and few rings write more than
/// ten times that to each of their members.
const TIMES: i32 = 10;
/// However short it was: the others see a member up again, and begin, after some seconds.
const AT_LEAST: SignedDuration = SignedDuration::from_mins(10);

/// An absence, and until when hints for it may be on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hinted {
    since: Timestamp,
    until: Timestamp,
}

impl Hinted {
    /// Hints are kept for as long as the window, and no longer.
    fn of(since: Timestamp, back: Timestamp, window: SignedDuration) -> Self {
        let away = back.duration_since(since).min(window).max(SignedDuration::ZERO);
        Self { since, until: later(back, delivered_in(away).max(AT_LEAST)) }
    }

    /// One whose hints are not waited for: what it missed is on record.
    fn is_settled(self) -> bool {
        self.since == self.until
    }

    fn text(self) -> String {
        format!("{}/{}", self.since, self.until)
    }
}

fn delivered_in(away: SignedDuration) -> SignedDuration {
    away.checked_mul(TIMES).unwrap_or(SignedDuration::MAX)
}

fn later(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// The annotation of a member whose absence was covered by hints. What was on its way when it
/// went away had to wait.
pub(super) fn pending(
    facts: &Facts<'_>,
    member: &MemberFact,
    (since, back): (Timestamp, Timestamp),
    window: SignedDuration,
) -> Value {
    let since = others_ran_since(facts, member, since).map_or(back, |ran| ran.clamp(since, back));
    let new = Hinted::of(since, back, window);
    let earlier = noted(member).filter(|h| h.until > since);
    let whole = earlier.map_or(new, |earlier| Hinted {
        since: earlier.since.min(since),
        until: later(new.until, earlier.until.duration_since(since).min(delivered_in(window))),
    });
    json!({ labels::HINTS_PENDING: whole.text() })
}

/// Since when others took writes without a member that went away at this time: where all were
/// stopped together, since the first of them was back. None if none of them was.
fn others_ran_since(facts: &Facts<'_>, member: &MemberFact, since: Timestamp) -> Option<Timestamp> {
    let others = facts.joined().filter(|m| m.name != member.name);
    others.filter_map(|other| ran_since(other, since)).min()
}

/// The same of one of the others. One of which it is not known that it had ended by then, ran.
fn ran_since(other: &MemberFact, since: Timestamp) -> Option<Timestamp> {
    let mut starts = starts(other);
    let last = starts.next();
    let began_later = last.filter(|start| start.started_at.0 >= since - TOGETHER);
    let before = began_later.map_or(last, |_| starts.next());
    let ended = before.and_then(|start| start.ended_at.as_ref());
    let had_ended = ended.is_some_and(|ended| ended.0 <= since + TOGETHER);
    match (had_ended, began_later) {
        (false, _) => Some(since),
        (true, None) => None,
        (true, Some(start)) => start.normal_at.as_ref().map(|normal| normal.0),
    }
}

/// The annotation of a member whose repair is on record: no hints are waited for of what it
/// missed before it was up this time.
pub(super) fn settled(member: &MemberFact) -> Value {
    let last = starts(member).filter_map(|start| start.normal_at.as_ref()).map(|t| t.0).max();
    let settled = last.map(|at| Hinted { since: at, until: at }.text());
    json!({ labels::HINTS_PENDING: settled })
}

/// The note, as the claim of this data has it.
pub fn on_claim(claim: &ClaimFact) -> Option<&str> {
    let annotations = &claim.object.meta.annotations;
    annotations.get(labels::HINTS_PENDING).filter(|_| claim.host_id.is_some()).map(String::as_str)
}

/// The first member that may never get hints which the lost one kept for it: its repair goes
/// on record. One that was away only after that was lost has its hints elsewhere.
pub fn lost_with(facts: &Facts<'_>, lost: &MemberFact, window: SignedDuration) -> Option<Step> {
    let at = lost_at(facts, lost);
    let is_other = |m: &&MemberFact| m.name != lost.name && evidence::lost(m).is_none();
    let others: Vec<&MemberFact> = facts.joined().filter(is_other).collect();
    let before = match ended_with_it(&others, at) {
        true => at - TOGETHER,
        false => at,
    };
    let mut others = others.into_iter().filter(|m| m.is_normal());
    let member = others.find(|m| waits_for_hints(m, (before, at), window))?;
    owes(facts, member, lost, at)
}

/// The repair of a member, in one write with all that shows that it was away.
fn owes(facts: &Facts<'_>, member: &MemberFact, lost: &MemberFact, at: Timestamp) -> Option<Step> {
    let object = member.object.as_ref()?;
    let cause = Cause::HintsLost { member: member.name.clone(), lost: lost.name.clone(), at };
    let repair = debts::spec_with(member, &debts::repair_of_itself(cause));
    let mut annotations = settled(member);
    // The note goes when it is seen to serve.
    if member.down_note().is_some() {
        annotations[labels::DOWN_SINCE] = json!(facts.now());
    }
    let mut patch = json!({ "metadata": { "annotations": annotations } });
    if let Some(spec) = missed::with_mark(member, repair, Needs::Repair) {
        patch["spec"] = spec;
    }
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, debts::recorded(member)))
}

/// Was it away before the one time, and may hints for it have been on their way at the other?
fn waits_for_hints(
    member: &MemberFact,
    (before, at): (Timestamp, Timestamp),
    window: SignedDuration,
) -> bool {
    let noted = noted(member);
    let settled = noted.filter(|h| h.is_settled()).map(|h| h.until);
    // What takes longer is counted as an absence, and noted.
    let is_short = |(since, back): &(Timestamp, Timestamp)| {
        Some(*back) > settled && back.duration_since(*since) < AT_LEAST
    };
    let restarts = restarts(member).filter(is_short);
    let known = noted.into_iter().chain(restarts.map(|(s, back)| Hinted::of(s, back, window)));
    let uncounted = [absences::since_on_record(member), missed::since(member)];
    uncounted.into_iter().flatten().any(|since| since < before)
        || known.filter(|h| !h.is_settled()).any(|h| h.since < before && at < h.until)
}

/// The note on the member. What nobody can read may be any time.
fn noted(member: &MemberFact) -> Option<Hinted> {
    let text = member.hints_note()?;
    let read = text.split_once('/').and_then(|(since, until)| {
        Some(Hinted { since: since.parse().ok()?, until: until.parse().ok()? })
    });
    Some(read.unwrap_or(Hinted { since: Timestamp::MIN, until: Timestamp::MAX }))
}

fn starts(member: &MemberFact) -> impl Iterator<Item = &StartRecord> {
    member.status.start_history.iter()
}

/// From when to when it did not run, by its agent, newest first: up to the start with which its
/// data came from the others.
fn restarts(member: &MemberFact) -> impl Iterator<Item = (Timestamp, Timestamp)> {
    let own = |start: &&StartRecord| {
        let kinds = [PermitKind::Initialize, PermitKind::Join, PermitKind::Replace];
        !kinds.iter().any(|kind| start.cause == format!("{kind:?}"))
    };
    let own = starts(member).take_while(own).enumerate();
    own.filter_map(|(at, start)| {
        let before = starts(member).nth(at + 1).and_then(|before| before.ended_at.as_ref());
        let since = before.unwrap_or(&start.started_at).0.min(start.started_at.0);
        Some((since, start.normal_at.as_ref()?.0))
    })
}

/// Since when the lost member is down, as far as anybody noted that.
fn lost_at(facts: &Facts<'_>, lost: &MemberFact) -> Timestamp {
    let pod = lost.pod.as_ref().and_then(|pod| pod.not_ready_since);
    let noted = absences::since_on_record(lost).or(pod);
    noted.unwrap_or(facts.now()).min(facts.now())
}

/// Have all others ended, too? Nobody took writes without them then, but for those of the
/// last seconds (safety rule 5.1): only who was away before counts.
fn ended_with_it(others: &[&MemberFact], at: Timestamp) -> bool {
    let is_then = |since: Timestamp| since >= at - TOGETHER && since <= at + TOGETHER;
    let ended = |m: &&MemberFact| restarts(m).any(|(since, _)| is_then(since));
    others.iter().all(ended)
}
