//! Who joins next, and what must be so before it may have the turn.

use super::finish::has_grown;
use super::old_data;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::join::{Doing, Problem, Waiting};
use palladion_api::service::ServiceStep;
use palladion_api::service_member::{MemberVolumeState, ServicePermitKind};
use palladion_plan::members::turn::{self as shared, Unclaimed, has_failed_for_good};
use palladion_plan::{Flow, turn};

/// The next member that should join, if the cluster allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let Some(member) = candidate(facts, valid, draft) else {
        return Flow::Free;
    };
    let name = || member.name.clone();
    let Some(volume) = member.volume() else {
        return Flow::Free;
    };
    let question = Question::about(member).without([facts.node_of(member)]);
    if let Err(why) = evidence::is_quiet(facts, &question)
        && !is_awaited(facts, member)
    {
        draft.wait_for(Waiting::ForCluster { member: name(), why }).about(member.subject());
        return Flow::Busy;
    }
    let turn = turn::new(facts.snapshot, &member.name, &volume.volume_id, ServiceStep::Join);
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: name() }));
    Flow::Busy
}

/// Was its join begun, so that the others know it already, or nobody serves without it? Of
/// two nodes the first pauses when the second goes away.
fn is_awaited(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_begun = member.volume().is_some_and(|v| v.state == MemberVolumeState::Incomplete);
    let is_known = facts.is_named(member) || facts.views().next().is_none();
    is_begun && member.identity.is_some() && is_known
}

/// First in order with an agent that speaks and a volume that is no member's.
fn candidate<'a>(facts: &'a Facts<'_>, valid: &Valid, draft: &mut Draft) -> Option<&'a MemberFact> {
    for name in valid.wanted() {
        let Some(member) = facts.members.get(&name).filter(|m| m.object.is_some()) else {
            continue;
        };
        if member.is_gone() || member.is_lost() || member.loss().is_some() {
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
                if old_data::of_old_node(member).is_some()
                    && old_data::off_record(facts, member).is_none() => {}
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
            let server = member.server_words();
            draft.report(Problem::Failed { member: name, server });
            continue;
        }
        if member.service().is_some_and(|s| s.address.is_some()) {
            return Some(member);
        }
    }
    None
}

/// A permit that is in use although no turn is on record (the status was lost): the turn
/// is taken up again under the same nonce.
pub fn adopt_permit(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    match shared::unclaimed_permit(facts, draft) {
        None => go_on_after_permit(facts, draft),
        Some((_, Unclaimed::NotKnown)) => Flow::Busy,
        Some((_, Unclaimed::Turn(turn))) => {
            draft.steps.push(shared::resume(facts, &turn));
            Flow::Busy
        }
    }
}

/// A member that has joined although no turn is on record any more: it has yet to take its
/// replicas. Its permit is there as long as nobody has said that it is done with it.
fn go_on_after_permit(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    for member in facts.members.values().filter(|m| m.loss().is_none()) {
        let Some(start) = member.spec.as_ref().and_then(|spec| spec.start.as_ref()) else {
            continue;
        };
        let step = ServiceStep::Join;
        let mut turn = turn::new(facts.snapshot, &member.name, &start.volume_id, step);
        turn.nonce.clone_from(&start.nonce);
        turn.attempt = start.attempt;
        let is_joiner = start.kind == ServicePermitKind::Join;
        let has_joined = permit::course(facts, &turn, member) == Course::Done;
        if is_joiner && has_joined && !has_grown(&turn, member) {
            draft.steps.push(shared::resume(facts, &turn));
            return Flow::Busy;
        }
    }
    Flow::Free
}
