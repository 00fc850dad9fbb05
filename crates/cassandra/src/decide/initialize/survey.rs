//! What exists before there is a ring: all empty, in doubt, or a founding that
//! was given and has not come to its end.

use crate::decide::objects::replicas;
use crate::facts::words::pod_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::member::VolumeState;
use palladion_api::reasons::Reason;

/// What is there.
pub enum Survey<'a> {
    /// Something has not answered yet.
    Waiting(Reason, String),
    /// Something may be an older ring.
    Doubt(String),
    /// A founding was given to this member's volume and has not come to an end.
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

/// No process starts until the seeds have their places, as in Cassandra-on-Mesos.
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
        None => Survey::Waiting(Reason::UpToDate, "no members are wanted".into()),
    }
}

fn waiting_for<'a>(member: &MemberFact) -> Survey<'a> {
    Survey::Waiting(
        Reason::WaitingForPod,
        format!("founding waits for member {}: {}", member.name, pod_words(member)),
    )
}
