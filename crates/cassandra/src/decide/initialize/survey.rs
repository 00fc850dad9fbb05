//! What exists before there is a ring: all empty, in doubt, or an initialization
//! that was begun and is not complete.

use super::doubt::Doubt;
use crate::decide::objects::replicas;
use crate::facts::words::pod_words;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::Waiting;
use palladion_api::member::VolumeState;

/// What is there.
pub enum Survey<'a> {
    /// Something has not answered yet.
    Waiting(Waiting),
    /// Nobody will ever look at this claim: its member gets no pod.
    NeverAsked(&'a MemberFact, &'a ClaimFact),
    /// All have answered, and this may be an older ring.
    Doubt(Vec<Doubt>),
    /// This member began to initialize the ring, and has not completed it.
    Resume(&'a MemberFact),
    /// All is empty.
    Clear(&'a MemberFact),
}

/// Look at every volume that exists. What was not looked at is no doubt that a
/// person could dispel: it is waited for, whatever else was found.
pub fn survey<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Survey<'a> {
    let given = facts.status.initialization.as_ref();
    let mut doubts = Vec::new();
    for member in facts.members.values() {
        let Some(claim) = &member.claim else { continue };
        if !claim.bound {
            continue; // Nothing was ever mounted from it.
        }
        let Some(volume) = member.volume() else {
            return match will_be_asked(facts, valid, member) {
                true => waiting_for(member),
                false => Survey::NeverAsked(member, claim),
            };
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
            | VolumeState::Unaccounted => doubts.push(Doubt::of(member, claim, volume)),
        }
    }
    let Some(given) = given else {
        return match doubts.is_empty() {
            true => clear_when_seeds_are_there(facts, valid),
            false => Survey::Doubt(doubts),
        };
    };
    let first = facts.members.get(&given.member);
    match first.and_then(|f| f.volume().map(|v| (f, v))) {
        Some((first, volume)) if volume.volume_id == given.volume_id && doubts.is_empty() => {
            Survey::Resume(first)
        }
        Some((_, volume)) => {
            if volume.volume_id != given.volume_id {
                let (member, volume_id) = (given.member.clone(), given.volume_id.clone());
                doubts.push(Doubt::FirstVolumeGone { member, volume_id });
            }
            Survey::Doubt(doubts)
        }
        None => {
            let member = given.member.clone();
            first.map_or(Survey::Waiting(Waiting::NoMember { member }), waiting_for)
        }
    }
}

/// Has it a pod, or will it get one?
fn will_be_asked(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    member.pod.is_some()
        || replicas::in_order(facts, valid).into_iter().any(|(_, name)| name == member.name)
}

/// No process starts until the seeds have their places, as in Cassandra-on-Mesos.
fn clear_when_seeds_are_there<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Survey<'a> {
    let mut first = None;
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            return Survey::Waiting(Waiting::Created { member: name });
        };
        let is_seed = u32::try_from(member.ordinal).is_ok_and(|o| o < valid.seeds_per_rack);
        if is_seed && member.volume().is_none() {
            return waiting_for(member);
        }
        first = first.or(Some(member).filter(|m| replicas::is_wanted(valid, m)));
    }
    match first {
        Some(member) => Survey::Clear(member),
        None => Survey::Waiting(Waiting::NoneRequested),
    }
}

fn waiting_for<'a>(member: &MemberFact) -> Survey<'a> {
    let (name, pod) = (member.name.clone(), pod_words(member));
    Survey::Waiting(Waiting::Report { member: name, pod })
}
