//! The turn of a removal: one change of the configuration, without a word of the server
//! that goes.

use super::next::question;
use crate::decide::draft::Draft;
use crate::decide::turn::change::{self, Goal};
use crate::decide::turn::lock;
use crate::facts::Facts;
use crate::words::remove::Happened;
use crate::words::turn::Ended;
use palladion_api::service::ServiceTurn;
use palladion_plan::Event;
use palladion_plan::proof::ProofKind;

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
    let goal = Goal { add: Vec::new(), remove: vec![id] };
    let question = question(member, &strangers);
    if change::bring(facts, turn, &question, ProofKind::AllWell, &goal, draft).is_some() {
        let event = Event::normal(Happened::Removed { id });
        draft.steps.push(lock::finish(facts, turn, Some(event)));
    }
}
