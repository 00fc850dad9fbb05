//! Who leaves next: the highest ordinal that the spec does not ask for.

use super::asked;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::maintain;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::leave::{Doing, Waiting};
use palladion_api::service::ServiceStep;
use palladion_plan::{Flow, turn};

/// The next member that should leave, if the cluster allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let surplus = |m: &&MemberFact| m.ordinal >= valid.size && m.object.is_some();
    let members = facts.members.values().filter(surplus).filter(|m| !m.is_gone());
    let Some(member) = members.max_by_key(|m| m.ordinal) else {
        return Flow::Free;
    };
    // What brings members to the newest revision, and jobs, need not wait for a user.
    if asked::wait(facts, member, draft).is_busy() {
        return Flow::Free;
    }
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        let waiting = Waiting::ForCluster { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    if maintain::before_stop(facts, member, draft).is_busy() {
        return Flow::Busy;
    }
    let volume = member.volume_id().cloned().unwrap_or_default();
    let mut turn = turn::new(facts.snapshot, &member.name, &volume, ServiceStep::Leave);
    turn.replaces = member.loss().map(|loss| loss.lost.clone());
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: member.name.clone() }));
    Flow::Busy
}

/// All must answer and run, the leaver too, and no alarm may hold up what is moved. One
/// that the others do not name any more, whose volume is lost, or whose application was
/// stopped for this very leave need not.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    let question = Question { is_calm: true, ..Question::about(member) };
    let is_stopped = member.spec.as_ref().is_some_and(|s| s.intent.is_some());
    let is_out = !facts.is_named(member) || member.is_lost() || is_stopped;
    if !is_out {
        return question;
    }
    let node = facts.node_of(member);
    let removed = [node.clone()].into();
    Question { removed, ..question.without([node]) }
}
