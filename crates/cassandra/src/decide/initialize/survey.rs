//! What exists before there is a ring: all empty, in doubt, or an initialization
//! that was begun and is not complete.

use crate::decide::objects::replicas;
use crate::facts::words::pod_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::{Doubt, Waiting};
use palladion_api::member::VolumeState;

/// What is there.
pub enum Survey<'a> {
    /// Something has not answered yet.
    Waiting(Waiting),
    /// Something may be an older ring.
    Doubt(Doubt),
    /// This member began to initialize the ring, and has not completed it.
    Resume(&'a MemberFact),
    /// All is empty.
    Clear(&'a MemberFact),
}

/// Look at every volume that exists.
pub fn survey<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Survey<'a> {
    let given = facts.status.initialization.as_ref();
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
                let (member, state) = (member.name.clone(), volume.state);
                return Survey::Doubt(Doubt::Volume { member, state });
            }
        }
    }
    if let Some(given) = given {
        let first = facts.members.get(&given.member);
        let name = given.member.clone();
        return match first.and_then(|f| f.volume().map(|v| (f, v))) {
            Some((first, volume)) if volume.volume_id == given.volume_id => Survey::Resume(first),
            Some(_) => {
                let volume_id = given.volume_id.clone();
                Survey::Doubt(Doubt::FirstVolumeGone { member: name, volume_id })
            }
            None => first.map_or(Survey::Waiting(Waiting::NoMember { member: name }), waiting_for),
        };
    }
    clear_when_seeds_are_there(facts, valid)
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
        first = first.or(Some(member));
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
