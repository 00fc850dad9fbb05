//! Which member is restarted next, and what must be so before it has the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::{change, lock};
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::restart::{Doing, Waiting};
use palladion_api::service::{ServiceStep, ServiceTurn};
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
    take(facts, spared(facts, valid).find(|m| !m.votes()), draft)
}

/// The next one that the others can spare.
pub fn of_spared(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    take(facts, spared(facts, valid).min_by_key(|m| (leads(m), m.ordinal)), draft)
}

/// Can anybody be restarted now?
pub fn can_be(facts: &Facts<'_>, valid: &Valid) -> bool {
    spared(facts, valid).next().is_some()
}

/// Has its server been told to end? Then it comes back first.
pub fn is_begun(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    !due(facts, valid).iter().any(|member| member.name == turn.member)
}

/// Does the restart of one that does not serve come before this turn? As long as it does not
/// answer, nothing that is not ordered yet will be.
pub fn takes_over(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let is_open = || !change::is_ordered(facts, turn);
    let may_end = match turn.step {
        ServiceStep::Join | ServiceStep::Replace => is_open() && !lock::votes(facts, turn),
        ServiceStep::Leave => {
            let member = facts.members.get(&turn.member);
            let is_gone = member.is_none_or(MemberFact::is_gone);
            is_open() && !is_gone && lock::votes(facts, turn)
        }
        // One that has begun comes back first.
        ServiceStep::Restart => {
            due(facts, valid).iter().any(|m| m.name == turn.member && m.votes())
        }
        ServiceStep::Initialize | ServiceStep::Rescue | ServiceStep::Remove => false,
    };
    may_end && spared(facts, valid).any(|m| !m.votes() && m.name != turn.member)
}

/// Those that are due, and that the others can spare.
fn spared<'a>(facts: &'a Facts<'_>, valid: &Valid) -> impl Iterator<Item = &'a MemberFact> {
    let is_spared = |m: &&MemberFact| {
        m.volume_id().is_some() && evidence::is_quiet(facts, &question(facts, m)).is_ok()
    };
    due(facts, valid).into_iter().filter(is_spared)
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
