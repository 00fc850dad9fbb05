//! Which member is restarted next, and what must be so before it has the turn.

use super::needed;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question, disabled_flags, is_new_line};
use crate::decide::turn::{lock, order};
use crate::decide::{leave, maintain};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::restart::{Doing, Waiting};
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_plan::members::revisions::is_outdated;
use palladion_plan::members::turn as shared;
use palladion_plan::words::Names;
use palladion_plan::{Flow, turn};

/// The next member on an older revision, or whose restart was asked for, if the others
/// can spare it. Of those that queues need each is said to wait, and holds up nobody: the
/// restart of another one may be what brings a replica back.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let is_needed = |m: &&MemberFact| needed::lately(facts, m).is_some();
    let (waiting, due): (Vec<_>, Vec<_>) = due(facts, valid).partition(is_needed);
    for member in waiting {
        needed::wait(facts, member, draft);
    }
    take(facts, valid, due.first().copied(), draft)
}

/// One that does not serve, on an older revision, goes before everything: it is what
/// keeps the others from changing anything. Where the others cannot spare it, whatever else
/// may be mended is.
pub fn of_broken(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    take(facts, valid, spared(facts, valid).find(|m| !m.serves), draft)
}

/// The next one that the others can spare.
pub fn of_spared(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    take(facts, valid, spared(facts, valid).next(), draft)
}

/// Can anybody be restarted now?
pub fn can_be(facts: &Facts<'_>, valid: &Valid) -> bool {
    spared(facts, valid).next().is_some()
}

/// Has its node been told to end, or has it ended? Then it comes back first.
pub fn is_begun(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let Some(member) = facts.members.get(&turn.member) else {
        return false;
    };
    let token = member.spec.as_ref().and_then(|spec| spec.restart_token.as_ref());
    let is_told = token != member.server().and_then(|server| server.restart_token.as_ref());
    let has_ended = member.pod.as_ref().is_none_or(|pod| pod.terminating);
    let is_due = || due(facts, valid).any(|due| due.name == member.name);
    is_told || has_ended || !member.serves && !is_due()
}

/// Does the restart of one that does not serve come before this turn? As long as it does not
/// answer, nothing that is not ordered yet will be.
pub fn takes_over(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let Some(member) = facts.members.get(&turn.member) else {
        return false;
    };
    let is_new = matches!(turn.step, ServiceStep::Join | ServiceStep::Replace);
    let may_end = match turn.step {
        // Whoever has joined and has not said so would be taken up again at once.
        ServiceStep::Join | ServiceStep::Replace => {
            !facts.is_named(member) || !shared::has_open_permit(member)
        }
        ServiceStep::Leave => !member.is_gone() && facts.is_named(member),
        // One that has begun comes back first.
        ServiceStep::Restart => due(facts, valid).any(|m| m.name == turn.member && m.serves),
        ServiceStep::Initialize | ServiceStep::Rescue | ServiceStep::Remove => false,
    };
    // Whoever has joined waits in its turn for its own answer. What it has yet to take is on
    // record, and it has the turn again when it serves. So is what a leaver has given away.
    let leaves = turn.step == ServiceStep::Leave;
    let counts_itself = (is_new || leaves) && facts.is_named(member);
    let is_broken = |m: &MemberFact| !m.serves && (counts_itself || m.name != turn.member);
    may_end && !order::is_under_way(facts, turn) && spared(facts, valid).any(is_broken)
}

/// Those that are due, and that the others and the flags can spare.
fn spared<'a>(facts: &'a Facts<'_>, valid: &Valid) -> impl Iterator<Item = &'a MemberFact> {
    let waits_for_flags = is_new_line(facts, valid) && !disabled_flags(facts).is_empty();
    let is_spared = move |m: &&MemberFact| {
        let is_known = m.volume_id().is_some();
        is_known
            && !waits_for_flags
            && needed::lately(facts, m).is_none()
            && evidence::is_quiet(facts, &question(facts, m)).is_ok()
    };
    due(facts, valid).filter(is_spared)
}

fn take(facts: &Facts<'_>, valid: &Valid, member: Option<&MemberFact>, draft: &mut Draft) -> Flow {
    let Some((member, volume)) = member.and_then(|m| Some((m, m.volume_id()?))) else {
        return Flow::Free;
    };
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        let waiting = Waiting::ForCluster { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    if maintain::before_stop(facts, member, draft).is_busy() {
        return Flow::Busy;
    }
    let flags = disabled_flags(facts);
    if is_new_line(facts, valid) && !flags.is_empty() {
        let waiting = Waiting::ForFlags { member: member.name.clone(), flags: Names::of(flags) };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    let turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Restart);
    draft.steps.push(lock::write(facts, &turn, Doing::Begin { member: member.name.clone() }));
    Flow::Busy
}

/// All must answer and run, but for one that does not serve and those whose volumes are lost;
/// and those that stay must be a majority.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    let question = Question::about(member).without(facts.other_lost_nodes(member));
    let question = Question { spares_whom: true, ..question };
    match member.serves {
        true => question,
        false => question.without([facts.node_of(member)]),
    }
}

/// Members on an older revision, or whose restart was asked for. One that is to leave is none of
/// them, unless its leave waits for that.
fn due<'a>(facts: &'a Facts<'_>, valid: &Valid) -> impl Iterator<Item = &'a MemberFact> {
    let stays = |m: &MemberFact| m.ordinal < valid.size || leave::waits_for_restart(facts, m);
    let is_wanted = |m: &&MemberFact| !m.is_lost() && m.has_served() && stays(m);
    let is_due = |m: &&MemberFact| is_outdated(facts, m) || valid.token_due(m).is_some();
    facts.enrolled().filter(is_wanted).filter(is_due).collect::<Vec<_>>().into_iter()
}
