//! What exists before there is an ensemble: all empty, in doubt, or a start that was
//! begun and is not complete.

use crate::decide::objects::replicas;
use crate::facts::words::pod_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::{Doubt, Waiting};
use palladion_api::ids::{Nonce, Uid};
use palladion_api::service::ServiceInitialization;
use palladion_api::service_member::{MemberVolume, MemberVolumeState};
use palladion_plan::hash;
use serde_json::{Value, json};

/// What is there.
pub enum Survey<'a> {
    /// Something has not answered yet.
    Waiting(Waiting, Option<&'a MemberFact>),
    /// Nobody will ever look at the claim of this member: it gets no pod.
    NeverAsked(&'a MemberFact),
    /// All have answered, and this may be an older ensemble.
    Doubt(Vec<Found>),
    /// This member began to initialize the ensemble, and has not completed it.
    Resume(&'a MemberFact),
    /// All is empty.
    Clear,
}

/// Something that may be an older ensemble: what people are told, and what their
/// permission stands for.
pub struct Found {
    /// In words.
    pub doubt: Doubt,
    data: Value,
}

impl Found {
    fn volume(member: &MemberFact, volume: &MemberVolume) -> Self {
        let MemberVolume { volume_id, state, cluster, .. } = volume;
        Self {
            doubt: Doubt::Volume { member: member.name.clone(), found: (*state).into() },
            data: json!({ "volumeID": volume_id, "state": state, "cluster": cluster }),
        }
    }

    /// The volume that it is about.
    pub fn volume_id(&self) -> Option<String> {
        let id = self.data.get("volumeID").or(self.data.get("gone"));
        id.and_then(Value::as_str).map(str::to_string)
    }

    fn first_gone(begun: &ServiceInitialization) -> Self {
        let (member, volume) = (begun.member.clone(), begun.volume_id.clone());
        let data = json!({ "gone": volume });
        Self { doubt: Doubt::FirstVolumeGone { member, volume }, data }
    }
}

/// The nonce of a permission: it stands for all that was found, and fits nothing else.
pub fn nonce(cluster: &Uid, found: &[Found]) -> Nonce {
    let mut all: Vec<&Value> = found.iter().map(|f| &f.data).collect();
    all.sort_by_cached_key(|data| data.to_string());
    Nonce::new(hash::of(&json!([cluster, all])))
}

/// Look at every volume that exists. What was not looked at is waited for, whatever
/// else was found.
pub fn survey<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Survey<'a> {
    let begun = facts.status.initialized.as_ref();
    let mut found = Vec::new();
    for name in replicas::names(facts, valid) {
        if !facts.members.contains_key(&name) {
            return Survey::Waiting(Waiting::Created { member: name }, None);
        }
    }
    for member in facts.members.values() {
        let Some(volume) = member.volume() else {
            match unseen(facts, valid, member) {
                Some(unseen) => return unseen,
                None => continue,
            }
        };
        let is_begun = begun.is_some_and(|b| b.volume_id == volume.volume_id);
        match volume.state {
            MemberVolumeState::Empty => {}
            MemberVolumeState::Unknown => {
                let waiting = Waiting::NotKnown { member: member.name.clone() };
                return Survey::Waiting(waiting, Some(member));
            }
            MemberVolumeState::Incomplete if is_begun => {}
            MemberVolumeState::Incomplete
            | MemberVolumeState::Joined
            | MemberVolumeState::Left
            | MemberVolumeState::Lost
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted
            | MemberVolumeState::RolledBack => found.push(Found::volume(member, volume)),
        }
    }
    match begun {
        Some(begun) => resume(facts, begun, found),
        None if found.is_empty() => Survey::Clear,
        None => Survey::Doubt(found),
    }
}

/// The volume of a member whose agent has not reported, if there may be one.
fn unseen<'a>(facts: &Facts<'_>, valid: &Valid, member: &'a MemberFact) -> Option<Survey<'a>> {
    let gets_a_pod = replicas::names(facts, valid).any(|name| name == member.name);
    let is_asked = member.pod.is_some() || gets_a_pod;
    match &member.claim {
        Some(claim) if !claim.bound && !is_asked => None, // Nothing was ever mounted from it.
        Some(_) if !is_asked => Some(Survey::NeverAsked(member)),
        Some(_) => Some(report(member)),
        None => is_asked.then(|| report(member)),
    }
}

/// A start is on record. It goes on where it was begun, as long as that volume may
/// still hold it.
fn resume<'a>(
    facts: &'a Facts<'_>,
    begun: &ServiceInitialization,
    mut found: Vec<Found>,
) -> Survey<'a> {
    let Some(first) = facts.members.get(&begun.member) else {
        return Survey::Waiting(Waiting::Created { member: begun.member.clone() }, None);
    };
    let Some(volume) = first.volume() else {
        return report(first);
    };
    if volume.volume_id != begun.volume_id {
        found.push(Found::first_gone(begun));
    }
    match found.is_empty() {
        true => Survey::Resume(first),
        false => Survey::Doubt(found),
    }
}

fn report(member: &MemberFact) -> Survey<'_> {
    let (name, pod) = (member.name.clone(), pod_words(member));
    Survey::Waiting(Waiting::Report { member: name, pod }, Some(member))
}
