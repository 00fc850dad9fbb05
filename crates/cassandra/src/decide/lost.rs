//! Which member is to be replaced next: one whose volume is provably lost or
//! was given up, while all the rest is well.

use super::{Draft, evidence, given_up, gone, next_join, replacing, replicas, turn};
use crate::facts::{Facts, MemberFact};
use crate::status::pod_words;
use crate::validate::Valid;
use palladion_api::cluster::{Replaced, TurnStep};
use palladion_api::member::{VolumeState, VolumeStatus};
use palladion_api::reasons::Reason;

/// The first member whose volume is lost. True = something is being done or
/// waited for that the rest must not overtake.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        if let Some(why) = is_over(facts, member) {
            draft.steps.extend(given_up::withdraw(valid, member, &why, None));
            return true;
        }
        let Some((volume_id, replaced)) = lost(member) else {
            continue;
        };
        // What is being taken back is no ground for a turn any more.
        if given_up::is_withdrawn(member, draft) {
            return true;
        }
        let unwanted = given_up::of(member).is_some() && !next_join::is_wanted(valid, member);
        let removed = unwanted || is_out(facts, &name, &replaced.host_id);
        let (step, what) = match removed {
            true => (TurnStep::Remove, "removed from the ring"),
            false => (TurnStep::Replace, "replaced"),
        };
        let voters = given_up::voters(member);
        let can_go_on = rest_is_quiet(facts, &name, &replaced.host_id)
            .and_then(|()| gone::can_be_proven(facts, &name, &replaced.host_id, voters));
        if let Err(why) = can_go_on {
            let words = format!("member {name} has lost its data and waits to be {what}: {why}");
            if given_up::of(member).is_some() {
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
        let mut turn = turn::new(facts, &name, &volume_id, step, 1);
        turn.replaces = Some(replaced);
        draft.steps.push(turn::claim(
            facts,
            Some(&turn),
            None,
            format!("give member {name} the turn to be {what}"),
            super::synced(format!("Member {name} has lost its data and is being {what}")),
        ));
        return true;
    }
    false
}

/// The record of a volume that is given up has done its work, or is void.
fn is_over(facts: &Facts<'_>, member: &MemberFact) -> Option<String> {
    let record = given_up::of(member)?;
    let spec = member.spec.as_ref()?;
    let is_another = |id: &String| *id != record.host_id;
    if spec.host_id.as_ref().is_some_and(is_another) {
        return Some("it was replaced".into());
    }
    let kept = given_up::has_old_claim(member)
        && member.claim.as_ref().is_some_and(|c| !c.terminating)
        && spec.host_id.is_some();
    let others = evidence::others(facts, &member.name).len();
    let doubts = given_up::seen_up_by(facts, &member.name, &record.host_id).len();
    // What a dead machine said last is no sign of life; Kubernetes' word is.
    let lives = member.is_normal()
        && member.pod.as_ref().is_some_and(|p| {
            let node = p.node.as_deref().unwrap_or_default();
            p.is_ready() && facts.nodes.get(node) == Some(&true)
        });
    (kept && others > 0 && doubts == others && lives)
        .then(|| "it is up and normal again".to_string())
}

/// Its claim is made anew, and nothing can be done before a pod is on it.
fn waits_for_its_pod(member: &MemberFact) -> bool {
    given_up::of(member).is_some() && !given_up::has_old_claim(member) && member.volume().is_none()
}

/// The marker rule: the recorded volume's marker is missing on the recorded
/// file system. Or a replacement was begun and did not come to its end: the
/// lost identity was taken off the record, and stands on the claim alone. Or
/// the volume was given up.
pub fn lost(member: &MemberFact) -> Option<(String, Replaced)> {
    if let Some(record) = given_up::of(member) {
        let fresh = member.volume().filter(|v| is_fresh(member, v));
        let volume_id = fresh.map_or(&record.volume_id, |v| &v.volume_id);
        let replaced =
            Replaced { host_id: record.host_id.clone(), address: record.address.clone() };
        return Some((volume_id.clone(), replaced));
    }
    let volume = member.volume()?;
    let spec = member.spec.as_ref()?;
    let claim = member.claim.as_ref();
    let (host_id, address) = match volume.state {
        VolumeState::Lost => (member.recorded_host_id()?.to_string(), spec.address.clone()?),
        VolumeState::Empty | VolumeState::Incomplete if spec.host_id.is_none() => {
            let claim =
                claim.filter(|c| c.volume_id.as_ref().is_some_and(|v| *v != volume.volume_id))?;
            (claim.host_id.clone()?, claim.address.clone()?)
        }
        VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Joined
        | VolumeState::Left
        | VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted => return None,
    };
    Some((volume.volume_id.clone(), Replaced { host_id, address }))
}

/// Is it out of the ring already, as far as all others report by themselves:
/// removed by a person, or by a removal whose end nobody noted?
pub fn is_out(facts: &Facts<'_>, name: &str, host_id: &str) -> bool {
    let others = evidence::others(facts, name);
    let without = gone::rest_of(facts, host_id);
    !others.is_empty()
        && others.iter().all(|o| {
            o.status.ring.as_ref().is_some_and(|r| {
                usize::try_from(r.members) == Ok(without)
                    && r.exceptions.iter().all(|e| e.host_id != host_id)
            })
        })
}

/// Is this the new volume of a member whose old one is given up?
pub fn is_fresh(member: &MemberFact, volume: &VolumeStatus) -> bool {
    !given_up::has_old_claim(member)
        && matches!(volume.state, VolumeState::Empty | VolumeState::Incomplete)
}

/// All others are up and normal, and see nobody in trouble but the lost one,
/// and whom else nobody waits for any more.
pub fn rest_is_quiet(facts: &Facts<'_>, name: &str, host_id: &str) -> Result<(), String> {
    let excused = replacing::excused(facts, host_id);
    let without = gone::rest_of(facts, host_id);
    let mut others = 0;
    for member in facts
        .members
        .values()
        .filter(|m| m.name != name && m.recorded_host_id().is_some())
        .filter(|m| given_up::of(m).is_none())
    {
        others += 1;
        if !member.is_normal() {
            return Err(format!("member {} is not up and normal", member.name));
        }
        let Some(ring) = &member.status.ring else {
            return Err(format!("member {} has not reported its ring yet", member.name));
        };
        let odd = ring.exceptions.iter().find(|e| !excused.contains(&e.host_id.as_str()));
        if let Some(odd) = odd {
            return Err(format!(
                "member {} sees {} {:?} and {:?}",
                member.name, odd.address, odd.liveness, odd.state
            ));
        }
        let knows = usize::try_from(ring.members) != Ok(without);
        if knows && !ring.exceptions.iter().any(|e| e.host_id == host_id) {
            return Err(format!("member {} still sees it up", member.name));
        }
    }
    match others {
        0 => Err("it was the only member of the ring; its data is gone. Restore a backup, or annotate for a new founding".into()),
        _ => Ok(()),
    }
}
