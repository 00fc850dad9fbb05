//! Who leaves next: one that is lost, then the highest ordinal, of those that the spec does not
//! ask for.

use super::{alarmed, asked, unmoved};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::maintain;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::leave::{Doing, Waiting};
use palladion_api::service::ServiceStep;
use palladion_plan::members::leave::{has_lost, in_order, is_lost_leaver};
use palladion_plan::{Flow, turn};

/// So many nodes have a majority without one of them.
const FEWEST: usize = 3;

/// The next member that should leave, if the cluster allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    // Those whose queues cannot be moved hold up no other leave, as long as enough nodes stay.
    let (mut passed_over, mut leavers) = (None, in_order(facts, valid).into_iter());
    let next = leavers.find(|member| {
        let waits = unmoved::wait(facts, member, draft).is_busy();
        passed_over = passed_over.or(Some(*member).filter(|_| waits));
        !waits
    });
    let Some(member) = next else {
        return Flow::Free;
    };
    // As long as one counts as lost, whoever leaves takes away what the next loss would need.
    if let Some(lost) = passed_over.filter(|other| is_lost_leaver(other)) {
        let (name, other) = (member.name.clone(), lost.name.clone());
        draft.wait_for(Waiting::ForLost { member: name, other }).about(member.subject());
        return Flow::Free;
    }
    if let Some(other) = passed_over.filter(|_| leaves_too_few(facts, member)) {
        let (name, other) = (member.name.clone(), other.name.clone());
        draft.wait_for(Waiting::ForOther { member: name, other }).about(member.subject());
        return Flow::Free;
    }
    // What brings members to the newest revision, and jobs, need not wait for a user.
    if asked::wait(facts, member, draft).is_busy() {
        return Flow::Free;
    }
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        let flow = alarmed::flow(&why);
        let waiting = Waiting::ForCluster { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        return flow;
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

/// Would two nodes stay, or one, without this member? Of two neither can be restarted, as the other
/// one has no majority: nothing would be brought to the newest revision while a leaver stays.
fn leaves_too_few(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let all = facts.members.values().filter(|m| !m.is_gone() && facts.is_named(m));
    facts.is_named(member) && all.count() <= FEWEST
}

/// The same, where one of them is lost: whoever joins waits for all.
pub fn of_lost(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    match has_lost(facts, valid) {
        true => next(facts, valid, draft),
        false => Flow::Free,
    }
}

/// Is one of them lost, and does its leave come before what others begin? One that an alarm forbids
/// does not: it would take the turn from whoever it has let pass.
pub fn of_lost_comes_first(facts: &Facts<'_>, valid: &Valid) -> bool {
    let waits = |m: &MemberFact| {
        let quiet = evidence::is_quiet(facts, &question(facts, m));
        quiet.is_err_and(|why| alarmed::flow(&why) == Flow::Free)
    };
    first_lost(facts, valid).is_some_and(|m| !waits(m))
}

/// The lost one that leaves next: not one whose turn was postponed, so that others may go on.
fn first_lost<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<&'a MemberFact> {
    let lost = in_order(facts, valid).into_iter().filter(|m| is_lost_leaver(m));
    lost.into_iter().find(|m| !unmoved::waits(facts, m))
}

/// Can the next one leave now, and is one of them lost?
pub fn can_lost(facts: &Facts<'_>, valid: &Valid) -> bool {
    let is_quiet = |m: &MemberFact| evidence::is_quiet(facts, &question(facts, m)).is_ok();
    first_lost(facts, valid).is_some_and(is_quiet)
}

/// All must answer and run, the leaver too, and no alarm may hold up what is moved. One
/// that the others do not name any more, or whose application was stopped for this very
/// leave, need not, and nothing is moved off it any more; those whose volumes are lost have
/// nothing to say.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    let is_stopped = member.spec.as_ref().is_some_and(|s| s.intent.is_some());
    let is_empty = !facts.is_named(member) || is_stopped;
    // One that has joined again on another volume has, and what is on its node it says itself.
    let lost = match member.serves && !member.is_lost() {
        true => facts.other_lost_nodes(member),
        false => facts.lost_nodes(),
    };
    let question = Question::about(member).without(lost);
    let question = Question { is_calm: !is_empty, ..question };
    let is_out = is_empty || member.is_lost();
    if !is_out {
        return question;
    }
    let node = facts.node_of(member);
    let removed = [node.clone()].into();
    Question { removed, ..question.without([node]) }
}
