//! A member that joined and was killed before anybody had noted it: its ledger
//! says that it was joining, and the ring has it as a full member, down. Its
//! data is the ring's: it comes back with it, and nothing is wiped.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, unnoticed};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::words::join::Doing;
use palladion_api::cluster::TurnStep;
use palladion_plan::Flow;

/// Give the turn to a member that the ring knows and its own agent does not.
pub fn next(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let Some((member, volume_id)) = facts
        .members
        .values()
        .filter_map(|m| Some((m, unnoticed::of(m)?)))
        .find(|(m, _)| is_known_by_all(facts, m))
    else {
        return Flow::Free;
    };
    let turn = lock::new(facts, &member.name, &volume_id, TurnStep::Join, 1);
    let doing = Doing::StartUnrecorded { member: member.name.clone() };
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}

/// The cheap look: every full member reports it, and nothing else.
fn is_known_by_all(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let mut others = evidence::others(facts, &member.name).into_iter().peekable();
    others.peek().is_some()
        && others.all(|other| {
            let odd = other.status.ring.as_ref().map(|r| r.exceptions.as_slice());
            matches!(odd, Some([only]) if unnoticed::is_it(member, only))
        })
}
