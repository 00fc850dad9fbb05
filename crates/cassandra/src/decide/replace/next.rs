//! Which member is to be replaced next: one whose volume is provably lost or
//! is marked for replacement, while all the rest is well.

use super::lost::lost;
use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::{self, absence, marks};
use crate::decide::objects::replicas;
use crate::decide::turn::lock;
use crate::facts::words::pod_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::Unmarked;
use palladion_api::cluster::TurnStep;
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;

/// The first member whose volume is lost. True = something is being done or
/// waited for that the rest must not overtake.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        if let Some(why) = is_over(facts, member) {
            draft.steps.extend(marks::withdraw(member, why, None));
            return true;
        }
        let Some((volume_id, replaced)) = lost(member) else {
            continue;
        };
        // What is being taken back is no ground for a turn any more.
        if marks::is_withdrawn(member, draft) {
            return true;
        }
        let unwanted = marks::of(member).is_some() && !replicas::is_wanted(valid, member);
        let removed = unwanted || absence::is_out(facts, &name, &replaced.host_id);
        let (step, what) = match removed {
            true => (TurnStep::Remove, "removed from the ring"),
            false => (TurnStep::Replace, "replaced"),
        };
        let voters = absence::voters(member);
        let can_go_on = evidence::rest_is_quiet(facts, &name, &replaced.host_id)
            .and_then(|()| absence::can_be_proven(facts, &name, &replaced.host_id, voters));
        if let Err(why) = can_go_on {
            let words = format!("member {name} has lost its data and waits to be {what}: {why}");
            if marks::of(member).is_some() {
                draft.trouble(Reason::ReplaceRefused, words.clone());
            }
            draft.wait(Reason::MemberReplacing, words);
            return true;
        }
        if !removed && waits_for_its_pod(member) {
            draft.wait(
                Reason::MemberReplacing,
                format!("member {name} waits to be replaced: {}", pod_words(member)),
            );
            return true;
        }
        let mut turn = lock::new(facts, &name, &volume_id, step, 1);
        turn.replaces = Some(replaced);
        draft.steps.push(lock::take(
            facts,
            &turn,
            format!("give member {name} the turn to be {what}"),
            synced(format!("Member {name} has lost its data and is being {what}")),
        ));
        return true;
    }
    false
}

/// The record of a volume that is marked has done its work, or is void.
fn is_over(facts: &Facts<'_>, member: &MemberFact) -> Option<Unmarked> {
    let record = marks::of(member)?;
    let spec = member.spec.as_ref()?;
    let is_another = |id: &HostId| *id != record.host_id;
    if spec.host_id.as_ref().is_some_and(is_another) {
        return Some(Unmarked::Replaced);
    }
    let kept = marks::has_old_claim(member)
        && member.claim.as_ref().is_some_and(|c| !c.terminating)
        && spec.host_id.is_some();
    let others = evidence::others(facts, &member.name).len();
    let doubts = evidence::seen_up_by(facts, &member.name, &record.host_id).len();
    // What a dead machine said last is no sign of life; Kubernetes' word is.
    let lives = member.is_normal()
        && member.pod.as_ref().is_some_and(|p| {
            let node = p.node.as_deref().unwrap_or_default();
            p.is_ready() && facts.nodes.get(node) == Some(&true)
        });
    (kept && others > 0 && doubts == others && lives).then_some(Unmarked::UpAgain)
}

/// Its claim is made anew, and nothing can be done before a pod is on it.
fn waits_for_its_pod(member: &MemberFact) -> bool {
    marks::of(member).is_some() && !marks::has_old_claim(member) && member.volume().is_none()
}
