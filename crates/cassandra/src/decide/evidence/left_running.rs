//! What a member has left running at its end: its agent has given up its part of a repair, and
//! its server has not ended it, so that sessions may go on at all that have copies. They count
//! as in that repair until they are over (safety rules 3.6 and 5.4).

use super::given::{GRANT, answer, asked};
use super::runs_no_server;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Waiting;
use jiff::Timestamp;
use palladion_api::member::JobCause;
use palladion_api::task::Body;

/// Until when it counts as in its repair, at the longest: a start of its server ends it, and
/// after so long nobody waits for what may never end.
pub fn held_until(facts: &Facts<'_>, member: &MemberFact) -> Option<Timestamp> {
    let told = answer(member).filter(|told| told.state.is_final())?;
    let work = asked(member)?.work.body();
    if told.cause != Some(JobCause::LeftRunning) || !matches!(work, Some(Body::Repair(_))) {
        return None;
    }
    // Both are by the clock of its agent.
    let ended = told.ended_at.as_ref()?.0;
    let was_started = member.status.start_history.iter().any(|start| start.started_at.0 >= ended);
    if was_started || runs_no_server(facts, member).is_some() {
        return None;
    }
    let until = facts.again(ended, None, GRANT);
    (facts.now() < until).then_some(until)
}

/// What the server of a member has not ended.
pub fn running(facts: &Facts<'_>, member: &MemberFact) -> Option<Waiting> {
    let until = held_until(facts, member)?;
    Some(Waiting::LeftRunning { member: member.name.clone(), until })
}

/// The same of any member that was granted nothing in particular: all may have copies of what
/// goes on, and nothing is repaired beside it.
pub fn of_everything(facts: &Facts<'_>) -> Option<Waiting> {
    let is_granted = |member: &&MemberFact| {
        asked(member).and_then(|job| job.grant.as_ref()).is_some_and(|g| !g.host_ids.is_empty())
    };
    let mut all = facts.members.values().filter(|member| !is_granted(member));
    all.find_map(|member| running(facts, member))
}

/// The same of any member, whatever it was granted.
pub fn anywhere(facts: &Facts<'_>) -> Option<Waiting> {
    facts.members.values().find_map(|member| running(facts, member))
}

/// Look again when nobody waits for it any more.
pub fn wake(facts: &Facts<'_>, draft: &mut Draft) {
    let times = facts.members.values().filter_map(|member| held_until(facts, member));
    times.for_each(|until| draft.wake_at(until));
}
