//! Members of a task that have the turn of the ring for it: how far that is.

use super::follow::{end, is_over_time};
use super::read::Task;
use crate::decide::objects::restart_tokens;
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Member as Said;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::task::{MemberTaskState as State, TaskMember};

/// A restart goes through the turn of the ring.
pub fn restarted(facts: &Facts<'_>, task: &Task<'_>, member: &MemberFact, entry: &mut TaskMember) {
    if entry.state != State::Running {
        return;
    }
    if restart_tokens::is_done_for(member, task.uid()) && member.is_normal() {
        entry.state = State::Succeeded;
        entry.ended_at = Some(Time(facts.now()));
        return;
    }
    let has_turn = facts.turn().is_some_and(|turn| turn.member == member.name);
    if !has_turn && !restart_tokens::is_given_for(member, task.uid()) {
        in_time(facts, task, entry);
    }
}

/// So does a drain, which has ended where the server is drained, whoever has done it.
pub fn drained(facts: &Facts<'_>, task: &Task<'_>, member: &MemberFact, entry: &mut TaskMember) {
    if member.is_drained() {
        return end(facts, entry, State::Succeeded, &Said::Drained);
    }
    let has_order = member.spec.as_ref().is_some_and(|s| s.drain.is_some());
    if entry.state == State::Running && !has_order {
        in_time(facts, task, entry);
    }
}

/// Nothing was done yet: it ends if its task does.
fn in_time(facts: &Facts<'_>, task: &Task<'_>, entry: &mut TaskMember) {
    if task.spec.abort {
        end(facts, entry, State::Aborted, &Said::Aborted);
    } else if is_over_time(facts, task) {
        end(facts, entry, State::Failed, &Said::TaskTooLong);
    }
}
