//! A removal waits for a member whose data is lost, and that member cannot be
//! replaced before the removal is over. Which data may be lost for good is for a
//! person to say: rows that only these two have had would be.

use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use crate::words::remove::Problem;
use palladion_api::labels;
use palladion_api::member::VolumeState;
use palladion_plan::Trouble;

/// Report it, with what a person can do.
pub fn report(facts: &Facts<'_>, namespace: &str, member: &MemberFact, draft: &mut Draft) {
    let others = facts.members.values().filter(|m| m.name != member.name);
    let Some(lost) = others.filter(|m| marks::of(m).is_none()).find(|m| is_lost(m)) else {
        return;
    };
    let problem = Problem::Blocked {
        member: member.name.clone(),
        lost: lost.name.clone(),
        namespace: namespace.to_string(),
        label: labels::REPLACE,
    };
    // It says more than that the Node of the first is gone.
    draft.troubles.insert(0, Trouble::of(problem));
}

/// Does its agent say that the data is gone?
fn is_lost(member: &MemberFact) -> bool {
    let is_gone = member.volume().is_some_and(|v| v.state == VolumeState::Lost);
    is_gone && member.recorded_host_id().is_some() && !member.is_normal()
}
