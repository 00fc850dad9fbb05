//! The founding of a new ring: given once, to one volume, and only if nothing
//! that exists could be an older ring (safety rules, section 2).

use super::{Draft, replicas, turn};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::cluster::{Founding, TurnStep};
use palladion_api::labels;
use palladion_api::member::VolumeState;
use palladion_api::reasons::Reason;
use palladion_plan::hash;
use serde_json::json;

/// Found the ring, or say why not yet. False = there is a ring already.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    if facts.ring_exists() {
        return false;
    }
    match survey(facts, valid) {
        Survey::Waiting(reason, message) => draft.wait(reason, message),
        Survey::Doubt(why) => match allowed(facts, &why) {
            Ok(()) => match empty_candidate(facts, valid) {
                Some(founder) => found(facts, valid, founder, 1, draft),
                None => draft.wait(Reason::FoundingRefused, "founding is allowed, and no member has an empty volume".into()),
            },
            Err(nonce) => draft.trouble(
                Reason::FoundingRefused,
                format!("no new ring is founded: {why}; if that data may be given up: kubectl annotate cassandracluster {} {}={nonce}", valid.name, labels::ALLOW_FOUNDING),
            ),
        },
        Survey::Resume(founder) => found(facts, valid, founder, 2, draft),
        Survey::Clear(founder) => found(facts, valid, founder, 1, draft),
    }
    true
}

enum Survey<'a> {
    /// Something has not answered yet.
    Waiting(Reason, String),
    /// Something may be an older ring.
    Doubt(String),
    /// A founding was given to this member's volume and has not come to an end.
    Resume(&'a MemberFact),
    /// All is empty.
    Clear(&'a MemberFact),
}

fn survey<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Survey<'a> {
    let given = facts.status.founding.as_ref();
    for member in facts.members.values() {
        let Some(claim) = &member.claim else { continue };
        if !claim.bound {
            continue; // Nothing was ever mounted from it.
        }
        let Some(volume) = member.volume() else {
            return waiting_for(member);
        };
        match volume.state {
            VolumeState::Empty => {}
            VolumeState::Incomplete if given.is_some_and(|g| g.volume_id == volume.volume_id) => {}
            VolumeState::Incomplete
            | VolumeState::Joined
            | VolumeState::Left
            | VolumeState::Lost
            | VolumeState::NotMounted
            | VolumeState::Foreign
            | VolumeState::Unaccounted => {
                return Survey::Doubt(format!(
                    "the volume of member {} is {:?}",
                    member.name, volume.state
                ));
            }
        }
    }
    if let Some(given) = given {
        let founder = facts.members.get(&given.member);
        return match founder.and_then(|f| f.volume().map(|v| (f, v))) {
            Some((founder, volume)) if volume.volume_id == given.volume_id => {
                Survey::Resume(founder)
            }
            Some(_) => Survey::Doubt(format!(
                "the ring was founded on volume {} of member {}, which is gone",
                given.volume_id, given.member
            )),
            None => founder.map_or(
                Survey::Waiting(
                    Reason::WaitingForPod,
                    format!("member {} founds the ring and has no pod", given.member),
                ),
                waiting_for,
            ),
        };
    }
    clear_when_seeds_are_there(facts, valid)
}

/// No process starts until the seeds have their places (Mesos, M15).
fn clear_when_seeds_are_there<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Survey<'a> {
    let mut founder = None;
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            return Survey::Waiting(
                Reason::CreatingObjects,
                format!("member {name} is being made"),
            );
        };
        let is_seed = u32::try_from(member.ordinal).is_ok_and(|o| o < valid.seeds_per_rack);
        if is_seed && member.volume().is_none() {
            return waiting_for(member);
        }
        founder = founder.or(Some(member));
    }
    match founder {
        Some(member) => Survey::Clear(member),
        None => Survey::Waiting(Reason::AsWanted, "no members are wanted".into()),
    }
}

fn waiting_for<'a>(member: &MemberFact) -> Survey<'a> {
    Survey::Waiting(
        Reason::WaitingForPod,
        format!("founding waits for member {}: {}", member.name, crate::status::pod_words(member)),
    )
}

/// Has a person allowed the founding with the nonce that is shown? The nonce
/// stands for what was found, so that an old permission fits nothing else.
fn allowed(facts: &Facts<'_>, why: &str) -> Result<(), String> {
    let owner = &facts.snapshot.owner.meta;
    let nonce = hash::of(&json!([owner.uid, why]));
    match owner.annotations.get(labels::ALLOW_FOUNDING) {
        Some(given) if *given == nonce => Ok(()),
        _ => Err(nonce),
    }
}

fn empty_candidate<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<&'a MemberFact> {
    replicas::in_order(facts, valid)
        .into_iter()
        .filter_map(|(_, name)| facts.members.get(&name))
        .find(|m| m.volume().is_some_and(|v| v.state == VolumeState::Empty))
}

fn found(facts: &Facts<'_>, valid: &Valid, founder: &MemberFact, attempt: u32, draft: &mut Draft) {
    let Some(volume) = founder.volume() else {
        return;
    };
    if super::failed_start::has_failed_for_good(founder) {
        draft.trouble(Reason::JoinFailed, super::failed_start::failure_words(founder));
        return;
    }
    let turn = turn::new(facts, &founder.name, &volume.volume_id, TurnStep::Found, attempt);
    let founding = Founding {
        member: founder.name.clone(),
        volume_id: volume.volume_id.clone(),
        nonce: turn.nonce.clone(),
        host_id: None,
    };
    draft.steps.push(turn::claim(
        facts,
        Some(&turn),
        Some(&founding),
        format!("let member {} found ring {}", founder.name, valid.ring),
        super::synced(format!("Member {} founds ring {}", founder.name, valid.ring)),
    ));
}
