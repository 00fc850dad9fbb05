//! Who is replaced next, and what must be so before it may have the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::{change, lock, permit, server_id};
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::join::Problem as NoId;
use crate::words::replace::{Doing, Waiting};
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_plan::members::leave::{has_lost, is_lost_leaver};
use palladion_plan::members::{lost, turn as shared};
use palladion_plan::{Flow, turn};

/// The first lost member that can be replaced now, if the others are a majority and agree.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    for member in lost::to_replace(facts, valid) {
        if lost::waits_for_pod(member) {
            let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
            draft.wait_for(waiting).about(member.subject());
        } else if lost::can_begin(member) {
            return begin(facts, member, draft);
        }
    }
    Flow::Free
}

/// Does the new server of this replacement not come up?
pub fn comes_to_nothing(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let member = facts.members.get(&turn.member).filter(|_| turn.step == ServiceStep::Replace);
    let is_open = !lock::votes(facts, turn) && !change::is_ordered(facts, turn);
    let follows = |m: &MemberFact| m.view().is_some_and(|v| v.mode.is_some());
    member.filter(|_| is_open).is_some_and(|m| {
        !follows(m) && shared::comes_to_nothing(facts, turn, &permit::course(turn, m))
    })
}

/// Can another lost member be replaced now?
pub fn can_another(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let others =
        lost::to_replace(facts, valid).filter(|m| m.name != turn.member && lost::can_begin(m));
    others.into_iter().any(|m| can_begin_now(facts, m))
}

/// Does nothing in what the others report stand against it?
pub(super) fn can_begin_now(facts: &Facts<'_>, member: &MemberFact) -> bool {
    evidence::is_quiet(facts, &first_question(facts, member)).is_ok()
}

/// Begin, or go on with, the replacement of this member.
pub fn begin(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let Some(loss) = member.loss() else {
        return Flow::Free;
    };
    let name = || member.name.clone();
    if let Err(why) = evidence::is_quiet(facts, &first_question(facts, member)) {
        draft.wait_for(Waiting::ForEnsemble { member: name(), why }).about(member.subject());
        return Flow::Busy;
    }
    // A replacement that is under way goes on with its own volume, under its own ID.
    let begun = member.volume_id().filter(|v| **v != loss.lost.volume_id);
    let id = match begun {
        Some(_) => member.server_id(),
        None => server_id::next(facts, member),
    };
    let Some(id) = id else {
        draft.report(NoId::NoServerId { member: name() });
        return Flow::Free;
    };
    let volume = begun.unwrap_or(&loss.lost.volume_id);
    let mut turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Replace);
    turn.server_id = Some(id);
    turn.replaces = Some(loss.lost.clone());
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: name(), id }));
    Flow::Busy
}

/// All others must answer; those whose volumes are lost have nothing to say.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    Question::about(member).without(facts.lost_servers())
}

/// The new server may be in the configuration already, and need a permit to come back.
fn first_question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    question(facts, member).without(member.server_id())
}

/// Does the replacement of a lost member come before this turn? While a server is lost
/// nothing else changes the ensemble; what has been changed already is brought to its end,
/// and so is a change that is ordered: whoever has the order may carry it out yet.
pub fn takes_over(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let can_be_replaced = lost::to_replace(facts, valid).any(lost::can_begin);
    let can_leave = has_lost(facts, valid);
    let Some(member) = facts.members.get(&turn.member) else {
        return false;
    };
    let is_open = !change::is_ordered(facts, turn);
    match turn.step {
        // One that votes and is lost itself comes to no end.
        ServiceStep::Join => {
            let may_end = member.is_lost() || !lock::votes(facts, turn);
            (can_be_replaced || can_leave) && may_end && is_open
        }
        ServiceStep::Leave => {
            let has_begun = member.is_gone() || is_lost_leaver(member) || !lock::votes(facts, turn);
            (can_be_replaced || can_leave) && !has_begun && is_open
        }
        // One that is away comes back first.
        ServiceStep::Restart => member.is_lost() || (can_be_replaced && member.votes()),
        ServiceStep::Initialize
        | ServiceStep::Replace
        | ServiceStep::Rescue
        | ServiceStep::Remove => false,
    }
}
