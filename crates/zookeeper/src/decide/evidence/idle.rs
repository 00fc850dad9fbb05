//! What proves that nothing runs that anybody uses, or that a start changes nothing:
//! no answers of others are needed.

use super::proof::Proof;
use crate::build;
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::{Idle, Proven};
use palladion_api::reasons::Reason;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{MemberServerState, MemberVolumeState};
use palladion_plan::proof::ProofKind;
use palladion_plan::workload::pod::PodFact;

/// No server serves in this pod: why, and the proof.
pub fn serves_nothing(
    facts: &Facts<'_>,
    member: &MemberFact,
    pod: &PodFact,
) -> Option<(Idle, Proof)> {
    let why = runs_nothing(member, pod)?;
    let (uid, revision) = (pod.uid.clone(), pod.revision.clone());
    let proven = Proven::Idle { pod: uid, revision, why: why.clone() };
    Some((why, Proof::seen(facts, ProofKind::Idle, member, &proven)))
}

fn runs_nothing(member: &MemberFact, pod: &PodFact) -> Option<Idle> {
    if let Some(message) = &pod.unschedulable {
        return Some(Idle::Unschedulable { message: message.clone() });
    }
    if let Some(trouble) = pod.trouble_of(|container| container == build::CONTAINER) {
        let (reason, message) = (trouble.reason.clone(), trouble.message.clone());
        return Some(Idle::Failing { reason, message });
    }
    has_no_process(member).then(|| Idle::Server { server: server_words(member) })
}

/// Does its agent report that no server runs? An agent that cannot ask about the
/// process waits as well, and says that it does not know.
fn has_no_process(member: &MemberFact) -> bool {
    member.server().is_some_and(|server| {
        let has_ended =
            matches!(server.state, MemberServerState::Waiting | MemberServerState::Failed);
        has_ended && server.reason.as_deref().is_some_and(Reason::is_of_no_process)
    })
}

/// A start on this volume was permitted before, for a pod that is gone. The server goes
/// on with what the volume holds, under the same server ID: that takes nothing back
/// which it has acknowledged, and the others may need its vote to answer at all.
pub fn keeps_its_data(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Option<Proof> {
    let volume = member.volume()?;
    let begun = volume.state == MemberVolumeState::Incomplete
        && volume.volume_id == turn.volume_id
        && member.is_on_its_volume()
        && turn.server_id.is_some()
        && member.server_id() == turn.server_id;
    begun.then(|| Proof::seen(facts, ProofKind::Idle, member, &Proven::GoesOn))
}

/// No server ID was ever given to the volume of this member, and its Node is gone: it was
/// never a part of the ensemble, which exists without it.
pub fn was_never_part(facts: &Facts<'_>, member: &MemberFact, node: &str) -> Option<Proof> {
    let has_id = member.server_id().is_some()
        || member.claim.as_ref().is_some_and(|c| c.server_id.is_some())
        || member.status.server_id.is_some();
    if has_id || !facts.ensemble_exists() {
        return None;
    }
    let proven = Proven::NothingOnNode { member: member.name.clone(), node: node.to_string() };
    Some(Proof::seen(facts, ProofKind::NeverPart, member, &proven))
}
