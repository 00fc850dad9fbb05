//! What exists before there is a ring: all empty, in doubt, or an initialization
//! that was begun and is not complete.

use super::doubt::Doubt;
use crate::decide::objects::replicas;
use crate::facts::words::pod_words;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::Waiting;
use palladion_api::cluster::Initialization;
use palladion_api::member::VolumeState;

/// What is there.
pub enum Survey<'a> {
    /// Something has not answered yet.
    Waiting(Waiting),
    /// Nobody will ever look at this claim: its member gets no pod.
    NeverAsked(&'a MemberFact, &'a ClaimFact),
    /// All have answered, and this may be an older ring.
    Doubt {
        /// What may be one.
        doubts: Vec<Doubt>,
        /// Who began to initialize the new one, on a volume that is in no doubt.
        begun: Option<&'a MemberFact>,
    },
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
        let Some(volume) = member.volume() else {
            match unseen(facts, valid, member) {
                Some(unseen) => return unseen,
                None => continue,
            }
        };
        match volume.state {
            VolumeState::Empty => {}
            // Nothing that a person could judge: the newer operator can.
            VolumeState::Unknown => {
                let member = member.name.clone();
                return Survey::Waiting(Waiting::NotKnown { member });
            }
            VolumeState::Incomplete if given.is_some_and(|g| g.volume_id == volume.volume_id) => {}
            VolumeState::Incomplete
            | VolumeState::Joined
            | VolumeState::Left
            | VolumeState::Lost
            | VolumeState::NotMounted
            | VolumeState::Foreign
            | VolumeState::Unaccounted => doubts.push(Doubt::of(member, volume)),
        }
    }
    match given {
        Some(given) => begun(facts, given, doubts),
        None if doubts.is_empty() => clear_when_seeds_are_there(facts, valid),
        None => Survey::Doubt { doubts, begun: None },
    }
}

/// The volume of a member whose agent has not reported, if there may be one. A
/// claim without our labels is not seen: only the pod that mounts it can tell.
fn unseen<'a>(facts: &Facts<'_>, valid: &Valid, member: &'a MemberFact) -> Option<Survey<'a>> {
    let is_asked = will_be_asked(facts, valid, member);
    match &member.claim {
        Some(claim) if !claim.bound => None, // Nothing was ever mounted from it.
        Some(claim) if !is_asked => Some(Survey::NeverAsked(member, claim)),
        Some(_) => Some(waiting_for(member)),
        None => is_asked.then(|| waiting_for(member)),
    }
}

/// An initialization is on record. It goes on where it was begun, as long as that
/// volume may still hold it: permission for other volumes does not give it up.
fn begun<'a>(facts: &'a Facts<'_>, given: &Initialization, mut doubts: Vec<Doubt>) -> Survey<'a> {
    let member = given.member.clone();
    let Some(first) = facts.members.get(&given.member) else {
        return Survey::Waiting(Waiting::NoMember { member });
    };
    let Some(volume) = first.volume() else {
        return waiting_for(first);
    };
    if volume.volume_id != given.volume_id {
        doubts.push(Doubt::FirstVolumeGone { member, volume_id: given.volume_id.clone() });
        return Survey::Doubt { doubts, begun: None };
    }
    match volume.state {
        VolumeState::Empty | VolumeState::Incomplete if doubts.is_empty() => Survey::Resume(first),
        VolumeState::Empty | VolumeState::Incomplete => {
            Survey::Doubt { doubts, begun: Some(first) }
        }
        // Named among the doubts, or waited for.
        VolumeState::Joined
        | VolumeState::Left
        | VolumeState::Lost
        | VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted
        | VolumeState::Unknown => Survey::Doubt { doubts, begun: None },
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
