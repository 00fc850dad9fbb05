//! Who joins next, and what must be so before it may have the turn.

use super::old_data;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::rescue;
use crate::decide::turn::{lock, server_id};
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::join::{Doing, Problem, Waiting};
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::MemberVolumeState;
use palladion_plan::members::late;
use palladion_plan::members::turn::{self as shared, Unclaimed, has_failed_for_good};
use palladion_plan::words::turn::Doing as OfTurn;
use palladion_plan::{Flow, turn};

/// The next member that should join, if the ensemble allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    // All that follows would wait for those.
    if joining(facts).any(|m| is_stranded(facts, m)) {
        return Flow::Free;
    }
    let Some(member) = newcomer(facts, valid, draft) else {
        return Flow::Free;
    };
    let id = member.volume().and_then(|v| server_id::of(facts, member, &v.volume_id));
    let question = Question::about(member).without(id);
    if id.is_some()
        && let Err(why) = evidence::is_quiet(facts, &question)
    {
        let waiting = Waiting::ForEnsemble { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        // What waits for a lost one holds up nobody who does not.
        return if facts.lost_servers().is_empty() { Flow::Busy } else { Flow::Free };
    }
    begin(facts, member, draft)
}

/// One whose server votes already, and has no permit: whatever else is to be done waits for its
/// answer, and it needs nobody's. Without it none that is not wanted any more may leave, itself
/// among these.
pub fn of_stranded(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    for member in joining(facts).filter(|m| is_stranded(facts, m)) {
        if !has_failed_for_good(member) {
            return begin(facts, member, draft);
        }
        draft.report(failure_of(facts, member));
    }
    Flow::Free
}

/// Is there another member that votes and cannot start without the turn, when this turn is under
/// way? What it waits for are answers of all that vote.
pub fn comes_first(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    joining(facts).any(|m| m.name != turn.member && is_stranded(facts, m))
}

fn joining<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    facts.members.values().filter(|m| m.object.is_some() && !m.is_gone())
}

fn failure_of(facts: &Facts<'_>, member: &MemberFact) -> Problem {
    let namespace = facts.snapshot.owner.meta.namespace.clone();
    Problem::Failed { member: member.name.clone(), server: member.server_words(), namespace }
}

fn begin(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let name = || member.name.clone();
    let Some(volume) = member.volume() else {
        return Flow::Free;
    };
    let Some(id) = server_id::of(facts, member, &volume.volume_id) else {
        draft.report(Problem::NoServerId { member: name() });
        return Flow::Free;
    };
    let mut turn = turn::new(facts.snapshot, &member.name, &volume.volume_id, ServiceStep::Join);
    turn.server_id = Some(id);
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: name(), id }));
    Flow::Busy
}

/// Does its server vote by what the others say, and run no more before its agent could note
/// that? It waits for a permit, which it may always have: it goes on with what it has.
fn is_stranded(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let known = facts.configuration();
    let votes = |id| known.is_some_and(|c| c.has_participant(id));
    let volume = member.volume().filter(|_| member.is_on_its_volume());
    volume.is_some_and(|v| v.state == MemberVolumeState::Incomplete)
        && !member.is_marked()
        && !member.may_run()
        && member.server_id().is_some_and(votes)
}

/// First in order with an agent that speaks and a volume that is no member's.
fn newcomer<'a>(facts: &'a Facts<'_>, valid: &Valid, draft: &mut Draft) -> Option<&'a MemberFact> {
    let known = facts.configuration();
    for name in valid.wanted() {
        let Some(member) = facts.members.get(&name).filter(|m| m.object.is_some()) else {
            continue;
        };
        let votes = |id| known.as_ref().is_some_and(|c| c.has_participant(id));
        if member.is_gone() || member.is_lost() || member.server_id().is_some_and(votes) {
            continue;
        }
        let Some(volume) = member.volume() else {
            // One that has served comes back by itself.
            if !member.has_served() {
                let waiting = Waiting::ForPod { member: name, pod: member.pod_words() };
                draft.wait_for(waiting).about(member.subject());
            }
            continue;
        };
        match volume.state {
            MemberVolumeState::Empty | MemberVolumeState::Incomplete | MemberVolumeState::Left => {}
            MemberVolumeState::Joined
                if old_data::on_volume(member).is_some()
                    && old_data::off_record(member).is_none()
                    && known.as_ref().is_some_and(|c| old_data::is_unknown(facts, member, c)) => {}
            // Said by the status, each under a reason of its own.
            MemberVolumeState::Joined
            | MemberVolumeState::Lost
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted
            | MemberVolumeState::RolledBack
            | MemberVolumeState::Unknown => continue,
        }
        if has_failed_for_good(member) {
            draft.report(failure_of(facts, member));
            continue;
        }
        // Its server has run in vain, and others go on for a while.
        late::report(facts, member, draft);
        if late::until(facts, member).is_some() {
            continue;
        }
        if member.service().is_some_and(|s| s.address.is_some()) {
            return Some(member);
        }
    }
    None
}

/// A permit that is in use although no turn is on record (the status was lost): the
/// turn is taken up again under the same nonce.
pub fn adopt_permit(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    match shared::unclaimed_permit(facts, draft) {
        None => Flow::Free,
        Some((_, Unclaimed::NotKnown)) => Flow::Busy,
        // No turn would come to its end.
        Some((_, Unclaimed::Turn(turn))) if rescue::takes_over(facts, &turn) => Flow::Free,
        Some((member, Unclaimed::Turn(mut turn))) => {
            turn.server_id = member.server_id();
            let doing = OfTurn::Resume { member: member.name.clone(), work: turn.step.into() };
            draft.steps.push(lock::write(facts, &turn, doing));
            Flow::Busy
        }
    }
}
