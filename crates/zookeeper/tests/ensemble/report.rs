//! What an agent reports.

use super::agent::{Agent, IntoVolume, Wish};
use super::world::{NAMESPACE, World};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::VolumeId;
use palladion_api::member::{AgentStatus, OperationState};
use palladion_api::service_member::{
    EnsembleServer, EnsembleView, MemberOperationStatus, MemberServer, MemberServerState,
    MemberVolume, MemberVolumeState, OperationAnswer, ServerMode, ServerRole, ServiceMemberSpec,
    ServiceMemberStatus,
};
use palladion_api::zookeeper::{ServerId, Zxid};
use palladion_plan::ObjectKey;
use palladion_plan::sim::PodRun;
use palladion_zookeeper::resources as kinds;

impl World {
    pub(super) fn view(&self, uid: &str) -> Option<EnsembleView> {
        let server = self.ensemble.servers.get(uid)?;
        let stopped = self.ensemble.stopped.contains(uid);
        let mode = server.leader.as_ref().filter(|_| !stopped).map(|leader| match leader == uid {
            true => ServerMode::Leader,
            false => ServerMode::Follower,
        });
        let servers = server.config.servers.iter().map(|(id, (address, votes))| EnsembleServer {
            server_id: ServerId::new(*id),
            address: palladion_api::ids::StaticAddress::new(address),
            role: if *votes { ServerRole::Participant } else { ServerRole::Observer },
        });
        Some(EnsembleView {
            server_id: ServerId::new(server.id),
            mode,
            zxid: None,
            config_version: Zxid::new(server.config.version),
            servers: servers.collect(),
        })
    }

    pub fn serves_as_member(&self, uid: &str) -> bool {
        self.view(uid).is_some_and(|view| view.votes())
    }

    pub(super) fn report(
        &mut self,
        agent: &Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        wish: Wish<'_>,
    ) -> ServiceMemberStatus {
        let state = self.volume_state(pod, spec);
        let is_marked = self.is_marked(pod, spec);
        let running = self.ensemble.servers.get(pod.uid.as_str());
        let (server, reason) = match (running, &agent.last_words, wish) {
            (Some(s), _, _) if s.leader.is_some() => (MemberServerState::Running, None),
            (Some(_), _, _) => (MemberServerState::Starting, Some("Starting")),
            (None, Some(_), _) => (MemberServerState::Failed, Some("ServerFailed")),
            (None, None, Wish::Run(_)) => (MemberServerState::Starting, Some("Starting")),
            (None, None, Wish::Rest) if is_marked => {
                (MemberServerState::Stopped, Some("VolumeLost"))
            }
            (None, None, Wish::Rest) if state == MemberVolumeState::Left => {
                (MemberServerState::Left, None)
            }
            (None, None, Wish::Rest) if !spec.revisions.contains(&pod.revision) => {
                (MemberServerState::Waiting, Some("WaitingForRevision"))
            }
            (None, None, Wish::Rest) => (MemberServerState::Waiting, Some("WaitingForPermit")),
        };
        let earlier = self.looked.get(&pod.key.name).cloned();
        let ensemble = earlier.or_else(|| self.view(pod.uid.as_str()));
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, &pod.key.name);
        let stored = self.store.get(&key).map(|m| m["status"].clone()).unwrap_or_default();
        let stored: ServiceMemberStatus = serde_json::from_value(stored).unwrap_or_default();
        let since = stored.server.filter(|s| s.state == server).map(|s| s.since);
        let operation = spec.operation.as_ref().and_then(|o| {
            let answer = *self.volume(pod).ledger.operations.get(&o.id)?;
            let state = match answer {
                OperationAnswer::Made => OperationState::Succeeded,
                OperationAnswer::BadVersion
                | OperationAnswer::NewConfigNoQuorum
                | OperationAnswer::ReconfigInProgress
                | OperationAnswer::NoAnswer
                | OperationAnswer::Other
                | OperationAnswer::Unknown => OperationState::Failed,
            };
            let (id, answer) = (o.id.clone(), Some(answer));
            Some(MemberOperationStatus {
                id,
                state,
                answer,
                queues: None,
                message: None,
                finished_at: None,
            })
        });
        let version = self.version_of(pod);
        let now = self.store.now;
        let volume = self.volume(pod).clone();
        let is_off = running_is_off(&ensemble);
        ServiceMemberStatus {
            agent: Some(AgentStatus {
                version: "test".into(),
                protocol: 1,
                pod_uid: pod.uid.clone(),
                revision: pod.revision.clone(),
                node: pod.node.clone(),
            }),
            volume: Some(MemberVolume {
                volume_id: match volume.id {
                    Some(id) => id.into_volume(),
                    // What is in its place has no ID.
                    None if state == MemberVolumeState::NotMounted => VolumeId::default(),
                    None => spec.volume_id.clone().unwrap_or_default(),
                },
                state,
                file_system: pod.disk.clone(),
                starts: Some(volume.ledger.starts),
                cluster: None,
                epoch: volume.data.as_ref().and_then(|d| i64::try_from(d.epoch).ok()),
                last_zxid: volume.data.as_ref().filter(|_| is_off).map(|d| Zxid::new(d.zxid())),
                message: Some("as the test says".into())
                    .filter(|_| state == MemberVolumeState::Lost),
            }),
            server: Some(MemberServer {
                state: server,
                since: since.unwrap_or(Time(now)),
                reason: reason.map(str::to_string),
                message: agent.last_words.clone(),
                version: ensemble.as_ref().map(|_| version),
                config_hash: None,
                restart_token: agent.restart_token.clone().flatten(),
            }),
            server_id: volume.ledger.server_id.map(ServerId::new),
            address: spec.address.clone(),
            ensemble,
            permit: agent.permit.clone(),
            intent: agent.intent.clone(),
            operation,
            evidence: agent.evidence.clone(),
            ..ServiceMemberStatus::default()
        }
    }

    /// Is the volume that is mounted on record as lost?
    fn is_marked(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) -> bool {
        let own = self.volume(pod).id.clone();
        let lost = spec.replace.as_ref().map(|l| l.lost.volume_id.to_string());
        own.is_some() && own == lost
    }

    fn version_of(&self, pod: &PodRun) -> String {
        let image = self.store.get(&pod.key).map(|p| p["spec"]["containers"][0]["image"].clone());
        let image = image.unwrap_or_default();
        image.as_str().unwrap_or_default().rsplit(':').next().unwrap_or_default().to_string()
    }
}

/// Is its server in touch with nobody?
fn running_is_off(view: &Option<EnsembleView>) -> bool {
    view.as_ref().is_none_or(|v| v.mode.is_none())
}
