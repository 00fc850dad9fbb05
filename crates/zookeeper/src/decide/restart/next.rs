//! Which member is restarted next, and what must be so before it has the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::restart::{Doing, Waiting};
use palladion_api::service::ServiceStep;
use palladion_api::service_member::ServerMode;
use palladion_plan::members::revisions::is_outdated;
use palladion_plan::{Flow, turn};

/// The next member on an older revision, or whose restart was asked for, if the others
/// can spare it: followers first, the leader last.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let mut due = due(facts, valid);
    due.sort_by_key(|m| (leads(m), m.ordinal));
    take(facts, due.into_iter().next(), draft)
}

/// One that does not serve, on an older revision, goes before everything: it is what
/// keeps the others from changing anything. Where the others cannot spare it, whatever else
/// may be mended is.
pub fn of_broken(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let mut due = due(facts, valid);
    due.retain(|m| !m.votes() && evidence::is_quiet(facts, &question(facts, m)).is_ok());
    take(facts, due.into_iter().next(), draft)
}

fn take(facts: &Facts<'_>, member: Option<&MemberFact>, draft: &mut Draft) -> Flow {
    let Some((member, volume)) = member.and_then(|m| Some((m, m.volume_id()?))) else {
        return Flow::Free;
    };
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        let waiting = Waiting::ForEnsemble { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    let turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Restart);
    draft.steps.push(lock::write(facts, &turn, Doing::Begin { member: member.name.clone() }));
    Flow::Busy
}

/// All that vote must answer, but for one that does not serve and those whose volumes are
/// lost; and those that stay must be a majority.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    let own = member.server_id().filter(|_| !member.votes());
    let question = Question::about(member).without(own).without(facts.lost_servers());
    Question { spares_whom: true, ..question }
}

pub(super) fn leads(member: &MemberFact) -> bool {
    member.view().is_some_and(|v| v.mode == Some(ServerMode::Leader))
}

/// Members of the ensemble on an older revision, or whose restart was asked for.
pub(super) fn due<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Vec<&'a MemberFact> {
    let is_wanted = |m: &&MemberFact| m.ordinal < valid.size && !m.is_lost();
    let members = facts.enrolled().filter(is_wanted).filter(|m| m.has_served());
    members.filter(|m| is_outdated(facts, m) || valid.token_due(m).is_some()).collect()
}
