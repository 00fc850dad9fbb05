//! What tasks of the queue say of themselves: their place, what they wait for,
//! and how they go.

use super::end::Course;
use super::follow::over_time_at;
use super::next_member::next;
use super::preconditions::{Gate, closed, gate};
use super::queue::Job;
use super::run::{Line, Stands};
use super::yields::Way;
use crate::decide::draft::Draft;
use crate::decide::restart::standstill;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::jobs::{Happened, Waiting};
use palladion_api::task::{KeyspaceState, MemberTaskState as State, TaskMember};
use palladion_plan::Event;

/// Results of keyspaces over all members of a task, at the most: an object has limits.
const KEYSPACES: usize = 2_000;

/// Bytes of what servers said of them, over all members: a third of what etcd takes of an
/// object, since each member has a message of its own, too.
const MESSAGES: usize = 512 * 1024;

/// The status of each task, where it differs.
pub fn report(
    facts: &Facts<'_>,
    valid: &Valid,
    way: &Way,
    (lines, holder): (&[Line<'_>], Option<usize>),
    draft: &mut Draft,
) {
    if let Some(at) = standstill::stands_at(facts).filter(|_| !lines.is_empty()) {
        draft.wake_at(at);
    }
    let mut waiting = 0;
    let mut first = holder.map(|at| lines[at].job.task.name());
    for (at, line) in lines.iter().enumerate() {
        let mut position = None;
        let course = match &line.ended {
            Some(course) => course.clone(),
            None if Some(at) == holder => match going(&line.job, &line.stands) {
                Some(course) => course,
                // It says more with the next decision.
                None => continue,
            },
            None => {
                waiting += 1;
                position = Some(waiting);
                let course = waits(facts, valid, way, line, first);
                first = first.or(Some(line.job.task.name()));
                course
            }
        };
        tell(facts, line, (position, &course), draft);
    }
}

/// The status of one, where it differs.
pub fn tell(
    facts: &Facts<'_>,
    line: &Line<'_>,
    (position, course): (Option<u32>, &Course),
    draft: &mut Draft,
) {
    let mut status = line.job.status.clone();
    status.position = position;
    cut(&mut status.members);
    if let Some(over) = over_time_at(&line.job.task).filter(|at| *at > facts.now()) {
        draft.wake_at(over);
    }
    let event = event(line, course);
    let step = line.job.task.write(facts.now(), status, course);
    draft.steps.extend(step.map(|step| step.announced(event)));
}

/// A task that has the job, as far as it does something, or knows what it waits for.
pub fn going(job: &Job<'_>, stands: &Stands) -> Option<Course> {
    match stands {
        Stands::Working(said) => Some(Course::Running(said.clone().into())),
        Stands::Waiting(why) => Some(pending(job, why.clone())),
        Stands::Queued | Stands::Due => None,
    }
}

/// It waits for this.
pub fn pending(job: &Job<'_>, why: Waiting) -> Course {
    match job.has_begun() {
        true => Course::Running(why.into()),
        false => Course::Waiting(why.into()),
    }
}

/// What a task waits for that does nothing: what comes before it in the queue, or
/// what it would wait for if it were the first.
fn waits(
    facts: &Facts<'_>,
    valid: &Valid,
    way: &Way,
    line: &Line<'_>,
    first: Option<&str>,
) -> Course {
    let own = || {
        let (_, entry) = next(&line.job.status.members)?;
        match gate(facts, valid, &line.job, entry) {
            Gate::Wait(why) => Some(why),
            Gate::Open(..) | Gate::Skip(_) => None,
        }
    };
    let before = first.map(|task| Waiting::InQueue { task: task.to_string() });
    let ring = closed(facts, way);
    let why = match line.job.is_taken_up() {
        true => ring.or_else(own).or(before),
        false => before.or(ring),
    };
    pending(&line.job, why.unwrap_or(Waiting::RingFirst))
}

/// What is told of it besides: a member that has failed, or its end.
fn event(line: &Line<'_>, course: &Course) -> Option<Event> {
    let task = &line.job.task;
    let told = course.event(task.name()).or_else(|| {
        let before = &task.status.members;
        let had_failed =
            |m: &TaskMember| before.iter().any(|b| b.name == m.name && b.state == State::Failed);
        let mut members = line.job.status.members.iter();
        let failed = members.find(|m| m.state == State::Failed && !had_failed(m))?;
        Some(Event::warning(Happened::MemberFailed {
            task: task.name().to_string(),
            work: line.job.kind.into(),
            member: failed.name.clone(),
            why: failed.message.clone().unwrap_or_default(),
        }))
    });
    told.map(|event| event.also_about(kinds::TASK, &task.object.meta))
}

/// Of a task with very many keyspaces only those that did not succeed are kept, and of very
/// many messages the first.
fn cut(members: &mut [TaskMember]) {
    let all: usize = members.iter().map(|m| m.keyspaces.len()).sum();
    if all > KEYSPACES {
        let mut left = KEYSPACES;
        for member in members.iter_mut() {
            member.keyspaces.retain(|k| k.state != KeyspaceState::Succeeded);
            member.keyspaces.truncate(left);
            left -= member.keyspaces.len();
        }
    }
    let mut left = MESSAGES;
    for result in members.iter_mut().flat_map(|member| &mut member.keyspaces) {
        let length = result.message.as_ref().map_or(0, String::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => result.message = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::next_member::entries;
    use super::*;
    use palladion_api::task::KeyspaceResult;

    fn member(keyspaces: impl Iterator<Item = KeyspaceState>) -> TaskMember {
        let result = |(number, state)| KeyspaceResult {
            name: format!("ks{number}"),
            state,
            seconds: 1,
            message: None,
            copies_before: None,
        };
        let [mut member]: [TaskMember; 1] = entries(vec!["a".into()]).try_into().unwrap();
        member.keyspaces = keyspaces.enumerate().map(result).collect();
        member
    }

    fn counts(members: &[TaskMember]) -> Vec<usize> {
        members.iter().map(|member| member.keyspaces.len()).collect()
    }

    /// One in a hundred has failed.
    fn some_failed(all: usize) -> impl Iterator<Item = KeyspaceState> {
        (0..all).map(|n| match n % 100 {
            0 => KeyspaceState::Failed,
            _ => KeyspaceState::Succeeded,
        })
    }

    #[test]
    fn results_of_two_thousand_keyspaces_are_kept_and_of_more_only_those_that_failed() {
        let mut members = [member(some_failed(1_500)), member(some_failed(500))];
        cut(&mut members);
        assert_eq!(counts(&members), [1_500, 500], "as many as are kept");
        let mut members = [member(some_failed(1_500)), member(some_failed(501))];
        cut(&mut members);
        assert_eq!(counts(&members), [15, 6]);
        let mut kept = members.iter().flat_map(|member| &member.keyspaces);
        assert!(kept.all(|result| result.state == KeyspaceState::Failed));
        assert_eq!(members[0].keyspaces[1].name, "ks100", "in their order");
    }

    #[test]
    fn of_more_messages_than_an_object_takes_the_first_are_kept() {
        let mut members = [member(some_failed(1_000)), member(some_failed(1_000))];
        let results = members.iter_mut().flat_map(|member| &mut member.keyspaces);
        results.for_each(|result| result.message = Some("x".repeat(1_024)));
        cut(&mut members);
        assert_eq!(counts(&members), [1_000, 1_000], "no result is lost");
        let said = |member: &TaskMember| {
            member.keyspaces.iter().filter(|result| result.message.is_some()).count()
        };
        assert_eq!(members.iter().map(said).collect::<Vec<_>>(), [512, 0]);
    }

    #[test]
    fn of_more_failures_than_that_the_first_are_kept() {
        let failed = |all| member(std::iter::repeat_n(KeyspaceState::Failed, all));
        let mut members = [failed(1_500), failed(1_500), failed(1_500)];
        cut(&mut members);
        assert_eq!(counts(&members), [1_500, 500, 0]);
    }
}
