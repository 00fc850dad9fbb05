//! A permit to start under another address that stands without its turn: the status of the
//! cluster was lost, or the write of the permit came late. Nobody answers for it any more.

use crate::decide::draft::Draft;
use crate::decide::turn::permit;
use crate::facts::Facts;
use palladion_plan::Flow;

/// Take back the permits of this kind that were not used; nobody has the turn.
pub fn left_over(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let before = draft.steps.len();
    let members = facts.members.values();
    draft.steps.extend(members.filter_map(|m| permit::withdraw_unused(facts, m)));
    if draft.steps.len() == before { Flow::Free } else { Flow::Busy }
}
