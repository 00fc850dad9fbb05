//! Members that work for a task and whose machines answer no more: their part is
//! given again when they are back, and no other task waits for that.

use super::follow::{TRIES, end};
use super::pass::PATIENCE;
use super::units;
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Member as Said;
use jiff::Timestamp;
use palladion_api::labels;
use palladion_api::task::{Means, MemberTaskState as State, TaskKind, TaskMember};

/// Since when it does not serve, if its agent does not answer either.
fn since(facts: &Facts<'_>, member: &MemberFact) -> Option<Timestamp> {
    let object = member.object.as_ref().filter(|_| !member.agent_answers(&facts.nodes))?;
    object.meta.annotations.get(labels::DOWN_SINCE)?.parse().ok()
}

/// From when on nobody waits for the part that a member was given.
pub fn until(facts: &Facts<'_>, kind: TaskKind, entry: &TaskMember) -> Option<Timestamp> {
    match kind.means() {
        Means::Job => {}
        // It has the turn of the ring, which has rules of its own.
        Means::Turn => return None,
    }
    let member = units::member(facts, &entry.name).filter(|_| entry.state == State::Running)?;
    since(facts, member)?.checked_add(PATIENCE).ok()
}

/// It can only be waited for: its part has ended for now, and counts as a try, as if
/// its server had ended.
pub fn give_up(facts: &Facts<'_>, kind: TaskKind, entry: &mut TaskMember) {
    if until(facts, kind, entry).is_none_or(|at| facts.now() < at) {
        return;
    }
    let member = entry.name.clone();
    if entry.tries < TRIES {
        end(facts, entry, State::Interrupted, &Said::Silent { member });
    } else {
        let why = Said::Silent { member }.to_string();
        end(facts, entry, State::Failed, &Said::Twice { why });
    }
}
