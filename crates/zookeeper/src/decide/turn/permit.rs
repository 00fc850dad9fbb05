//! Permits: given to the member that has the turn, and how far they are.

use crate::decide::draft::Draft;
use crate::decide::evidence::Proof;
use crate::facts::{Configuration, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::turn::Waiting;
use palladion_api::ids::StaticAddress;
use palladion_api::labels;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::{DataBeforeServiceStart, Peer, ServicePermitKind};
use palladion_plan::members::turn as shared;
pub use palladion_plan::members::turn::{Course, TRIES, data_before_join, keeps_volume, withdraw};
use palladion_plan::words::turn::Doing;
use palladion_plan::{Object, Step};
use serde_json::json;

/// What came of the permit of this turn.
pub fn course(turn: &ServiceTurn, member: &MemberFact) -> Course {
    shared::course(turn, member, has_joined(turn, member))
}

/// Does its ledger say that the server of this turn is a full member?
fn has_joined(turn: &ServiceTurn, member: &MemberFact) -> bool {
    // Whoever is rescued has been one all the time.
    let is_new = turn.step != ServiceStep::Rescue;
    let is_it = is_new && turn.server_id.is_some() && member.status.server_id == turn.server_id;
    is_it && shared::is_joined_on_its_volume(turn, member)
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
        let waiting = Waiting::ForClaim { member: member.name.clone(), pod: member.pod_words() };
        draft.wait_for(waiting).about(member.subject());
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

/// Those that vote, as whom a joiner connects to. It may vote itself already, and is no
/// peer of its own.
pub fn peers(configuration: &Configuration, turn: &ServiceTurn) -> Vec<Peer> {
    let voters = configuration.participants().filter(|s| Some(s.server_id) != turn.server_id);
    voters.map(|s| Peer { server_id: s.server_id, address: s.address.clone() }).collect()
}
