//! What a cluster that has lost its majority is told apart by. Nothing is done about it:
//! which of the nodes that are left has all that was confirmed, nobody can say, and one
//! that is forced to boot would go on without.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::replace::Problem;
use palladion_plan::words::Names;

/// Say so where so many volumes are lost that the rest is no majority.
pub fn report(facts: &Facts<'_>, draft: &mut Draft) {
    let all: Vec<&MemberFact> = facts.enrolled().filter(|m| m.has_served()).collect();
    let lost: Vec<&MemberFact> = all.iter().copied().filter(|m| m.is_lost()).collect();
    if lost.is_empty() || (all.len() - lost.len()) * 2 > all.len() {
        return;
    }
    draft.report(Problem::MajorityLost {
        members: Names::of(lost.iter().map(|m| &m.name)),
        volumes: Names::of(lost.iter().filter_map(|m| m.volume_id())),
    });
}
