//! Who is replaced next, and what must be so before it may have the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::{change, lock, server_id};
use crate::facts::{Facts, MemberFact, Voter};
use crate::validate::Valid;
use crate::words::join::Problem as NoId;
use crate::words::replace::{Doing, Waiting};
use palladion_api::ids::VolumeId;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::MemberVolume;
use palladion_plan::members::lost;
use palladion_plan::{Flow, turn};

/// The first lost member that can be replaced now, if the others are a majority and agree.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    for member in lost_members(facts, valid) {
        if waits_for_pod(member) {
            let waiting = Waiting::ForPod { member: member.name.clone(), pod: member.pod_words() };
            draft.wait_for(waiting).about(member.subject());
            continue;
        }
        return begin(facts, member, draft);
    }
    Flow::Free
}

/// Whoever should leave is taken out, and nobody comes in its place.
fn lost_members<'a>(facts: &'a Facts<'_>, valid: &Valid) -> impl Iterator<Item = &'a MemberFact> {
    let size = valid.size;
    facts.enrolled().filter(move |m| m.ordinal < size && m.loss().is_some())
}

/// Has room been made for another volume, and is there none yet? Where no machine is left
/// for the pod there may never be one, and nobody else waits for that.
fn waits_for_pod(member: &MemberFact) -> bool {
    let lost = member.loss().map(|l| &l.lost.volume_id);
    let has_another = member.volume().is_some_and(|v| is_another(v, lost));
    !lost::is_needed(member) && !has_another
}

/// Is it another volume than this? One that is not mounted, or not taken yet, has no ID.
pub(super) fn is_another(volume: &MemberVolume, lost: Option<&VolumeId>) -> bool {
    Some(&volume.volume_id) != lost && !volume.volume_id.as_str().is_empty()
}

fn begin(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let Some(loss) = member.loss() else {
        return Flow::Free;
    };
    let name = || member.name.clone();
    // The new server may be in the configuration already, and need a permit to come back.
    let question = question(facts, member).without(member.server_id());
    if let Err(why) = evidence::is_quiet(facts, &question) {
        draft.wait_for(Waiting::ForEnsemble { member: name(), why }).about(member.subject());
        return Flow::Busy;
    }
    // A replacement that is under way goes on with its own volume, under its own ID.
    let begun = member.volume_id().filter(|v| **v != loss.lost.volume_id);
    let id = match begun {
        Some(_) => member.server_id(),
        None => server_id::next(facts, member),
    };
    let Some(id) = id else {
        draft.report(NoId::NoServerId { member: name() });
        return Flow::Free;
    };
    let volume = begun.unwrap_or(&loss.lost.volume_id);
    let mut turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Replace);
    turn.server_id = Some(id);
    turn.replaces = Some(loss.lost.clone());
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: name(), id }));
    Flow::Busy
}

/// All others must answer; those whose volumes are lost have nothing to say.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    Question::about(member).without(facts.lost_servers())
}

/// Does the replacement of a lost member come before this turn? While a server is lost
/// nothing else changes the ensemble; what has been changed already is brought to its end,
/// and so is a change that is ordered: whoever has the order may carry it out yet.
pub fn takes_over(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    let is_surplus = |m: &MemberFact| m.ordinal >= valid.size && m.loss().is_some();
    let can_be_replaced = lost_members(facts, valid).any(|m| !waits_for_pod(m));
    let can_leave = facts.enrolled().any(is_surplus);
    let Some(member) = facts.members.get(&turn.member) else {
        return false;
    };
    let is_open = !change::is_ordered(facts, turn);
    match turn.step {
        ServiceStep::Join => (can_be_replaced || can_leave) && !lock::votes(facts, turn) && is_open,
        ServiceStep::Leave => {
            let has_begun = member.is_gone() || member.is_lost() || !lock::votes(facts, turn);
            can_be_replaced && !has_begun && is_open
        }
        // One that is away comes back first.
        ServiceStep::Restart => member.is_lost() || (can_be_replaced && member.votes()),
        ServiceStep::Initialize
        | ServiceStep::Replace
        | ServiceStep::Rescue
        | ServiceStep::Remove => false,
    }
}
