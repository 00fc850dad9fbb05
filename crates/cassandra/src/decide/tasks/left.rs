//! What a member has left running at its end: its agent has given up its part of a repair, and
//! its server has not ended it, so that sessions may go on at all that have copies. They count
//! as in that repair until they are over (safety rules 3.6 and 5.4).

use super::units::{GRANT, answer, asked};
use crate::decide::evidence;
use crate::facts::{Facts, MemberFact};
use jiff::Timestamp;
use palladion_api::member::JobCause;

/// Until when what it was granted is held, at the longest: a start of its server ends it, and
/// after so long nobody waits for what may never end.
pub fn held_until(facts: &Facts<'_>, member: &MemberFact) -> Option<Timestamp> {
    let told = answer(member).filter(|told| told.state.is_final())?;
    let is_granted = asked(member)?.grant.as_ref().is_some_and(|grant| !grant.host_ids.is_empty());
    if told.cause != Some(JobCause::LeftRunning) || !is_granted {
        return None;
    }
    // Both are by the clock of its agent.
    let ended = told.ended_at.as_ref()?.0;
    let was_started = member.status.start_history.iter().any(|start| start.started_at.0 >= ended);
    if was_started || evidence::runs_no_server(facts, member).is_some() {
        return None;
    }
    let until = facts.again(ended, None, GRANT);
    (facts.now() < until).then_some(until)
}
