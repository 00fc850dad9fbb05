//! Absences that members report themselves: their agents know from the volume
//! when the server was down, also where nobody watched. Each is taken into
//! account once (safety rule 5.1); the agent keeps it until then, and adds the
//! next one to it (safety rule 7.8).

use super::{absences, debts, stale, together};
use crate::facts::{Facts, MemberFact};
use crate::words::maintenance::{Cause, Happened};
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::{Debt, Missed, SHORTEST_GRACE};
use palladion_plan::Event;
use serde_json::{Value, json};

/// A sign of life is up to a minute old, and clocks differ. Where the last one is older than
/// this when the operator sees the member go, it is not the last one.
const SIGN_OF_LIFE: SignedDuration = SignedDuration::from_mins(10);

/// What is known of the others while an absence is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// All serve: a stop of the whole ring can be told from an absence.
    Serve,
    /// Somebody is away: a long one can wait, since no repair could run.
    Away,
    /// Somebody is about to stream from this member: it cannot wait.
    Stream,
}

/// The patch of the spec of a member that was away by its own report, and that
/// nobody has taken into account yet: with a repair, if hints did not cover it.
pub(super) fn counted(
    facts: &Facts<'_>,
    member: &MemberFact,
    window: SignedDuration,
    others: Others,
) -> Option<Value> {
    let missed = uncounted(member)?;
    let set_back = ran_until(facts, member, missed);
    // What the hints covered, or is on record, needs no look at the others.
    let is_known = is_short(missed, window) || stood_on_record(member, window);
    let is_covered = match others {
        _ if set_back.is_some() => false,
        Others::Serve => is_known || ring_stood(facts, member, missed, window),
        Others::Away if !is_known => return None,
        Others::Away | Others::Stream => is_known,
    };
    let (since, until) = (missed.since.0, missed.until.0);
    let is_alone = facts.joined().count() < 2;
    let name = member.name.clone();
    let cause = match set_back {
        Some(until) => Cause::SetBack { member: name, to: since, until },
        None => Cause::Away { member: name, since, until },
    };
    let needs = if is_covered || is_alone { Needs::Nothing } else { Needs::Repair };
    let repair = match needs {
        Needs::Repair => debts::spec_with(member, &debts::repair_of_itself(cause)),
        Needs::Nothing => None,
    };
    Some(marked(repair, missed, needs))
}

/// Until when the member ran by what is on record of it, where its volume shows less: that was
/// set back to an earlier state, and nobody has hints for the time between. Its agent tells
/// where that is clear, and the note of when it went away shows the rest: as long as others ran
/// all the time, it is none of when the operator was back.
fn ran_until(facts: &Facts<'_>, member: &MemberFact, missed: &Missed) -> Option<Timestamp> {
    let noted = absences::since_on_record(member);
    let noted = noted.filter(|noted| noted.duration_since(missed.since.0) > SIGN_OF_LIFE);
    let ran_on = |other: &MemberFact| {
        let last = other.status.start_history.first().and_then(|start| start.normal_at.as_ref());
        let ran = last.is_some_and(|normal| normal.0 <= missed.since.0);
        other.name != member.name && other.is_normal() && ran
    };
    missed.ran_until.as_ref().map(|t| t.0).or(noted.filter(|_| facts.joined().any(ran_on)))
}

/// It was away for longer than some tables keep deletions, and its start was not refused,
/// because that takes a day (safety rule 7.8): nobody can tell whether rows have come back
/// with it. Where the whole ring was down, nothing was deleted meanwhile.
pub(super) fn returned_late(
    facts: &Facts<'_>,
    member: &MemberFact,
    (since, until): (Timestamp, Timestamp),
    window: SignedDuration,
) -> Option<Event> {
    let seconds = member.volume()?.gc_grace_seconds?;
    let kept = SignedDuration::from_secs(seconds.into());
    let all_were_down = stood_on_record(member, window)
        || uncounted(member).is_some_and(|missed| ring_stood(facts, member, missed, window));
    if kept >= SHORTEST_GRACE || until.duration_since(since) <= kept || all_were_down {
        return None;
    }
    let member = member.name.clone();
    Some(Event::warning(Happened::ReturnedLate { member, since, until, seconds }))
}

/// The same of what it reports itself, and nobody has taken into account.
pub(super) fn reported_late(
    facts: &Facts<'_>,
    member: &MemberFact,
    window: SignedDuration,
) -> Option<Event> {
    let missed = uncounted(member)?;
    returned_late(facts, member, (missed.since.0, missed.until.0), window)
}

/// What a member needs of the others for what it has missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// A repair of all its ranges, which is on record with this, or was before.
    Repair,
    /// Nothing: hints cover it, or nobody was up.
    Nothing,
}

/// The same patch of the spec, with the mark that the reported absence is in it.
pub(super) fn with_mark(member: &MemberFact, spec: Option<Value>, needs: Needs) -> Option<Value> {
    match uncounted(member) {
        Some(missed) => Some(marked(spec, missed, needs)),
        None => spec,
    }
}

/// That a repair is owed stays on record until it is done: what a person takes off the
/// list makes up for nothing.
fn marked(spec: Option<Value>, missed: &Missed, needs: Needs) -> Value {
    let mut spec = spec.unwrap_or_else(|| json!({}));
    spec["countedUntil"] = json!(missed.until);
    if needs == Needs::Repair {
        spec["repairOwedUntil"] = json!(missed.until);
    }
    spec
}

/// With the last repair of all its ranges a member has made up for what it has missed.
pub(super) fn made_up(member: &MemberFact, done: &Debt, left: &[&Debt], spec: &mut Value) {
    let is_owed = member.spec.as_ref().is_some_and(|s| s.repair_owed_until.is_some());
    if is_owed && debts::may_lack(done) && !left.iter().any(|debt| debts::may_lack(debt)) {
        spec["repairOwedUntil"] = Value::Null;
    }
}

/// Since when it was away, by its report, where nobody has taken that into account.
pub(super) fn since(member: &MemberFact) -> Option<Timestamp> {
    uncounted(member).map(|missed| missed.since.0)
}

/// The absence of which it is on record with this patch that hints cover it.
pub(super) fn covered(member: &MemberFact, spec: &Value) -> Option<(Timestamp, Timestamp)> {
    let missed = uncounted(member)?;
    let is_owed = spec.get("repairOwedUntil").is_some();
    (!is_owed).then_some((missed.since.0, missed.until.0))
}

/// What it reports and nobody has taken into account.
fn uncounted(member: &MemberFact) -> Option<&Missed> {
    let missed = reported(member)?;
    let counted = member.spec.as_ref()?.counted_until.as_ref();
    (counted != Some(&missed.until)).then_some(missed)
}

fn reported(member: &MemberFact) -> Option<&Missed> {
    member.volume()?.missed.as_ref()
}

fn is_short(missed: &Missed, window: SignedDuration) -> bool {
    missed.until.0.duration_since(missed.since.0) < window
}

/// Was it away only while the whole ring was down, as is on record since it was allowed to
/// start? What the others took before it was back, their hints cover. Who had missed
/// something before is not allowed to start for that reason.
pub(super) fn stood_on_record(member: &MemberFact, window: SignedDuration) -> bool {
    let Some(down) = stale::stood(member) else {
        return false;
    };
    // Who was down, or cut off, before the ring was lacks what the others took meanwhile.
    if together::was_away_before(member, down.since.0) {
        return false;
    }
    match reported(member) {
        // Of several absences others may have seen one.
        Some(missed) => {
            missed.absences == 1
                && missed.since == down.since
                && missed.until.0.duration_since(down.until.0) < window
        }
        // It was counted already, and its agent has nothing to report any more.
        None => {
            let counted = member.spec.as_ref().and_then(|s| s.counted_until.as_ref());
            counted.is_some_and(|t| t.0 > down.since.0)
        }
    }
}

/// Was the whole ring down then? What the first to come back, and the last to
/// end, took without this member the hints of the others cover. A ring with members elsewhere goes
/// on there.
fn ring_stood(
    facts: &Facts<'_>,
    member: &MemberFact,
    missed: &Missed,
    window: SignedDuration,
) -> bool {
    if facts.others_may_have_run() {
        return false;
    }
    let others = facts.joined().filter(|m| m.name != member.name);
    let others: Option<Vec<&Missed>> = others.map(reported).collect();
    let others = others.unwrap_or_default();
    let last = others.iter().map(|m| m.since.0).max();
    let first = others.iter().map(|m| m.until.0).min();
    let (Some(last), Some(first)) = (last, first) else {
        return false;
    };
    // Of several absences it is not known that they were the same ones.
    missed.absences == 1
        && others.iter().all(|m| m.absences == 1)
        && last.duration_since(missed.since.0) < window
        && missed.until.0.duration_since(first) < window
}
