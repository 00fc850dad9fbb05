//! A replacement that a person asks for. The task is taken up by a record that
//! says what it is for before anything acts; the turns do the work as for any
//! other record, and the task reports how it went.

use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::decide::replace::by_hand;
use crate::decide::tasks::end::Course;
use crate::decide::tasks::read::Task;
use crate::decide::tasks::refusals::{already_replaced, another_volume, no_such_member};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::evidence::{Marked, Unmarked};
use crate::words::jobs::Waiting;
use crate::words::tasks::{Aborted, Done, Failed, Refused, Running};
use palladion_api::ids::HostId;
use palladion_api::member::{Replacement, ReplacementCause};
use palladion_api::task::ReplaceTask;
use palladion_plan::Step;
use palladion_plan::words::Reasoned;

/// Take up, follow and end a replacement.
pub(super) fn decide(facts: &Facts<'_>, task: &Task<'_>, wanted: &ReplaceTask, draft: &mut Draft) {
    let name = &wanted.member;
    let member = facts.members.get(name).filter(|m| !m.is_gone());
    let taken_up = task.status.host_id.as_ref();
    let Some(member) = member else {
        if taken_up.is_none() {
            return task.refuse(facts, no_such_member(facts, name), draft);
        }
        let course = Course::Done(Done::Removed { member: name.clone() }.into());
        return task.report(facts, taken_up, &course, draft);
    };
    let record = marks::of(member);
    if task.spec.abort {
        return abort(facts, task, member, draft);
    }
    match (taken_up, record) {
        (None, None) => take_up(facts, task, wanted, member, draft),
        (None, Some(record)) => {
            let words = stand_for(task, wanted, member, record);
            let against = match &words {
                Some(_) => None,
                None => already_replaced(facts, task, record),
            };
            if let Some(why) = against.or_else(|| another_volume(member, wanted)) {
                return task.refuse(facts, why, draft);
            }
            draft.steps.extend(words);
            let course = Course::Running(Running::Waits { member: name.clone() }.into());
            task.report(facts, Some(&record.host_id), &course, draft);
        }
        (Some(host_id), Some(record)) if record.host_id == *host_id => {
            let course = Course::Running(Running::Waits { member: name.clone() }.into());
            task.report(facts, taken_up, &course, draft);
        }
        (Some(host_id), _) => {
            if let Some(course) = ended(member, host_id) {
                task.report(facts, taken_up, &course, draft);
            }
        }
    }
}

/// Nothing is decided for the ring: it waits. Where nobody has taken it up it is aborted.
pub(super) fn hold(
    facts: &Facts<'_>,
    task: &Task<'_>,
    wanted: &ReplaceTask,
    why: &Waiting,
    draft: &mut Draft,
) {
    let taken_up = task.status.host_id.as_ref();
    // A leader may have ended between the record and what it says of it here.
    let record = facts.members.get(&wanted.member).and_then(marks::of);
    let has_record = record.is_some_and(|r| r.task_uid.as_ref() == Some(task.uid()));
    let course = match (taken_up.is_some() || has_record, task.spec.abort) {
        (true, _) => Course::Running(why.clone().into()),
        (false, true) => Course::Aborted(Aborted::InTime.into()),
        (false, false) => Course::Waiting(why.clone().into()),
    };
    task.report(facts, taken_up, &course, draft);
}

/// The record is gone, or is about somebody else.
fn ended(member: &MemberFact, host_id: &HostId) -> Option<Course> {
    let name = || member.name.clone();
    match member.recorded_host_id() {
        // Removed, and not a member again yet.
        None => None,
        Some(new) if new != host_id => {
            Some(Course::Done(Done::Replaced { member: name(), host_id: new.clone() }.into()))
        }
        Some(_) => Some(Course::Failed(Failed::NotReplaced { member: name() }.into())),
    }
}

fn cause(wanted: &ReplaceTask) -> ReplacementCause {
    match wanted.volume_id {
        Some(_) => ReplacementCause::Task,
        None => ReplacementCause::User,
    }
}

fn take_up(
    facts: &Facts<'_>,
    task: &Task<'_>,
    wanted: &ReplaceTask,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let by_hand = by_hand::refused(facts, member).map(|why| Refused::Replace {
        reason: why.reason(),
        member: member.name.clone(),
        why,
    });
    let against = by_hand.or_else(|| another_volume(member, wanted));
    let host_id = match (against, member.recorded_host_id()) {
        (None, Some(host_id)) => host_id,
        (Some(why), _) => return task.refuse(facts, why, draft),
        // `by_hand` refuses it.
        (None, None) => return,
    };
    let why = Marked::ByTask { task: task.object.meta.name.clone() };
    let record = marks::mark_by_task(member, host_id, (cause(wanted), why), task.uid());
    let Some(record) = record else {
        return task.refuse(facts, Refused::NoAddress { member: member.name.clone() }, draft);
    };
    // In this order: a record without a task is carried out all the same, and
    // the task finds it.
    draft.steps.push(record);
    let course = Course::Running(Running::Waits { member: member.name.clone() }.into());
    task.report(facts, Some(host_id), &course, draft);
}

/// The volume is marked already. A task that names it lends its word.
fn stand_for(
    task: &Task<'_>,
    wanted: &ReplaceTask,
    member: &MemberFact,
    record: &Replacement,
) -> Option<Step> {
    if cause(wanted) != ReplacementCause::Task {
        return None;
    }
    match record.cause {
        ReplacementCause::NodeGone | ReplacementCause::User => {}
        ReplacementCause::Task | ReplacementCause::Unknown(_) => return None,
    }
    let (marked, named) = (record.reason.clone(), task.object.meta.name.clone());
    let why = Marked::VolumeNamed { marked, task: named };
    marks::mark_by_task(member, &record.host_id, (ReplacementCause::Task, why), task.uid())
}

/// Take it back, as long as nothing was done.
fn abort(facts: &Facts<'_>, task: &Task<'_>, member: &MemberFact, draft: &mut Draft) {
    let name = &member.name;
    let taken_up = task.status.host_id.as_ref();
    // What it has put on record counts also where that is not in its status yet.
    let is_ours =
        |r: &&Replacement| Some(&r.host_id) == taken_up || r.task_uid.as_ref() == Some(task.uid());
    let record = marks::of(member).filter(is_ours);
    let aborted = Course::Aborted(Aborted::InTime.into());
    let Some(record) = record else {
        let course = match taken_up {
            None => aborted,
            // Removed, and not a member again yet.
            Some(id) => ended(member, id).unwrap_or_else(|| {
                Course::Running(Running::TooLate { member: name.clone() }.into())
            }),
        };
        return task.report(facts, taken_up, &course, draft);
    };
    if !is_untouched(facts, member) {
        let course = Course::Running(Running::TooLate { member: name.clone() }.into());
        return task.report(facts, Some(&record.host_id), &course, draft);
    }
    withdraw(facts, (member, record), Unmarked::TaskAborted, draft);
    task.report(facts, taken_up, &aborted, draft);
}

/// Was nothing done yet? A removal that is on record goes on, whoever has the turn
/// (safety rule 7.4).
fn is_untouched(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let has_turn = facts.turn().is_some_and(|t| t.member == member.name);
    !has_turn && member.removal().is_none() && marks::has_old_claim(member)
}

/// A Node that is gone is a cause of its own, whoever has asked besides; so is one
/// that only a newer operator knows.
fn withdraw(
    facts: &Facts<'_>,
    (member, record): (&MemberFact, &Replacement),
    why: Unmarked,
    draft: &mut Draft,
) {
    if matches!(record.cause, ReplacementCause::User | ReplacementCause::Task) {
        draft.steps.extend(marks::withdraw(member, why, Some(facts.fence_as_seen())));
    }
}

/// Whoever deletes a task wants nothing of it any more, as if it was aborted.
pub(super) fn take_back_without_task(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let Some(record) = marks::of(member) else { continue };
        let Some(uid) = &record.task_uid else { continue };
        let mut tasks = facts.objects(kinds::TASK).iter();
        let is_there = tasks.any(|o| o.meta.uid == *uid && !o.meta.is_terminating());
        if !is_there && is_untouched(facts, member) {
            withdraw(facts, (member, record), Unmarked::TaskDeleted, draft);
        }
    }
}
