//! Members that work for a task and whose machines answer no more: their part is
//! given again when they are back, and no other task waits for that.

use super::follow::{TRIES, end};
use super::pass::PATIENCE;
use super::units;
use crate::facts::Facts;
use crate::words::jobs::Member as Said;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::task::{Means, MemberTaskState as State, TaskKind, TaskMember};

/// Is a member that was given a part not heard of?
fn is_silent(facts: &Facts<'_>, kind: TaskKind, entry: &TaskMember) -> bool {
    match kind.means() {
        Means::Job => {}
        // It has the turn of the ring, which has rules of its own.
        Means::Turn => return false,
    }
    let member = units::member(facts, &entry.name).filter(|_| entry.state == State::Running);
    member.is_some_and(|m| !m.agent_answers(&facts.nodes))
}

/// Note when its silence was seen first: that it was seen down before is no silence. Once
/// it is heard again, or works no more, the next silence is another one.
pub fn note(facts: &Facts<'_>, kind: TaskKind, entry: &mut TaskMember) {
    entry.silent_since = match is_silent(facts, kind, entry) {
        true => entry.silent_since.take().or_else(|| Some(Time(facts.now()))),
        false => None,
    };
}

/// From when on nobody waits for the part that a member was given: it does not serve, and
/// has been silent for long.
pub fn until(facts: &Facts<'_>, kind: TaskKind, entry: &TaskMember) -> Option<Timestamp> {
    let member = units::member(facts, &entry.name).filter(|_| is_silent(facts, kind, entry))?;
    let since = entry.silent_since.as_ref().filter(|_| member.down_note().is_some())?;
    since.0.checked_add(PATIENCE).ok()
}

/// It can only be waited for: its part has ended for now, and counts as a try, as if
/// its server had ended.
pub fn give_up(facts: &Facts<'_>, kind: TaskKind, entry: &mut TaskMember) {
    if until(facts, kind, entry).is_none_or(|at| facts.now() < at) {
        return;
    }
    entry.silent_since = None;
    let member = entry.name.clone();
    if entry.tries < TRIES {
        end(facts, entry, State::Interrupted, &Said::Silent { member });
    } else {
        let why = Said::Silent { member }.to_string();
        end(facts, entry, State::Failed, &Said::Twice { why });
    }
}
