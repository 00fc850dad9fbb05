//! What an agent reports.

use super::agent::{Agent, NO_COOKIE, NO_NAME, Wish};
use super::model::{App, Process, data};
use super::volume::{Kind, Part};
use super::world::{NAMESPACE, World};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_rabbitmq::decide::JoinFact;
use palladion_agent_rabbitmq::read::{Flag, feature_flags};
use palladion_api::ids::VolumeId;
use palladion_api::member::AgentStatus;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{
    BrokerView, FeatureFlags, MemberServer, MemberServerState, MemberVolume, MemberVolumeState,
    NodeQueues, QueueNames, QueuesView, ServiceMemberSpec, ServiceMemberStatus, ServiceStart,
};
use palladion_plan::ObjectKey;
use palladion_plan::sim::PodRun;
use palladion_rabbitmq::resources as kinds;
use std::collections::BTreeSet;

/// A stable feature flag that came with 3.11.
const NEW_FLAG: &str = "listener_records_in_ets";

/// Is the flag known to this node?
pub(super) fn knows_new_flag(process: &Process) -> bool {
    !process.version.starts_with("3.10.")
}

/// Is it the node of this member?
fn is_node_of(process: &Process, member: &str) -> bool {
    process.name.strip_prefix("rabbit@").is_some_and(|host| host.split('.').next() == Some(member))
}

/// A start, of which only the time counts.
fn start(at: Timestamp) -> ServiceStart {
    ServiceStart {
        started_at: Time(at),
        cause: "as the test says".into(),
        served_at: None,
        ended_at: None,
        exit_code: None,
        message: None,
    }
}

impl World {
    fn has_entered_on(&self, process: &Process) -> bool {
        let ledger = self.kube.disks.get(&process.disk).map(|disk| &disk.content.ledger);
        ledger.is_some_and(|ledger| ledger.entered || ledger.part == Part::Joined)
    }

    pub(super) fn view(&self, uid: &str) -> Option<BrokerView> {
        let process = self.rabbit.nodes.get(uid).filter(|p| p.app == App::Running)?;
        // Before it is noted to have joined, nobody looks at it.
        if !self.has_entered_on(process)
            || self.hangs.iter().any(|member| is_node_of(process, member))
        {
            return None;
        }
        let names = |all: BTreeSet<String>| all.into_iter().map(NodeName::new).collect();
        let partitions = self.rabbit.partitions.get(&process.name).cloned().unwrap_or_default();
        Some(BrokerView {
            node: NodeName::new(&process.name),
            running: names(self.rabbit.sees(uid, &self.kube.disks)),
            members: names(data(&self.kube.disks, process).cluster.clone()),
            partitions: names(partitions),
            alarms: self.alarms.clone(),
            flags: Some(self.flags(process)),
        })
    }

    /// What `list_feature_flags` shows on this node, as the real agent reads it. A flag that
    /// some node that runs does not know is `unavailable` on those that do.
    fn flags(&self, own: &Process) -> FeatureFlags {
        let flag = |name: &str, state: &str, stability: &str| Flag {
            name: name.to_string(),
            state: state.to_string(),
            stability: stability.to_string(),
            provided_by: "rabbit".to_string(),
        };
        let mut all = vec![flag("quorum_queue", "enabled", "stable")];
        if self.khepri {
            all.push(flag("khepri_db", "enabled", "experimental"));
        }
        all.extend(self.flags_disabled.iter().map(|name| flag(name, "disabled", "stable")));
        if knows_new_flag(own) {
            let is_known = self.rabbit.running().into_iter().all(knows_new_flag);
            let state = match (self.new_flag_enabled, is_known) {
                (true, _) => "enabled",
                (false, true) => "disabled",
                (false, false) => "unavailable",
            };
            all.push(flag(NEW_FLAG, state, "stable"));
        }
        feature_flags(&all)
    }

    pub(super) fn queues_view(&self, uid: &str) -> Option<QueuesView> {
        let process = self.rabbit.nodes.get(uid).filter(|p| p.app == App::Running)?;
        self.view(uid)?;
        let queues = data(&self.kube.disks, process).queues.clone();
        let sees = self.rabbit.sees(uid, &self.kube.disks);
        let nodes: BTreeSet<String> = queues.values().flat_map(|q| q.replicas.clone()).collect();
        let of = |node: &String, is_it: &dyn Fn(&str, &super::volume::Queue) -> bool| {
            let all = queues.iter().filter(|(n, q)| q.replicas.contains(node) && is_it(n, q));
            QueueNames::of(all.map(|(name, _)| name.clone()))
        };
        let crashed = |name: &str, node: &String| {
            self.rabbit.crashed.contains(&(name.to_string(), node.clone()))
        };
        let without = |name: &str, node: &String, queue: &super::volume::Queue| {
            let is_online = |r: &&String| sees.contains(*r) && !crashed(name, r);
            let elsewhere = queue.replicas.iter().filter(|r| *r != node).filter(is_online);
            queue.kind.is_replicated()
                && queue.replicas.len() > 1
                && elsewhere.count() * 2 <= queue.replicas.len()
        };
        let listed = nodes.iter().map(|node| NodeQueues {
            node: NodeName::new(node),
            replicas: of(node, &|_, q| q.kind == Kind::Quorum),
            streams: of(node, &|_, q| q.kind == Kind::Stream),
            classic: of(node, &|_, q| q.kind == Kind::Classic),
            without_majority: of(node, &|name, q| without(name, node, q)),
            only_here: of(node, &|_, q| q.kind.is_replicated() && q.replicas.len() == 1),
        });
        let own = &process.name;
        // Of two replicas either is needed for ever: that holds no restart up.
        let is_whole_pair = |queue: &super::volume::Queue| {
            queue.replicas.len() == 2 && queue.replicas.iter().all(|node| sees.contains(node))
        };
        let critical = of(own, &|name, q| without(name, own, q) && !is_whole_pair(q));
        let has_led = |name: &String| {
            let leads = self.rabbit.leader(name, &queues[name], &self.kube.disks);
            leads.is_some_and(|p| p.name == *own)
        };
        let behind = queues.iter().filter(|(name, q)| {
            let is_here = q.kind.is_replicated() && q.replicas.contains(own);
            is_here && !process.caught_up.contains(*name) && !has_led(name)
        });
        Some(QueuesView {
            nodes: listed.collect(),
            critical,
            behind: Some(QueueNames::of(behind.map(|(name, _)| name.clone()))),
        })
    }

    pub(super) fn report(
        &mut self,
        agent: &Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        wish: Wish<'_>,
    ) -> ServiceMemberStatus {
        let state = self.volume_state(pod, spec);
        let is_refused = self.definitions_are_refused && !self.volume(pod).ledger.entered;
        let running = self.rabbit.nodes.get(pod.uid.as_str());
        let (server, reason) = match (running.map(|p| p.app), &agent.last_words, wish) {
            (Some(App::Running), _, _) if agent.join == JoinFact::NamedWithoutData => {
                (MemberServerState::Starting, Some("NamedWithoutData"))
            }
            (Some(App::Running), _, _) if is_refused => {
                (MemberServerState::Starting, Some("DefinitionsPending"))
            }
            (Some(App::Running), _, _) => (MemberServerState::Running, None),
            (Some(App::Stopped), _, _) => (MemberServerState::Stopping, None),
            (Some(App::Waiting), _, _) => (MemberServerState::Starting, Some("WaitingForTables")),
            (Some(App::Paused), _, _) => (MemberServerState::Starting, Some("Partitioned")),
            (None, Some(words), _) if words == NO_COOKIE => {
                (MemberServerState::Waiting, Some("CredentialsMissing"))
            }
            (None, Some(words), _) if words == NO_NAME => {
                (MemberServerState::Waiting, Some("NameUnresolved"))
            }
            (None, Some(_), _) => (MemberServerState::Failed, Some("ServerFailed")),
            (None, None, Wish::Run(_)) => (MemberServerState::Starting, Some("Starting")),
            (None, None, Wish::Rest) if state == MemberVolumeState::Left => {
                (MemberServerState::Left, None)
            }
            (None, None, Wish::Rest) if !spec.revisions.contains(&pod.revision) => {
                (MemberServerState::Waiting, Some("WaitingForRevision"))
            }
            (None, None, Wish::Rest) => (MemberServerState::Waiting, Some("WaitingForPermit")),
        };
        let reason = self.says.get(&pod.key.name).copied().or(reason);
        let version = running.map(|p| p.version.clone());
        let earlier = self.looked.get(&pod.key.name).cloned();
        let broker = earlier.or_else(|| self.view(pod.uid.as_str()));
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, &pod.key.name);
        let stored = self.store.get(&key).map(|m| m["status"].clone()).unwrap_or_default();
        let stored: ServiceMemberStatus = serde_json::from_value(stored).unwrap_or_default();
        let since = stored.server.filter(|s| s.state == server).map(|s| s.since);
        let now = self.store.now;
        let volume = self.volume(pod).clone();
        let is_member = volume.ledger.part != Part::None;
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
                    Some(id) => VolumeId::new(id),
                    // What is in its place has no ID.
                    None if state == MemberVolumeState::NotMounted => VolumeId::default(),
                    None => spec.volume_id.clone().unwrap_or_default(),
                },
                state,
                file_system: pod.disk.clone(),
                starts: Some(volume.ledger.starts),
                cluster: None,
                epoch: None,
                last_zxid: None,
                message: Some("as the test says".into())
                    .filter(|_| state == MemberVolumeState::Lost),
            }),
            server: Some(MemberServer {
                state: server,
                since: since.unwrap_or(Time(now)),
                reason: reason.map(str::to_string),
                message: agent.last_words.clone(),
                version,
                config_hash: None,
                restart_token: agent.restart_token.clone().flatten(),
            }),
            node_name: volume.ledger.node_name.filter(|_| is_member).map(NodeName::new),
            address: spec.address.clone(),
            broker,
            definitions_hash: self.definitions.clone(),
            permit: volume.ledger.permit,
            intent: volume.ledger.intent,
            operation: volume.ledger.operation,
            evidence: agent.evidence.clone(),
            start_history: volume.ledger.started.map(start).into_iter().collect(),
            ..ServiceMemberStatus::default()
        }
    }

    pub(super) fn version_of(&self, pod: &PodRun) -> String {
        let image = self.store.get(&pod.key).map(|p| p["spec"]["containers"][0]["image"].clone());
        let image = image.unwrap_or_default();
        image.as_str().unwrap_or_default().rsplit(':').next().unwrap_or_default().to_string()
    }
}
