//! What proves that nothing runs that anybody uses: no evidence of others is
//! needed to end it.

use super::proof::Proof;
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact, PodFact};
use crate::words::evidence::{Idle, Proven};
use palladion_api::member::ServerState;
use palladion_plan::proof::ProofKind;

/// No server serves in this pod: why, and the proof.
pub fn serves_nothing(
    facts: &Facts<'_>,
    member: &MemberFact,
    pod: &PodFact,
) -> Option<(Idle, Proof)> {
    let why = runs_nothing(member, pod)?;
    let (uid, revision) = (pod.uid.clone(), pod.revision.clone());
    let proven = Proven::Idle { pod: uid, revision, why: why.clone() };
    let proof = Proof::seen(facts, ProofKind::Idle, member, &proven);
    Some((why, proof))
}

fn runs_nothing(member: &MemberFact, pod: &PodFact) -> Option<Idle> {
    if let Some(message) = &pod.unschedulable {
        return Some(Idle::Unschedulable { message: message.clone() });
    }
    if let Some(trouble) = &pod.trouble {
        let (reason, message) = (trouble.reason.clone(), trouble.message.clone());
        return Some(Idle::Failing { reason, message });
    }
    let server = member.reported_server()?;
    match server.state {
        ServerState::Failed | ServerState::Waiting => {
            Some(Idle::Server { server: server_words(member) })
        }
        ServerState::Starting
        | ServerState::Running
        | ServerState::Stopped
        | ServerState::Stopping
        | ServerState::Decommissioned
        | ServerState::Unknown => None,
    }
}

/// Its server has ended by itself, so that nothing is stopped: a token makes its
/// agent try at once.
pub fn has_ended(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let has_permit = member.spec.as_ref().is_some_and(|s| s.start.is_some());
    let state = member.status.server.as_ref().map(|s| s.state);
    let ended = member.agent_speaks() && !has_permit && state == Some(ServerState::Failed);
    ended.then(|| Proof::seen(facts, ProofKind::Idle, member, &Proven::Exited))
}
