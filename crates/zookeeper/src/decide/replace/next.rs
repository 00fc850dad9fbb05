//! Who is replaced next, and what must be so before it may have the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::{lock, server_id};
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::join::Problem as NoId;
use crate::words::replace::{Doing, Waiting};
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_plan::{Flow, turn};

/// The first lost member, if the others are a majority and agree.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    // Whoever should leave is taken out, and nobody comes in its place.
    let mut wanted = facts.enrolled().filter(|m| m.ordinal < valid.size);
    let Some((member, loss)) = wanted.find_map(|m| Some((m, m.loss()?))) else {
        return Flow::Free;
    };
    let name = || member.name.clone();
    // The new server may be in the configuration already, and need a permit to come back.
    let question = question(facts, member).without(member.server_id());
    if let Err(why) = evidence::is_quiet(facts, &question) {
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

/// Does the replacement of a lost member come before this turn? While a server is lost
/// nothing else changes the ensemble; what has been changed already is brought to its end.
pub fn takes_over(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    if !facts.enrolled().any(|m| m.loss().is_some()) {
        return false;
    }
    let is_lost = facts.members.get(&turn.member).is_some_and(MemberFact::is_lost);
    let is_gone = facts.members.get(&turn.member).is_some_and(MemberFact::is_gone);
    match turn.step {
        ServiceStep::Join => !lock::votes(facts, turn),
        ServiceStep::Leave => !is_gone && !is_lost && lock::votes(facts, turn),
        ServiceStep::Restart => is_lost,
        ServiceStep::Initialize
        | ServiceStep::Replace
        | ServiceStep::Rescue
        | ServiceStep::Remove => false,
    }
}
