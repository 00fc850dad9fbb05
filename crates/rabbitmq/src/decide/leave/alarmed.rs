//! Leaves that wait for something that a restart may end: an alarm that forbids them, or a leaver
//! that does not serve. The restart does not wait for the leave.

use crate::decide::evidence::{self, Question};
use crate::decide::turn::order;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Objection;
use palladion_api::service::ServiceTurn;
use palladion_plan::Flow;

/// Do others go on, where this forbids the leave?
pub(super) fn flow(why: &Objection) -> Flow {
    match is_alarm(why) {
        true => Flow::Free,
        false => Flow::Busy,
    }
}

/// Does an alarm forbid what comes next in this turn? By what agents report by themselves, as
/// it is when the turn is given.
pub(super) fn is_so(facts: &Facts<'_>, turn: &ServiceTurn, question: &Question<'_>) -> bool {
    let is_alarmed = evidence::is_quiet(facts, question).is_err_and(|why| is_alarm(&why));
    is_alarmed && !order::is_under_way(facts, turn)
}

fn is_alarm(why: &Objection) -> bool {
    matches!(why, Objection::Alarm { .. })
}

/// May a restart of this member be what its own leave waits for: does its node not serve, or
/// does it run short of something? Of one that the others do not name, or whose application is to
/// be stopped, nothing is waited for.
pub fn waits_for_restart(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_stopped = member.spec.as_ref().is_none_or(|spec| spec.intent.is_some());
    let node = facts.node_of(member);
    let runs_short = || {
        let mut alarms = facts.views().flat_map(|(_, view)| &view.alarms);
        alarms.any(|alarm| alarm.node == node)
    };
    let is_sick = || !member.serves || runs_short();
    facts.is_named(member) && !is_stopped && is_sick()
}
