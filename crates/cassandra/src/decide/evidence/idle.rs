//! What proves that nothing runs that anybody uses: no evidence of others is
//! needed to end it.

use super::proof::Proof;
use crate::build::is_the_server;
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact, PodFact};
use crate::words::evidence::{Idle, Proven};
use palladion_api::member::ServerState;
use palladion_api::reasons::Reason;
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
    if let Some(trouble) = pod.trouble_of(is_the_server) {
        let (reason, message) = (trouble.reason.clone(), trouble.message.clone());
        return Some(Idle::Failing { reason, message });
    }
    has_no_process(member).then(|| Idle::Server { server: server_words(member) })
}

/// Does its agent report that no server runs? An agent that cannot ask about the
/// process waits as well, and says that it does not know; what a newer one means
/// by a reason of its own we do not know.
pub(super) fn has_no_process(member: &MemberFact) -> bool {
    member.reported_server().is_some_and(|server| {
        let has_ended = matches!(server.state, ServerState::Waiting | ServerState::Failed);
        has_ended && server.reason.as_deref().is_some_and(Reason::is_of_no_process)
    })
}

/// No server of it runs, by the word of its agent: to stop it stops nothing.
pub fn runs_no_server(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let proven = Proven::NotRunning { server: server_words(member) };
    has_no_process(member).then(|| Proof::seen(facts, ProofKind::Idle, member, &proven))
}

/// It is stopped, because a person wants it: a token is only recorded.
pub fn stands_stopped(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let server = member.reported_server().filter(|_| member.is_stopped())?;
    let proven = Proven::NotRunning { server: server_words(member) };
    (server.state == ServerState::Stopped)
        .then(|| Proof::seen(facts, ProofKind::Idle, member, &proven))
}

/// Its server is drained: whoever restarts it takes nothing away from anybody.
pub fn is_drained(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    member.is_drained().then(|| Proof::seen(facts, ProofKind::Idle, member, &Proven::Drained))
}

/// Its server has ended by itself, so that nothing is stopped: a token makes its
/// agent try at once.
pub fn has_ended(facts: &Facts<'_>, member: &MemberFact) -> Option<Proof> {
    let has_permit = member.spec.as_ref().is_some_and(|s| s.start.is_some());
    let state = member.status.server.as_ref().map(|s| s.state);
    let ended = member.agent_speaks() && !has_permit && state == Some(ServerState::Failed);
    ended.then(|| Proof::seen(facts, ProofKind::Idle, member, &Proven::Exited))
}
