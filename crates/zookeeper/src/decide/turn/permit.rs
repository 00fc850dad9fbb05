//! Permits: given to the member that has the turn, and how far they are.

use crate::decide::draft::Draft;
use crate::decide::evidence::Proof;
use crate::facts::{Configuration, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::turn::Doing;
use palladion_api::ids::StaticAddress;
use palladion_api::labels;
use palladion_api::member::PermitState;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::{
    DataBeforeServiceStart, MemberVolume, MemberVolumeState, Peer, ServicePermitKind,
};
use palladion_plan::{Object, Step};
use serde_json::json;

/// Starts that may fail before the turn is released for others.
pub const TRIES: u32 = 3;

/// How far the permit of a turn is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// It was not given yet.
    NotGiven,
    /// The pod that it was for has ended.
    PodEnded,
    /// It was given, and its agent is at it.
    Open,
    /// The server serves as a full member.
    Done,
    /// The start failed.
    Failed,
    /// The agent did not start the server at all, and says why.
    Refused(String),
}

/// What came of the permit of this turn. Whoever is a full member by its ledger needs
/// none any more, also where the permit was withdrawn and the turn did not end with it.
pub fn course(turn: &ServiceTurn, member: &MemberFact) -> Course {
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    if answer.is_some_and(|p| p.state == PermitState::Done) || has_joined(turn, member) {
        return Course::Done;
    }
    let given = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let Some(start) = given.filter(|s| s.nonce == turn.nonce) else {
        return Course::NotGiven;
    };
    if member.pod.as_ref().is_none_or(|p| p.uid != start.pod_uid) {
        return Course::PodEnded;
    }
    match answer.map(|p| p.state) {
        None | Some(PermitState::Used | PermitState::Done | PermitState::Unknown) => Course::Open,
        Some(PermitState::Failed) => Course::Failed,
        Some(PermitState::Refused | PermitState::Withdrawn) => {
            Course::Refused(answer.and_then(|p| p.message.clone()).unwrap_or_default())
        }
    }
}

/// Does its ledger say that the server of this turn is a full member?
fn has_joined(turn: &ServiceTurn, member: &MemberFact) -> bool {
    let is_joined =
        |v: &MemberVolume| v.state == MemberVolumeState::Joined && v.volume_id == turn.volume_id;
    // Whoever is rescued has been one all the time.
    let is_new = turn.step != ServiceStep::Rescue;
    let is_it = is_new && turn.server_id.is_some() && member.status.server_id == turn.server_id;
    is_it && member.is_on_its_volume() && member.volume().is_some_and(is_joined)
}

/// Has the member still the volume for which it got the turn? None while no agent reports one.
pub fn keeps_volume(turn: &ServiceTurn, member: &MemberFact) -> Option<bool> {
    member.volume().map(|volume| volume.volume_id == turn.volume_id)
}

/// A permit in the making.
pub struct Permit<'a> {
    /// The turn that it belongs to.
    pub turn: &'a ServiceTurn,
    /// The member that gets it.
    pub member: &'a MemberFact,
    /// Its address.
    pub address: &'a StaticAddress,
    /// Servers that it connects to.
    pub peers: Vec<Peer>,
    /// What happens to what is on the volume.
    pub data: DataBeforeServiceStart,
    /// Why it may be given.
    pub proof: &'a Proof,
}

/// Give the permit of a turn to its member. The server ID is on the claim before it is
/// used: the claim outlives every other object of the cluster.
pub fn give(facts: &Facts<'_>, permit: &Permit<'_>, draft: &mut Draft) {
    let Permit { turn, member, address, peers, data, proof } = permit;
    let (Some(object), Some(pod), Some(claim)) = (&member.object, &member.pod, &member.claim)
    else {
        return;
    };
    let kind = match turn.step {
        ServiceStep::Initialize => ServicePermitKind::Initialize,
        ServiceStep::Join | ServiceStep::Replace => ServicePermitKind::Join,
        ServiceStep::Rescue => ServicePermitKind::Rescue,
        ServiceStep::Leave | ServiceStep::Restart | ServiceStep::Remove => return,
    };
    let Some(id) = turn.server_id else { return };
    let annotations = json!({
        labels::SERVER_ID: id.to_string(), labels::VOLUME_ID: turn.volume_id,
        labels::ADDRESS: address, labels::GONE: null,
    });
    let doing = || Doing::Permit { member: member.name.clone(), work: turn.step.into() };
    draft.steps.push(
        Step::patch_as_seen(
            kinds::CLAIM,
            &claim.object.meta,
            json!({ "metadata": { "annotations": annotations } }),
            doing(),
        )
        .fenced(facts.fence()),
    );
    let reported = member.volume();
    let patch = json!({ "spec": {
        "address": address,
        "serverID": id,
        "volumeID": turn.volume_id,
        "fileSystem": reported.map(|v| &v.file_system),
        "starts": reported.and_then(|v| v.starts),
        "operation": null,
        "intent": null,
        "start": {
            "kind": kind,
            "nonce": turn.nonce,
            "podUID": pod.uid,
            "volumeID": turn.volume_id,
            "reason": proof.text(),
            "attempt": turn.attempt,
            "peers": peers,
            "data": data,
        },
    }});
    draft.steps.push(order(facts, object, patch, proof, doing()));
}

fn order(
    facts: &Facts<'_>,
    object: &Object,
    patch: serde_json::Value,
    proof: &Proof,
    doing: Doing,
) -> Step {
    Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing)
        .fenced(facts.fence())
        .proven(proof.stated())
}

/// The permit has done its work.
pub fn withdraw(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    member.spec.as_ref()?.start.as_ref()?;
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::Withdraw { member: member.name.clone() };
    let patch = json!({ "spec": { "start": null } });
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}

/// What becomes of what is on the volume of a member that joins.
pub fn data_before_join(member: &MemberFact) -> DataBeforeServiceStart {
    match member.volume().map(|v| v.state) {
        Some(MemberVolumeState::Incomplete | MemberVolumeState::Left) => {
            DataBeforeServiceStart::Wipe
        }
        Some(
            MemberVolumeState::Empty
            | MemberVolumeState::Joined
            | MemberVolumeState::Lost
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted
            | MemberVolumeState::RolledBack
            | MemberVolumeState::Unknown,
        )
        | None => DataBeforeServiceStart::MustBeEmpty,
    }
}

/// Those that vote, as whom a joiner connects to. It may vote itself already, and is no
/// peer of its own.
pub fn peers(configuration: &Configuration, turn: &ServiceTurn) -> Vec<Peer> {
    let voters = configuration.participants().filter(|s| Some(s.server_id) != turn.server_id);
    voters.map(|s| Peer { server_id: s.server_id, address: s.address.clone() }).collect()
}
