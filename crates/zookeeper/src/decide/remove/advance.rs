//! The turn of a removal: one change of the configuration, without a word of the server
//! that goes.

use super::next::{is_allowed, question};
use crate::decide::draft::Draft;
use crate::decide::turn::change::{self, Goal};
use crate::decide::turn::lock;
use crate::facts::Facts;
use crate::words::remove::Happened;
use crate::words::turn::Ended;
use palladion_api::service::ServiceTurn;
use palladion_plan::Event;
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Names;

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) {
    let stranger = turn.replaces.as_ref().and_then(|s| s.server_id);
    let member = facts.members.get(&turn.member).filter(|m| m.object.is_some());
    let (Some(member), Some(id)) = (member, stranger) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    // Somebody may have taken it for a member meanwhile.
    if facts.member_of(id).is_some() {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    }
    let mut strangers = facts.strangers();
    strangers.push(id);
    strangers.sort_unstable();
    strangers.dedup();
    // All at once: without the others the rest may be a majority, and with them none.
    let remove = match is_allowed(facts, &strangers) {
        true => strangers.clone(),
        false => vec![id],
    };
    let goal = Goal { add: Vec::new(), remove };
    let question = question(facts, member, &strangers);
    if change::bring(facts, turn, &question, ProofKind::AllWell, &goal, draft).is_some() {
        let servers = Names::of(&goal.remove);
        let event = Event::normal(Happened::Removed { servers });
        draft.steps.push(lock::finish(facts, turn, Some(event)));
    }
}
