//! Who is replaced next, and what must be so before it may have the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::{lock, order};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
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
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        draft.wait_for(Waiting::ForCluster { member: name(), why }).about(member.subject());
        return Flow::Busy;
    }
    // A replacement that is under way goes on with its own volume.
    let begun = member.volume_id().filter(|v| **v != loss.lost.volume_id);
    let volume = begun.unwrap_or(&loss.lost.volume_id);
    let mut turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Replace);
    turn.replaces = Some(loss.lost.clone());
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: name() }));
    Flow::Busy
}

/// All others must answer; those whose volumes are lost have nothing to say.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    Question::about(member).without(facts.lost_nodes()).without([facts.node_of(member)])
}

/// Does the replacement of a lost member come before this turn? While a member is lost
/// nothing else changes the cluster; what has been changed already is brought to its end.
pub fn takes_over(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    if !facts.enrolled().any(|m| m.loss().is_some()) {
        return false;
    }
    let Some(member) = facts.members.get(&turn.member) else {
        return false;
    };
    match turn.step {
        ServiceStep::Join => !facts.is_named(member),
        ServiceStep::Leave => {
            !member.is_gone()
                && !member.is_lost()
                && facts.is_named(member)
                && !order::is_given(facts, turn)
        }
        // One that is away comes back first.
        ServiceStep::Restart => member.is_lost() || member.serves,
        ServiceStep::Initialize
        | ServiceStep::Replace
        | ServiceStep::Rescue
        | ServiceStep::Remove => false,
    }
}
