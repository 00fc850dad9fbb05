//! A schedule that covers a ring: a repair of what is due whenever a range is,
//! before deletions in it are forgotten; and what is told where that fails.

use super::read::{Schedule, ended_at, is_active, of_cluster};
use super::report::Outcome;
use super::rest::{away, waits};
use super::{by_server, create};
use crate::decide::draft::Draft;
use crate::decide::tasks::KNOWS_DUE;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::schedules::{Accepted, Behind, Doing, Held, Invalid, Risk};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::Mode;
use palladion_api::ids::MemberName;
use palladion_api::repair::{Coverage, RepairStatus};
use palladion_api::task::{MemberTaskState, RepairScope};
use palladion_plan::words::Names;
use palladion_plan::{Object, Step};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A clock may be ahead by so much when a time that it has set is read.
const AHEAD: SignedDuration = SignedDuration::from_mins(1);

/// How the repair of a ring stands, by what its members report, also those that are down.
pub(super) struct Standing {
    /// When the first range is due.
    pub due: Option<Timestamp>,
    /// The condition `Behind`.
    pub behind: Behind,
    /// The condition `Degraded`.
    pub risk: Risk,
}

/// The schedule that covers the ring: the oldest.
fn covering<'a>(facts: &'a Facts<'_>) -> Option<Schedule<'a>> {
    let covers = of_cluster(facts).filter(|schedule| schedule.spec.cover.is_some());
    covers.min_by_key(|s| (s.object.meta.creation_timestamp, s.object.meta.name.clone()))
}

/// Members are told what is covered; no schedule, and nothing is.
pub(super) fn give(facts: &Facts<'_>, draft: &mut Draft) {
    let schedule = covering(facts).filter(|_| facts.spec.mode == Mode::Cassandra);
    let cover = schedule.and_then(|schedule| schedule.spec.cover).map(|cover| cover.of);
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        if spec.repair == cover {
            continue;
        }
        let patch = json!({ "spec": { "repair": cover.as_ref().map(patch) } });
        let doing = Doing::Give { member: member.name.clone() };
        draft.steps.push(Step::patch_seen(kinds::MEMBER, &object.meta, patch, doing));
    }
}

/// A merge patch: what is taken out must be named.
fn patch(cover: &Coverage) -> Value {
    let list = |names: &[String]| if names.is_empty() { Value::Null } else { json!(names) };
    json!({
        "keyspaces": list(&cover.keyspaces),
        "excludeTables": list(&cover.exclude_tables),
        "withinSeconds": cover.within_seconds,
    })
}

/// Why this schedule covers nothing.
fn invalid(facts: &Facts<'_>, valid: Option<&Valid>, schedule: &Schedule<'_>) -> Option<Invalid> {
    if facts.spec.mode != Mode::Cassandra {
        return Some(Invalid::OfScylla);
    }
    let other = covering(facts).map(|other| other.name().to_string());
    if let Some(other) = other.filter(|other| *other != schedule.name()) {
        let cluster = facts.snapshot.owner.meta.name.clone();
        return Some(Invalid::AnotherCovers { cluster, other });
    }
    by_server::of(facts, valid)
}

/// Nothing is created for the time being; what is late is told all the same.
pub(super) fn held(
    facts: &Facts<'_>,
    valid: Option<&Valid>,
    (schedule, why): (&Schedule<'_>, Held),
    draft: &mut Draft,
) -> Outcome {
    if let Some(why) = invalid(facts, valid, schedule) {
        return Outcome { accepted: Err(why), ..Outcome::next(None) };
    }
    let standing = standing(facts, draft);
    let next = standing.due.filter(|_| !schedule.spec.suspend);
    let held = if schedule.spec.suspend { Held::Suspended } else { why };
    Outcome { held: Some(held), standing: Some(standing), ..Outcome::next(next) }
}

/// Create a repair where one is due and can be done.
pub(super) fn outcome(
    facts: &Facts<'_>,
    valid: &Valid,
    (schedule, tasks): (&Schedule<'_>, &[&Arc<Object>]),
    draft: &mut Draft,
) -> Outcome {
    let tasks: Vec<&Arc<Object>> = tasks.iter().filter(|task| is_of_due(task)).copied().collect();
    if schedule.spec.suspend {
        return held(facts, Some(valid), (schedule, Held::Suspended), draft);
    }
    if let Some(why) = invalid(facts, Some(valid), schedule) {
        return Outcome { accepted: Err(why), ..Outcome::next(None) };
    }
    let standing = standing(facts, draft);
    let next = standing.due;
    let outcome = |accepted, created| Outcome {
        accepted: Ok(accepted),
        created,
        standing: Some(standing),
        ..Outcome::next(next)
    };
    let now = facts.now();
    let Some(due) = next.filter(|due| *due <= now) else {
        next.into_iter().for_each(|due| draft.wake_at(due));
        return outcome(Accepted::Covers, None);
    };
    let down = away(facts);
    if let Some(task) = tasks.iter().find(|task| is_active(task)) {
        if !down.is_empty() && !is_at_work(task) {
            let members = Names::of(down.iter().map(|m| &m.name));
            return outcome(Accepted::Down { due, members }, None);
        }
        let task = task.meta.name.clone();
        return outcome(Accepted::Repairs { due, task }, None);
    }
    let begun = schedule.status.last_schedule_time.as_ref().map(|t| t.0);
    let times = tasks.iter().filter_map(|task| ended_at(task)).chain(begun);
    // A clock that was ahead must not hold up repair until its time has come (safety rule 7).
    let last = times.filter(|time| *time <= now + AHEAD).max();
    if let Some(waits) = waits(facts, schedule, (due, last), &down, draft) {
        return outcome(waits, None);
    }
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let name = super::task_name(schedule, now);
    if let Some(why) = create(facts, schedule, &name, &tasks, draft) {
        return outcome(Accepted::Refused { due, task: name, why }, None);
    }
    outcome(Accepted::Covers, Some((name, now)))
}

/// Is it a repair of what is due? The label of a schedule is on whatever a person puts it.
fn is_of_due(task: &Object) -> bool {
    task.at("/spec/repair/scope") == Some(&json!(RepairScope::Due))
}

/// Does a member work at the task, as its status says?
fn is_at_work(task: &Object) -> bool {
    let members = task.at("/status/members").and_then(Value::as_array);
    members.into_iter().flatten().any(|entry| entry["state"] == json!(MemberTaskState::Running))
}

/// The first of these times over all members.
fn first<'a>(
    members: &[(&'a MemberFact, &RepairStatus)],
    of: impl Fn(&RepairStatus) -> Option<&Time>,
) -> Option<(Timestamp, &'a MemberName)> {
    let times = members.iter().filter_map(|(m, status)| Some((of(status)?.0, &m.name)));
    times.min()
}

fn standing(facts: &Facts<'_>, draft: &mut Draft) -> Standing {
    let reported = facts.joined().filter_map(|m| Some((m, m.status.repair.as_ref()?)));
    let reported: Vec<(&MemberFact, &RepairStatus)> = reported.collect();
    let now = facts.now();
    let behind_at = first(&reported, |status| status.behind_at.as_ref());
    let unsafe_at = first(&reported, |status| status.unsafe_at.as_ref());
    for (at, _) in behind_at.iter().chain(&unsafe_at).filter(|(at, _)| *at > now) {
        draft.wake_at(*at);
    }
    let late = |first: Option<(Timestamp, &MemberName)>| {
        first.filter(|(at, _)| *at <= now).map(|(at, member)| (at, member.clone()))
    };
    let away = too_long_away(facts, &reported, draft);
    let too_late = late(unsafe_at).map(|(since, member)| Risk::TooLate { member, since });
    let risk = away.or(too_late).unwrap_or(Risk::Nothing);
    Standing {
        due: first(&reported, |status| status.due_at.as_ref()).map(|(due, _)| due),
        behind: match late(behind_at) {
            Some((since, member)) => Behind::Late { member, since },
            None => in_time(facts, &reported),
        },
        risk,
    }
}

/// Keyspaces that the schedule names and no member has: a misspelt one is covered by nobody.
fn absent<'a>(reported: &[(&'a MemberFact, &RepairStatus)]) -> BTreeSet<&'a String> {
    let exists = |name: &String| reported.iter().any(|(m, _)| m.status.copies.contains_key(name));
    let covers = reported.iter().filter_map(|(m, _)| m.spec.as_ref()?.repair.as_ref());
    let named = covers.flat_map(|cover| &cover.keyspaces);
    named.filter(|name| !exists(name)).collect()
}

/// Do members report that every keyspace that is covered is there once only?
fn has_one_copy(reported: &[(&MemberFact, &RepairStatus)]) -> bool {
    let mut members = reported.iter().map(|(member, _)| member);
    members.all(|member| {
        let cover = member.spec.as_ref().and_then(|s| s.repair.as_ref());
        let names = cover.map_or(&[][..], |cover| cover.keyspaces.as_slice());
        let copies = |name: &String| member.status.copies.get(name).copied();
        let is_once = |copies: Option<u32>| copies.is_some_and(|n| n <= 1);
        match names.is_empty() {
            true => {
                let all = &member.status.copies;
                !all.is_empty() && all.values().all(|n| is_once(Some(*n)))
            }
            false => names.iter().all(|name| is_once(copies(name))),
        }
    })
}

/// A member that is down for longer than deletions are kept in some table. While nobody
/// serves nothing is deleted, and who was down with the whole ring lacks nothing.
fn too_long_away(
    facts: &Facts<'_>,
    reported: &[(&MemberFact, &RepairStatus)],
    draft: &mut Draft,
) -> Option<Risk> {
    let seconds = reported.iter().filter_map(|(_, status)| status.grace_seconds).min()?;
    let kept = SignedDuration::from_secs(seconds.into());
    let down_since = |member: &MemberFact| member.down_note()?.parse::<Timestamp>().ok();
    let (up, down): (Vec<&MemberFact>, Vec<_>) =
        facts.joined().partition(|m| m.lives_by_its_own_word(&facts.nodes));
    if up.is_empty() {
        return None;
    }
    let stood = |m: &&MemberFact| m.spec.as_ref().is_some_and(|spec| spec.ring_down.is_some());
    let down = down.into_iter().filter(|m| !stood(m));
    let down = down.filter_map(|m| Some((down_since(m)?, &m.name)));
    let (since, member) = down.min()?;
    let at = since.checked_add(kept).ok()?;
    if at > facts.now() {
        draft.wake_at(at);
        return None;
    }
    Some(Risk::ReturnsTooLate { member: member.clone(), since, seconds })
}

/// Does its agent know nothing of what is due?
fn is_too_old(member: &MemberFact) -> bool {
    member.status.agent.as_ref().is_some_and(|agent| agent.protocol < KNOWS_DUE)
}

/// Nothing that is known is late.
fn in_time(facts: &Facts<'_>, reported: &[(&MemberFact, &RepairStatus)]) -> Behind {
    let silent = facts.joined().filter(|m| m.status.repair.is_none());
    let (old, silent): (Vec<&MemberFact>, Vec<_>) = silent.partition(|m| is_too_old(m));
    if !old.is_empty() {
        return Behind::TooOld { members: Names::of(old.iter().map(|m| &m.name)) };
    }
    let silent: Vec<&MemberName> = silent.iter().map(|m| &m.name).collect();
    if !silent.is_empty() {
        return Behind::Silent { members: Names::of(silent) };
    }
    let told = reported.iter().find_map(|(m, s)| Some((m.name.clone(), s.message.clone()?)));
    if let Some((member, why)) = told {
        return Behind::Unclear { member, why };
    }
    let short: BTreeSet<&String> =
        reported.iter().flat_map(|(_, status)| &status.short_grace).collect();
    if !short.is_empty() {
        return Behind::Short { tables: Names::of(short) };
    }
    if !reported.is_empty() && reported.iter().all(|(_, status)| status.ranges == 0) {
        return if has_one_copy(reported) { Behind::OneCopy } else { Behind::NoRange };
    }
    let absent = absent(reported);
    if !absent.is_empty() {
        return Behind::Absent { keyspaces: Names::of(absent) };
    }
    match reported.iter().any(|(_, status)| status.never_ranges > 0) {
        true => Behind::First,
        false => Behind::InTime,
    }
}
