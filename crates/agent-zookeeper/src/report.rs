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
    /// What is on the volume, as found before the server was started.
    pub found: Option<&'a Found>,
    /// What was decided.
    pub decision: &'a Decision,
    /// Since when the server is in that state.
    pub since: Time,
    /// What the last look has shown.
    pub reading: Option<&'a Reading>,
    /// Health of the server, newest first.
    pub health: &'a [MemberHealthRecord],
    /// The launch that runs.
    pub launch: Option<&'a Record>,
    /// The answer to the last question.
    pub evidence: Option<&'a MemberEvidence>,
    /// The operation that the spec names.
    pub operation: Option<&'a str>,
}

/// Put it together.
pub fn status(parts: &Parts<'_>) -> ServiceMemberStatus {
    let ledger = parts.found.and_then(|found| found.ledger.as_ref());
    let id = ledger.and_then(|ledger| ledger.server_id);
    ServiceMemberStatus {
        observed_generation: parts.generation,
        agent: Some(parts.agent.clone()),
        volume: volume(parts, ledger),
        server: Some(server(parts, ledger)),
        health: parts.health.to_vec(),
        server_id: id,
        node_name: None,
        address: ledger.and_then(|ledger| ledger.address.clone()),
        // Without the last transaction, which changes with every write.
        ensemble: parts.reading.zip(id).and_then(|(reading, id)| reading.ensemble(id, None)),
        broker: None,
        definitions_hash: None,
        permit: ledger.and_then(|ledger| ledger.permit.clone()),
        intent: ledger.and_then(|ledger| ledger.intent.clone()),
        operation: service::operation(parts.operation, ledger),
        evidence: parts.evidence.cloned(),
        start_history: service::starts(ledger),
    }
}

fn volume(parts: &Parts<'_>, ledger: Option<&Ledger>) -> Option<MemberVolume> {
    let ((state, wrong), found) = (parts.volume.as_ref()?, parts.found?);
    let runs = parts.decision.state.may_run();
    // It changes with every write, and without a quorum nothing is written.
    let is_in_touch = runs && parts.reading.is_some_and(Reading::has_quorum);
    Some(MemberVolume {
        volume_id: ledger.map(|ledger| ledger.volume_id.clone()).unwrap_or_default(),
        state: *state,
        file_system: found.file_system.clone(),
        starts: ledger.map(|ledger| ledger.counter),
        cluster: ledger.and_then(|ledger| ledger.cluster.clone()),
        epoch: found.epoch,
        last_zxid: found.last_zxid.filter(|_| !is_in_touch),
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
        version: parts.reading.and_then(Reading::serving).and_then(|s| s.version.clone()),
        config_hash: parts.launch.map(|launch| launch.config_hash.clone()),
    };
    service::server(told, ledger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::testing::*;
    use jiff::Timestamp;
    use palladion_agent_core::volume::seconds;
    use palladion_api::service_member::ServerMode;
    use palladion_api::zookeeper::Zxid;

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
            evidence: None,
            operation: None,
        })
    }

    #[test]
    fn a_member_that_serves_tells_the_ensemble_without_its_last_transaction() {
        let follower = a_member()
            .runs(ServerMode::Follower, config(7 << 32, &[1, 2, 3], &[]))
            .served()
            .with(|w| w.found.last_zxid = Some(Zxid::new(9)));
        let status = told(&follower);
        let ensemble = status.ensemble.unwrap();
        assert!(ensemble.votes());
        assert_eq!((ensemble.zxid, ensemble.config_version), (None, Zxid::new(7 << 32)));
        let volume = status.volume.unwrap();
        assert_eq!((volume.starts, volume.last_zxid), (Some(4), None));
        assert_eq!(status.server.unwrap().version.as_deref(), Some("3.9.3"));
    }

    #[test]
    fn a_volume_that_is_lost_tells_what_is_missing_and_how_far_it_had_come() {
        let lost = a_member().with(|w| {
            w.found.data =
                crate::volume::Data::Partial(vec![crate::words::volume::Part::Snapshots]);
            w.found.last_zxid = Some(Zxid::new(9));
        });
        let status = told(&lost);
        let volume = status.volume.unwrap();
        assert_eq!((volume.state, volume.epoch), (MemberVolumeState::Lost, Some(7)));
        assert_eq!(volume.last_zxid, Some(Zxid::new(9)));
        assert!(volume.message.unwrap().contains("snapshots"));
        assert_eq!(status.server.unwrap().reason.as_deref(), Some("VolumeLost"));
    }
}
