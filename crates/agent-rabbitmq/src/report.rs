//! The member's status, put together from what the agent knows. Pure.

pub mod last_words;

use crate::decide::Decision;
use crate::launch::Record;
use crate::read::Reading;
use crate::volume::Found;
use crate::volume::ledger::Ledger;
use crate::words::volume::Wrong;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_core::service::report::{self as service, Told, cut};
use palladion_api::member::AgentStatus;
use palladion_api::service_member::{
    MemberEvidence, MemberHealthRecord, MemberServer, MemberVolume, MemberVolumeState,
    ServiceMemberStatus,
};

/// What a status is made of.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// Who reports, from which pod.
    pub agent: AgentStatus,
    /// Generation of the spec that was decided on.
    pub generation: Option<i64>,
    /// The volume's state, once it is ours or known to be unusable.
    pub volume: Option<(MemberVolumeState, Option<Wrong>)>,
    /// What is on the volume, as found before the node was started.
    pub found: Option<&'a Found>,
    /// What was decided.
    pub decision: &'a Decision,
    /// Since when the node is in that state.
    pub since: Time,
    /// What the last look has shown.
    pub reading: Option<&'a Reading>,
    /// Health of the node, newest first.
    pub health: &'a [MemberHealthRecord],
    /// The launch that runs.
    pub launch: Option<&'a Record>,
    /// Hash of the definitions that the pod mounts.
    pub definitions_hash: Option<&'a str>,
    /// The answer to the last question.
    pub evidence: Option<&'a MemberEvidence>,
    /// The operation that the spec names.
    pub operation: Option<&'a str>,
}

/// Put it together.
pub fn status(parts: &Parts<'_>) -> ServiceMemberStatus {
    let ledger = parts.found.and_then(|found| found.ledger.as_ref());
    ServiceMemberStatus {
        observed_generation: parts.generation,
        agent: Some(parts.agent.clone()),
        volume: volume(parts, ledger),
        server: Some(server(parts, ledger)),
        health: parts.health.to_vec(),
        server_id: None,
        node_name: ledger.and_then(|ledger| ledger.node_name.clone()),
        address: ledger.and_then(|ledger| ledger.address.clone()),
        ensemble: None,
        broker: parts.reading.and_then(Reading::broker),
        definitions_hash: parts.definitions_hash.map(str::to_string),
        permit: ledger.and_then(|ledger| ledger.permit.clone()),
        intent: ledger.and_then(|ledger| ledger.intent.clone()),
        operation: service::operation(parts.operation, ledger),
        evidence: parts.evidence.cloned(),
        start_history: service::starts(ledger),
    }
}

fn volume(parts: &Parts<'_>, ledger: Option<&Ledger>) -> Option<MemberVolume> {
    let ((state, wrong), found) = (parts.volume.as_ref()?, parts.found?);
    Some(MemberVolume {
        volume_id: ledger.map(|ledger| ledger.volume_id.clone()).unwrap_or_default(),
        state: *state,
        file_system: found.file_system.clone(),
        starts: ledger.map(|ledger| ledger.counter),
        cluster: ledger.and_then(|ledger| ledger.cluster.clone()),
        epoch: None,
        last_zxid: None,
        message: wrong.as_ref().map(|wrong| cut(&wrong.to_string())),
    })
}

fn server(parts: &Parts<'_>, ledger: Option<&Ledger>) -> MemberServer {
    let decision = parts.decision;
    let told = Told {
        state: decision.state,
        since: &parts.since,
        reason: decision.reason,
        message: decision.message.as_ref(),
        version: parts.reading.and_then(Reading::version).map(str::to_string),
        config_hash: parts.launch.map(|launch| launch.config_hash.clone()),
    };
    service::server(told, ledger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::testing::*;
    use crate::volume::{Data, Kind};
    use jiff::Timestamp;
    use palladion_agent_core::volume::seconds;

    fn told(world: &World) -> ServiceMemberStatus {
        let decision = world.decision();
        status(&Parts {
            agent: AgentStatus {
                version: "1".into(),
                protocol: 1,
                pod_uid: POD.into(),
                revision: REVISION.into(),
                node: "n".into(),
            },
            generation: Some(3),
            volume: world.asked(crate::decide::volume_state),
            found: Some(&world.found),
            decision: &decision,
            since: seconds(Timestamp::UNIX_EPOCH),
            reading: world.reading.as_ref(),
            health: &[],
            launch: None,
            definitions_hash: Some("d"),
            evidence: None,
            operation: None,
        })
    }

    #[test]
    fn a_member_that_serves_tells_the_cluster_as_it_sees_it() {
        let status = told(&a_member().runs(&["a", "b", "c"], &["a", "b"]).served());
        let broker = status.broker.unwrap();
        assert!(broker.serves() && broker.sees(&node("b")) && !broker.sees(&node("c")));
        assert_eq!(status.node_name, Some(node("a")));
        assert_eq!(status.server.unwrap().version.as_deref(), Some("3.10.8"));
        assert_eq!((status.definitions_hash.as_deref(), status.ensemble), (Some("d"), None));
    }

    #[test]
    fn a_volume_that_is_lost_tells_what_is_missing() {
        let status = told(&a_member().with(|w| w.found.data = Data::Partial(vec![Kind::Quorum])));
        let volume = status.volume.unwrap();
        assert_eq!(volume.state, MemberVolumeState::Lost);
        assert!(volume.message.unwrap().contains("quorum/"));
        assert_eq!(status.server.unwrap().reason.as_deref(), Some("VolumeLost"));
    }
}
