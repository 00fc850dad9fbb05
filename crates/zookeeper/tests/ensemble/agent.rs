//! The agent of one running pod, as the member protocol asks of it: it keeps the ledger,
//! starts the server only by permit or with what the ledger accounts for, answers
//! questions, and carries out changes of the configuration.

use super::model::{Config, Data, Server};
use super::volume::{Part, Volume};
use super::world::{NAMESPACE, World};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::{
    AgentStatus, IntentState, IntentStatus, OperationState, PermitState, PermitStatus, RunState,
};
use palladion_api::service_member::{
    DataBeforeServiceStart, EnsembleServer, EnsembleView, MemberEvidence, MemberOperationStatus,
    MemberServer, MemberServerState, MemberVolume, MemberVolumeState, OperationAnswer, ServerMode,
    ServerRole, ServiceMemberSpec, ServiceMemberStatus, ServicePermit, ServicePermitKind,
};
use palladion_api::zookeeper::{ServerId, Zxid};
use palladion_plan::sim::kubernetes::Mount;
use palladion_plan::sim::{Activity, PodRun};
use palladion_plan::{ObjectKey, Subresource};
use palladion_zookeeper::resources as kinds;
use serde_json::json;

/// From the permit, or the pod's start, to the server's.
const START: SignedDuration = SignedDuration::from_secs(1);
/// From the end of a server to its next start.
const BACK_OFF: SignedDuration = SignedDuration::from_secs(5);

/// Where an agent departs from the protocol, in mutations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faithless {
    /// It does not notice that data is gone which the ledger accounts for, and that the
    /// marker is.
    pub forgets: bool,
    /// A joiner lists itself as one that votes.
    pub joins_as_voter: bool,
    /// It starts a server whatever is on record.
    pub starts_unasked: bool,
}

/// What an agent remembers besides the ledger.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    begun: Option<Timestamp>,
    permit: Option<PermitStatus>,
    last_words: Option<String>,
    evidence: Option<MemberEvidence>,
    intent: Option<IntentStatus>,
    restart_token: Option<Option<String>>,
    expelled: bool,
}

impl World {
    /// One step of the agent of this pod.
    pub(super) fn step_agent(&mut self, pod: &PodRun) -> Activity {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, &pod.key.name);
        let Some(stored) = self.store.get(&key).cloned() else {
            return Activity::default();
        };
        let spec: ServiceMemberSpec = serde_json::from_value(stored["spec"].clone()).unwrap();
        let mut agent = self.agents.remove(pod.uid.as_str()).unwrap_or_default();
        let mut activity = Activity::default();
        self.mount(pod, &spec);
        let state = self.volume_state(pod, &spec);
        let wish = self.wish(&mut agent, pod, &spec, state);
        match wish {
            Wish::Run(cause) => activity = self.run(&mut agent, pod, &spec, cause),
            Wish::Rest => {
                self.ensemble.stop(pod.uid.as_str());
                agent.begun = None;
            }
        }
        self.follow_up(&mut agent, pod, &spec);
        let status = self.report(&agent, pod, &spec, wish);
        if json!(status) != stored["status"] {
            self.store.put_status(&key, json!(status)).unwrap();
            activity.acted = true;
        }
        let ready = !pod.ending && self.serves_as_member(pod.uid.as_str());
        self.kube.set_ready(&mut self.store, &pod.key, ready);
        self.agents.insert(pod.uid.to_string(), agent);
        activity
    }

    fn volume(&mut self, pod: &PodRun) -> &mut Volume {
        &mut self.kube.disks.get_mut(&pod.disk).unwrap().content
    }

    /// A volume without a marker gets one, unless it is the one that is on record: then
    /// the marker is lost, and with it the data.
    fn mount(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        let is_recorded =
            spec.file_system.as_deref() == Some(&pod.disk) && spec.volume_id.is_some();
        let has_one = self.volume(pod).id.is_some();
        if has_one || is_recorded && !self.faithless.forgets {
            return;
        }
        if is_recorded {
            return self.remake(pod, spec);
        }
        self.volumes += 1;
        let id = format!("v{}", self.volumes);
        self.volume(pod).id = Some(id);
    }

    /// As operators do that render the configuration for whatever disk there is: the
    /// server comes back under its old ID, with nothing.
    fn remake(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        let files = self.kube.disks.values().filter_map(|d| d.content.file.clone());
        let newest = files.max_by_key(|file| file.version);
        let volume = self.volume(pod);
        volume.id = spec.volume_id.as_ref().map(ToString::to_string);
        volume.ledger.part = Part::Joined;
        volume.ledger.server_id = spec.server_id.map(ServerId::number);
        volume.file = newest;
    }

    fn volume_state(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) -> MemberVolumeState {
        if self.kube.disks[&pod.disk].mount == Mount::Missing {
            return MemberVolumeState::NotMounted;
        }
        let forgets = self.faithless.forgets;
        let volume = self.volume(pod);
        if volume.id.is_none() {
            return MemberVolumeState::Lost;
        }
        let is_recorded = spec.volume_id.as_ref().map(|v| v.as_str()) == volume.id.as_deref();
        match volume.ledger.part {
            Part::None => MemberVolumeState::Empty,
            Part::Begun => MemberVolumeState::Incomplete,
            Part::Left => MemberVolumeState::Left,
            Part::Joined if volume.data.is_none() && !forgets => MemberVolumeState::Lost,
            Part::Joined if is_recorded && Some(volume.ledger.starts) < spec.starts && !forgets => {
                MemberVolumeState::RolledBack
            }
            Part::Joined => MemberVolumeState::Joined,
        }
    }

    /// Should a server run, and by what?
    fn wish<'a>(
        &mut self,
        agent: &mut Agent,
        pod: &PodRun,
        spec: &'a ServiceMemberSpec,
        state: MemberVolumeState,
    ) -> Wish<'a> {
        if pod.ending {
            return Wish::Rest;
        }
        let own = self.volume(pod).id.clone().unwrap_or_default();
        if self.faithless.starts_unasked && self.volume(pod).ledger.part == Part::Joined {
            return Wish::Run(Cause::Joined);
        }
        let is_lost = spec.replace.as_ref().is_some_and(|l| l.lost.volume_id.as_str() == own);
        let is_twin = spec.volume_id.as_ref().is_some_and(|v| v.as_str() != own);
        let may_not = spec.run == RunState::Terminated
            || is_lost
            || is_twin
            || agent.expelled
            || !spec.revisions.contains(&pod.revision);
        if may_not {
            return Wish::Rest;
        }
        let permit =
            spec.start.as_ref().filter(|p| p.pod_uid == pod.uid && p.volume_id.as_str() == own);
        let failed = agent.permit.as_ref().filter(|a| a.state == PermitState::Failed);
        match (state, permit) {
            (MemberVolumeState::Joined, _) => Wish::Run(Cause::Joined),
            (_, Some(p)) if failed.is_none_or(|f| f.nonce != p.nonce) => {
                Wish::Run(Cause::Permit(p))
            }
            (_, Some(_) | None) => Wish::Rest,
        }
    }

    /// Start the server, if it does not run.
    fn run(
        &mut self,
        agent: &mut Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        cause: Cause<'_>,
    ) -> Activity {
        let uid = pod.uid.as_str();
        let wants_restart = agent.restart_token.as_ref().is_some_and(|t| *t != spec.restart_token);
        if wants_restart && self.ensemble.stop(uid) {
            agent.begun = None;
        }
        if self.ensemble.servers.contains_key(uid) {
            return Activity::default();
        }
        if let Cause::Permit(permit) = cause
            && agent.permit.as_ref().is_none_or(|p| p.nonce != permit.nonce)
        {
            agent.permit = Some(answer(permit, PermitState::Used));
            agent.begun = None;
            agent.last_words = None;
        }
        let pause = if agent.last_words.is_some() { BACK_OFF } else { START };
        let start = *agent.begun.get_or_insert(self.store.now) + pause;
        if self.store.now < start {
            return Activity::default().at(start);
        }
        agent.begun = None;
        agent.restart_token = Some(spec.restart_token.clone());
        match self.launch(pod, spec, cause) {
            Ok(()) => agent.last_words = None,
            Err(words) => {
                agent.last_words = Some(words);
                if let Cause::Permit(permit) = cause {
                    agent.permit = Some(answer(permit, PermitState::Failed));
                }
            }
        }
        Activity::ACTED
    }

    fn launch(
        &mut self,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        cause: Cause<'_>,
    ) -> Result<(), String> {
        if self.unlucky.contains(&pod.key.name) {
            return Err("unlucky".to_string());
        }
        let address = spec.address.as_ref().unwrap().to_string();
        let (voter, joins_as_voter) = (true, self.faithless.joins_as_voter);
        if let Cause::Permit(permit) = cause {
            let id = spec.server_id.unwrap().number();
            let volume = self.volume(pod);
            let is_clean = volume.data.is_none() && volume.ledger.part == Part::None;
            match permit.data {
                DataBeforeServiceStart::MustBeEmpty
                    if !is_clean && volume.ledger.server_id != Some(id) =>
                {
                    return Err("the volume is not empty".to_string());
                }
                DataBeforeServiceStart::Wipe => {
                    assert_ne!(volume.ledger.part, Part::Joined, "data of a full member is wiped");
                    (volume.data, volume.file) = (None, None);
                    volume.ledger.part = Part::None;
                }
                DataBeforeServiceStart::MustBeEmpty
                | DataBeforeServiceStart::Keep
                | DataBeforeServiceStart::Unknown(_) => {}
            }
            let is_new = volume.ledger.part == Part::None;
            volume.ledger.part = Part::Begun;
            volume.ledger.server_id = Some(id);
            let mut file = Config::default();
            match permit.kind {
                ServicePermitKind::Initialize => {
                    file.servers.insert(id, (address.clone(), voter));
                    if is_new {
                        volume.data = Some(Data::default());
                        self.ensemble.begun += 1;
                    }
                }
                ServicePermitKind::Join => {
                    let peers = permit.peers.iter();
                    file.servers = peers
                        .map(|p| (p.server_id.number(), (p.address.to_string(), voter)))
                        .collect();
                    file.servers.entry(id).or_insert((address.clone(), joins_as_voter));
                }
                ServicePermitKind::Rescue | ServicePermitKind::Unknown(_) => unreachable!(),
            }
            let volume = self.volume(pod);
            let keeps_file = permit.kind == ServicePermitKind::Initialize && volume.file.is_some();
            let has_own = volume.file.as_ref().is_some_and(|f| f.servers.contains_key(&id));
            if !keeps_file && !has_own {
                volume.file = Some(file);
            }
        }
        let volume = self.volume(pod);
        volume.ledger.starts += 1;
        let (id, own) = (volume.ledger.server_id.unwrap(), volume.id.clone().unwrap());
        let config = volume.file.clone().unwrap_or_default();
        let used_on = self.ensemble.used_on.entry(id).or_insert_with(|| own.clone());
        if *used_on != own {
            self.broken.push(format!("server ID {id} was used on volumes {used_on} and {own}"));
        }
        let server = Server { id, address, disk: pod.disk.clone(), config, leader: None };
        self.ensemble.start(pod.uid.as_str(), server)
    }

    /// What comes of a server that runs: its ledger, its permit, its end.
    fn follow_up(&mut self, agent: &mut Agent, pod: &PodRun, spec: &ServiceMemberSpec) {
        let uid = pod.uid.as_str();
        if let Some(server) = self.ensemble.servers.get(uid).cloned()
            && server.leader.is_some()
        {
            let votes = server.config.voters().contains(&server.id);
            let volume = self.volume(pod);
            if votes && volume.ledger.part == Part::Begun {
                volume.ledger.part = Part::Joined;
            }
            // A server that is out of the configuration serves nobody.
            if volume.ledger.part == Part::Joined && !votes && !self.faithless.starts_unasked {
                agent.expelled = true;
                self.ensemble.stop(uid);
            }
            if votes && let Some(permit) = &mut agent.permit {
                permit.state = PermitState::Done;
            }
        }
        if let Some(intent) = &spec.intent
            && Some(intent.volume_id.as_str()) == self.volume(pod).id.as_deref()
        {
            self.ensemble.stop(uid);
            self.volume(pod).ledger.part = Part::Left;
            let nonce = intent.nonce.clone();
            agent.intent =
                Some(IntentStatus { nonce, state: IntentState::Done, message: None, since: None });
        }
        self.operate(pod, spec);
        self.answer(agent, pod, spec);
    }

    fn operate(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        let Some(operation) = &spec.operation else { return };
        let is_done = self.volume(pod).ledger.operations.contains_key(&operation.id);
        let own = self.volume(pod).id.clone();
        if is_done
            || own.as_deref() != Some(operation.volume_id.as_str())
            || !self.ensemble.servers.contains_key(pod.uid.as_str())
        {
            return;
        }
        let change = operation.reconfig.as_ref().unwrap();
        let add: Vec<(i64, String)> =
            change.add.iter().map(|p| (p.server_id.number(), p.address.to_string())).collect();
        let remove: Vec<i64> = change.remove.iter().map(|id| id.number()).collect();
        let answer = self.ensemble.reconfig(
            pod.uid.as_str(),
            change.version.number(),
            &add,
            &remove,
            &mut self.kube.disks,
        );
        self.tell(&format!("{}: reconfig +{add:?} -{remove:?}: {answer:?}", pod.key.name));
        self.volume(pod).ledger.operations.insert(operation.id.clone(), answer);
    }

    fn answer(&mut self, agent: &mut Agent, pod: &PodRun, spec: &ServiceMemberSpec) {
        let Some(asked) = &spec.evidence else { return };
        if agent.evidence.as_ref().is_some_and(|e| e.nonce == asked.nonce) {
            return;
        }
        let uid = pod.uid.as_str();
        let opened = self.ensemble.open_session(uid, &mut self.kube.disks);
        let zxid = self.volume(pod).data.as_ref().map(|d| Zxid::new(d.zxid()));
        let view = opened.then(|| self.view(uid)).flatten();
        agent.evidence = Some(MemberEvidence {
            nonce: asked.nonce.clone(),
            read_at: Time(self.store.now),
            volume_id: self.volume(pod).id.clone().unwrap_or_default().into_volume(),
            ensemble: view.map(|view| EnsembleView { zxid, ..view }),
        });
    }

    fn view(&self, uid: &str) -> Option<EnsembleView> {
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

    fn report(
        &mut self,
        agent: &Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        wish: Wish<'_>,
    ) -> ServiceMemberStatus {
        let state = self.volume_state(pod, spec);
        let running = self.ensemble.servers.get(pod.uid.as_str());
        let (server, reason) = match (running, &agent.last_words, wish) {
            (Some(s), _, _) if s.leader.is_some() => (MemberServerState::Running, None),
            (Some(_), _, _) => (MemberServerState::Starting, Some("Starting")),
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
        let ensemble = self.view(pod.uid.as_str());
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, &pod.key.name);
        let stored = self.store.get(&key).map(|m| m["status"].clone()).unwrap_or_default();
        let stored: ServiceMemberStatus = serde_json::from_value(stored).unwrap_or_default();
        let since = stored.server.filter(|s| s.state == server).map(|s| s.since);
        let operation = spec.operation.as_ref().and_then(|o| {
            let answer = *self.volume(pod).ledger.operations.get(&o.id)?;
            let state = match answer {
                OperationAnswer::Made => OperationState::Succeeded,
                _ => OperationState::Failed,
            };
            let (id, answer) = (o.id.clone(), Some(answer));
            Some(MemberOperationStatus { id, state, answer, message: None, finished_at: None })
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

    fn version_of(&self, pod: &PodRun) -> String {
        let image = self.store.get(&pod.key).map(|p| p["spec"]["containers"][0]["image"].clone());
        let image = image.unwrap_or_default();
        image.as_str().unwrap_or_default().rsplit(':').next().unwrap_or_default().to_string()
    }

    /// A person edits the spec of a member.
    pub fn patch_member(&mut self, member: &str, patch: &serde_json::Value) {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
        self.store.merge(&key, patch, Subresource::None).unwrap();
    }
}

fn running_is_off(view: &Option<EnsembleView>) -> bool {
    view.is_none()
}

fn answer(permit: &ServicePermit, state: PermitState) -> PermitStatus {
    PermitStatus { nonce: permit.nonce.clone(), state, message: None }
}

#[derive(Clone, Copy)]
enum Cause<'a> {
    Joined,
    Permit(&'a ServicePermit),
}

#[derive(Clone, Copy)]
enum Wish<'a> {
    Run(Cause<'a>),
    Rest,
}

trait IntoVolume {
    fn into_volume(self) -> palladion_api::ids::VolumeId;
}

impl IntoVolume for String {
    fn into_volume(self) -> palladion_api::ids::VolumeId {
        palladion_api::ids::VolumeId::new(self)
    }
}
