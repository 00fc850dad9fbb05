//! The agent of one running pod, as the member protocol asks of it: it keeps the ledger,
//! starts the node only by permit or with what the ledger accounts for, answers questions,
//! and carries out orders and intents. What a volume is and whether a permit fits it, the
//! real agent's rules say; the rest is a model.

use super::agents_rule;
use super::model::{App, Process, Unjoined, data};
use super::volume::{Part, Volume};
use super::work::Work;
use super::world::{NAMESPACE, World};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_rabbitmq::decide::intent::Wanted;
use palladion_agent_rabbitmq::decide::{
    Action, Doors, Entry, JoinFact, LeftOver, Process as Alive, Work as Piece, entering,
};
use palladion_agent_rabbitmq::launch::environment;
use palladion_agent_rabbitmq::volume::Found;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::member::{IntentState, IntentStatus, PermitState, PermitStatus, RunState};
use palladion_api::rabbitmq::{COOKIE_KEY, NodeName};
use palladion_api::service_member::{
    MemberEvidence, MemberVolumeState, ServiceMemberSpec, ServicePermit,
};
use palladion_plan::sim::kubernetes::Mount;
use palladion_plan::sim::{Activity, PodRun};
use palladion_plan::{ObjectKey, Subresource};
use palladion_rabbitmq::resources as kinds;
use serde_json::json;
use std::ffi::OsString;

/// From the permit, or the pod's start, to the node's.
const START: SignedDuration = SignedDuration::from_secs(1);
/// From the end of a node to its next start.
const BACK_OFF: SignedDuration = SignedDuration::from_secs(5);
/// From a piece of work that failed to the next.
const WORK_AGAIN: SignedDuration = SignedDuration::from_secs(10);
/// What an agent says that waits for its Secret, and one that waits for the cluster's DNS.
pub const NO_COOKIE: &str = "the Secret with the credentials is missing";
pub const NO_NAME: &str = "the name of the node cannot be resolved";
/// What one says in whose pod a variable names another node.
const OTHER_NAME: &str = "a variable of the container names another node";
/// Why an agent refuses a permit for a while.
const NOT_NOW: &str = "the volume is out of order";

/// Where an agent departs from the protocol, in mutations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faithless {
    /// It does not notice that data is gone which the ledger accounts for, and that the
    /// marker is.
    pub forgets: bool,
    /// It starts a node whatever is on record.
    pub starts_unasked: bool,
}

/// What an agent remembers besides the ledger.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    pub(super) begun: Option<Timestamp>,
    /// Of the last permit that it went by.
    pub(super) nonce: Option<Nonce>,
    pub(super) last_words: Option<String>,
    pub(super) evidence: Option<MemberEvidence>,
    pub(super) restart_token: Option<Option<String>>,
    pub(super) expelled: bool,
    pub(super) work: Option<Work>,
    /// A piece of work that failed is tried again then.
    pub(super) again: Option<Timestamp>,
    /// What the last try to join has shown.
    pub(super) join: JoinFact,
    /// What was on the volume when the agent looked at it last: no node ran then.
    pub(super) found: Option<Found>,
}

#[derive(Clone, Copy)]
pub(super) enum Cause<'a> {
    Joined,
    Permit(&'a ServicePermit),
}

#[derive(Clone, Copy)]
pub(super) enum Wish<'a> {
    Run(Cause<'a>),
    Rest,
}

impl World {
    /// One step of the agent of this pod.
    pub(super) fn step_agent(&mut self, pod: &PodRun) -> Activity {
        if self.absent.contains(&pod.key.name) {
            return Activity::default();
        }
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
                self.rabbit.stop(pod.uid.as_str(), &mut self.kube.disks);
                agent.begun = None;
            }
        }
        activity = activity.and(self.follow_up(&mut agent, pod, &spec));
        let status = self.report(&agent, pod, &spec, wish);
        if json!(status) != stored["status"] {
            self.store.put_status(&key, json!(status)).unwrap();
            activity.acted = true;
        }
        let hangs = self.hangs.contains(&pod.key.name);
        let is_unready = hangs || self.unready.contains(&pod.key.name);
        let ready = !pod.ending && !is_unready && self.serves(pod.uid.as_str());
        self.kube.set_ready(&mut self.store, &pod.key, ready);
        self.agents.insert(pod.uid.to_string(), agent);
        activity
    }

    pub(super) fn volume(&mut self, pod: &PodRun) -> &mut Volume {
        &mut self.kube.disks.get_mut(&pod.disk).unwrap().content
    }

    /// Is it a member that takes clients?
    pub fn serves(&self, uid: &str) -> bool {
        self.rabbit.nodes.get(uid).is_some_and(|p| p.app == App::Running && p.open)
    }

    /// A volume without a marker gets one, where it is not the one on record.
    fn mount(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        if self.volume(pod).id.is_some() {
            return;
        }
        let is_recorded =
            spec.file_system.as_deref() == Some(&pod.disk) && spec.volume_id.is_some();
        if is_recorded && self.faithless.forgets {
            // As operators do that have a fixed name and an empty disk.
            let volume = self.volume(pod);
            volume.id = spec.volume_id.as_ref().map(ToString::to_string);
            volume.ledger.part = Part::Joined;
            volume.ledger.node_name = spec.node_name.as_ref().map(ToString::to_string);
            volume.ledger.starts = spec.starts.unwrap_or_default();
        } else if agents_rule::is_new(self.volume(pod), pod, spec) {
            self.volumes += 1;
            let id = format!("v{}", self.volumes);
            self.volume(pod).id = Some(id);
        }
    }

    pub(super) fn volume_state(
        &mut self,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
    ) -> MemberVolumeState {
        if self.kube.disks[&pod.disk].mount == Mount::Missing {
            return MemberVolumeState::NotMounted;
        }
        let forgets = self.faithless.forgets;
        match self.volume(pod).ledger.part {
            Part::Joined if forgets => MemberVolumeState::Joined,
            Part::None | Part::Begun | Part::Joined | Part::Left => {
                agents_rule::state(self.volume(pod), pod, spec)
            }
        }
    }

    /// Should a node run, and by what?
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
        let is_recorded = spec.volume_id.as_ref().is_some_and(|v| v.as_str() == own);
        // After a restart of the pod an application that was stopped is not started.
        let runs = self.rabbit.nodes.contains_key(pod.uid.as_str());
        let is_stopped =
            !runs && agents_rule::wanted(self.volume(pod), pod, spec) == Some(Wanted::Stopped);
        // Of a node that runs nobody asks any more in which revision it may start.
        let is_held = !runs && !spec.revisions.contains(&pod.revision);
        let may_not = spec.run == RunState::Terminated
            || is_lost
            || is_twin
            || is_stopped
            || agent.expelled
            || is_held;
        if may_not {
            return Wish::Rest;
        }
        if state == MemberVolumeState::Joined && is_recorded {
            return Wish::Run(Cause::Joined);
        }
        match &spec.start {
            Some(permit) if self.is_open(pod, spec, permit) => Wish::Run(Cause::Permit(permit)),
            Some(_) | None => Wish::Rest,
        }
    }

    /// Does the agent go by this permit? One that does not fit is refused, and said to be.
    fn is_open(&mut self, pod: &PodRun, spec: &ServiceMemberSpec, permit: &ServicePermit) -> bool {
        let noted = self.volume(pod).ledger.permit.clone();
        if noted.is_some_and(|n| n.nonce == permit.nonce && n.state != PermitState::Used) {
            return false;
        }
        if self.rabbit.nodes.contains_key(pod.uid.as_str()) {
            return true;
        }
        if self.refusing.contains(&pod.key.name) {
            let message = Some(NOT_NOW.to_string());
            let refused = PermitStatus { message, ..answer(permit, PermitState::Refused) };
            self.volume(pod).ledger.permit = Some(refused);
            return false;
        }
        let Err(why) = agents_rule::start(self.volume(pod), pod, spec, permit) else {
            return true;
        };
        if self.volume(pod).id.is_some() {
            self.tell(&format!("{} refuses its permit: {why}", pod.key.name));
            self.refused.push(format!("{}: {why}", pod.key.name));
            let message = Some(why.to_string());
            let refused = PermitStatus { message, ..answer(permit, PermitState::Refused) };
            self.volume(pod).ledger.permit = Some(refused);
        }
        false
    }

    /// Start the node, if it does not run.
    fn run(
        &mut self,
        agent: &mut Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
        cause: Cause<'_>,
    ) -> Activity {
        let uid = pod.uid.as_str();
        let wants_restart = agent.restart_token.as_ref().is_some_and(|t| *t != spec.restart_token);
        if wants_restart && self.rabbit.stop(uid, &mut self.kube.disks) {
            agent.begun = None;
        }
        if self.rabbit.nodes.contains_key(uid) {
            return Activity::default();
        }
        if let Cause::Permit(permit) = cause
            && agent.nonce.as_ref() != Some(&permit.nonce)
        {
            agent.nonce = Some(permit.nonce.clone());
            agent.begun = None;
            agent.last_words = None;
        }
        // Its permit stays as it is, until that is there.
        if let Some(lacks) = self.lacks(pod, spec) {
            let is_news = agent.last_words.as_deref() != Some(lacks);
            agent.last_words = Some(lacks.to_string());
            return if is_news { Activity::ACTED } else { Activity::default() };
        }
        let pause = if agent.last_words.is_some() { BACK_OFF } else { START };
        let start = *agent.begun.get_or_insert(self.store.now) + pause;
        if self.store.now < start {
            return Activity::default().at(start);
        }
        agent.begun = None;
        agent.found = Some(agents_rule::found(self.volume(pod), pod));
        agent.restart_token = Some(spec.restart_token.clone());
        match self.launch(pod, spec, cause) {
            Ok(()) => agent.last_words = None,
            Err(words) => {
                self.tell(&format!("{}: {words}", pod.key.name));
                agent.last_words = Some(words);
                if let Cause::Permit(permit) = cause {
                    self.volume(pod).ledger.permit = Some(answer(permit, PermitState::Failed));
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
        let cookie = self.mounted_cookie(pod);
        if self.volume(pod).ledger.cookie.is_none() {
            let cookie = cookie.ok_or(NO_COOKIE)?;
            self.volume(pod).ledger.cookie = Some(cookie);
        }
        let name = spec.node_name.as_ref().unwrap().to_string();
        if let Cause::Permit(permit) = cause {
            let start = agents_rule::start(self.volume(pod), pod, spec, permit).unwrap();
            let ledger = &mut self.volume(pod).ledger;
            (ledger.part, ledger.entered) = (Part::Begun, false);
            ledger.asked = start.entry.is_kept();
            ledger.begun_by = Some((permit.kind, permit.nonce.clone()));
            ledger.node_name = Some(name.clone());
            ledger.used.push(permit.nonce.clone());
            ledger.permit = Some(answer(permit, PermitState::Used));
            if start.entry == Entry::First {
                // Set up with what is mounted at this moment, if anything is.
                self.imported.extend(self.definitions.clone());
            }
            match start.entry {
                Entry::First | Entry::Joiner { left_over: LeftOver::Removed, .. } => {
                    self.volume(pod).data = None;
                }
                Entry::Plain | Entry::Joiner { left_over: LeftOver::Kept, .. } => {}
            }
        }
        let (version, now) = (self.version_of(pod), self.store.now);
        let volume = self.volume(pod);
        volume.ledger.starts += 1;
        volume.ledger.started = Some(now);
        volume.ledger.app_stopped = false;
        // By itself it starts as a member; by permit, closed.
        let is_member = matches!(cause, Cause::Joined);
        let process = Process {
            name,
            disk: pod.disk.clone(),
            app: App::Waiting,
            open: is_member,
            caught_up: Default::default(),
            version,
        };
        let uid = pod.uid.as_str();
        self.rabbit.start(uid, process, &mut self.kube.disks)
    }

    /// The variables that are set in the container of a pod.
    fn environment(&self, pod: &PodRun) -> Vec<(OsString, OsString)> {
        let stored = self.store.get(&pod.key).map(|p| p["spec"]["containers"][0]["env"].clone());
        let of = |variable: &serde_json::Value| {
            let value = variable["value"].as_str()?.replace("$(POD_NAME)", &pod.key.name);
            let value = value.replace("$(POD_NAMESPACE)", NAMESPACE);
            Some((variable["name"].as_str()?.into(), value.into()))
        };
        let all = stored.as_ref().and_then(serde_json::Value::as_array);
        all.into_iter().flatten().filter_map(of).collect()
    }

    /// What a start lacks: a cookie, a name that leads here, or an environment with that name.
    fn lacks(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) -> Option<&'static str> {
        let is_unresolved = |node: &NodeName| !node.to_string().ends_with(".cluster.local");
        if self.volume(pod).ledger.cookie.is_none() && self.mounted_cookie(pod).is_none() {
            return Some(NO_COOKIE);
        }
        let node = spec.node_name.as_ref()?;
        if is_unresolved(node) {
            return Some(NO_NAME);
        }
        environment::check(self.environment(pod).into_iter(), node).err().map(|_| OTHER_NAME)
    }

    /// The cookie that the kubelet mounts in a pod, from the Secret that its template names.
    fn mounted_cookie(&self, pod: &PodRun) -> Option<String> {
        let stored = self.store.get(&pod.key)?;
        let volumes = stored["spec"]["volumes"].as_array().into_iter().flatten();
        let sources = volumes.filter_map(|v| v["projected"]["sources"].as_array()).flatten();
        let has_cookie =
            |source: &&serde_json::Value| source["secret"].to_string().contains(COOKIE_KEY);
        let mut secrets = sources.filter(has_cookie).map(|s| &s["secret"]["name"]);
        self.cookie_in(secrets.next()?.as_str()?)
    }

    /// The cookie in a Secret.
    pub fn cookie_in(&self, secret: &str) -> Option<String> {
        let key = ObjectKey::new(kinds::SECRET, NAMESPACE, secret);
        let secret = self.store.get(&key).filter(|_| !self.secret_is_gone)?;
        secret["stringData"]["erlang-cookie"].as_str().map(str::to_string)
    }

    /// What comes of a node that runs: its ledger, its permit, its intents.
    fn follow_up(&mut self, agent: &mut Agent, pod: &PodRun, spec: &ServiceMemberSpec) -> Activity {
        let entering = self.go_on_with_permit(agent, pod, spec);
        self.intend(pod, spec);
        let activity = self.operate(agent, pod, spec);
        self.answer(agent, pod, spec);
        entering.and(activity)
    }

    /// The next thing that is done about a node that runs and is no member yet, by the rules of
    /// the real agent.
    fn go_on_with_permit(
        &mut self,
        agent: &mut Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
    ) -> Activity {
        let uid = pod.uid.as_str();
        let volume = self.volume(pod).clone();
        let process = self.rabbit.nodes.get(uid).filter(|_| volume.ledger.part == Part::Begun);
        let Some(process) = process.cloned() else { return Activity::default() };
        let found = agent.found.get_or_insert_with(|| agents_rule::found(&volume, pod)).clone();
        let doors = if process.open { Doors::Open } else { Doors::Closed };
        let is_looked_at = (volume.ledger.entered || process.open) && process.app == App::Running;
        let reading = is_looked_at.then(|| {
            let cluster = &data(&self.kube.disks, &process).cluster;
            let running = self.rabbit.sees(uid, &self.kube.disks);
            let cut = self.rabbit.partitions.get(&process.name).cloned().unwrap_or_default();
            agents_rule::reading(&process.name, doors, cluster, &running, &cut)
        });
        let seen = agents_rule::Seen { now: self.store.now, doors, reading, found };
        let Some(action) = agents_rule::of_joiner(&volume, pod, spec, &seen) else {
            let again = volume.ledger.started.map(|started| started + entering::PATIENCE);
            return match again.filter(|again| *again > self.store.now) {
                Some(again) if volume.ledger.entered => Activity::default().at(again),
                Some(_) | None => Activity::default(),
            };
        };
        let joins = matches!(action, Action::Work(Piece::Meet { .. } | Piece::Join { .. }));
        if joins && self.stuck.contains(&pod.key.name) {
            return Activity::default();
        }
        if self.definitions_are_refused && action == Action::Work(Piece::SetUp) {
            return Activity::default();
        }
        if let Some(again) = agent.again.filter(|again| joins && *again > self.store.now) {
            return Activity::default().at(again);
        }
        self.enter(agent, pod, action);
        Activity::ACTED
    }

    fn enter(&mut self, agent: &mut Agent, pod: &PodRun, what: Action) {
        let uid = pod.uid.as_str();
        match what {
            Action::RecordEntered => self.has_entered(agent, pod),
            Action::RecordMember => {
                let ledger = &mut self.volume(pod).ledger;
                ledger.part = Part::Joined;
                let used = ledger.permit.as_mut().filter(|p| p.state == PermitState::Used);
                used.into_iter().for_each(|permit| permit.state = PermitState::Done);
            }
            Action::Stop(why) => {
                self.tell(&format!("{} is stopped: {why:?}", pod.key.name));
                self.rabbit.stop(uid, &mut self.kube.disks);
                agent.begun = None;
            }
            Action::Work(Piece::SetUp) => {
                self.rabbit.begun += 1;
                self.has_entered(agent, pod);
            }
            Action::Work(Piece::Meet { nodes }) => self.meet(agent, pod, &nodes),
            Action::Work(Piece::Join { nodes }) => self.join(agent, pod, &nodes),
            Action::Work(Piece::Open) => {
                let process = self.rabbit.nodes.get_mut(uid);
                process.into_iter().for_each(|process| process.open = true);
            }
            other => self.broken.push(format!("{other:?} makes no member")),
        }
    }

    fn has_entered(&mut self, agent: &mut Agent, pod: &PodRun) {
        let volume = self.volume(pod);
        volume.ledger.entered = true;
        // Its application was started before that.
        volume.data.iter_mut().for_each(|data| data.has_run = true);
        agent.found = Some(agents_rule::found(self.volume(pod), pod));
    }

    /// It asks to be taken in when one of them answers.
    fn meet(&mut self, agent: &mut Agent, pod: &PodRun, nodes: &[NodeName]) {
        match nodes.iter().any(|node| self.rabbit.by_name(node.as_str()).is_some()) {
            true => self.volume(pod).ledger.asked = true,
            false => agent.again = Some(self.store.now + WORK_AGAIN),
        }
    }

    /// The others name it after one step, its own file names them after another one, and its
    /// agent notes it in a third. Where they name it already they refuse it; its node runs on by
    /// itself.
    fn join(&mut self, agent: &mut Agent, pod: &PodRun, nodes: &[NodeName]) {
        let uid = pod.uid.as_str();
        if self.rabbit.nodes.get(uid).is_none_or(|p| p.app != App::Running) {
            return;
        }
        match self.volume(pod).data.as_ref().map(|d| (d.cluster.len() > 1, d.is_noted)) {
            Some((true, true)) => return self.has_entered(agent, pod),
            Some((true, false)) => return self.rabbit.note_join(uid, &mut self.kube.disks),
            Some((false, _)) | None => {}
        }
        let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        agent.join = JoinFact::Open;
        if let Err(why) = self.rabbit.join(uid, &nodes, &mut self.kube.disks) {
            self.tell(&format!("{}: {why}", pod.key.name));
            agent.again = Some(self.store.now + WORK_AGAIN);
            agent.join = match why {
                Unjoined::Named { .. } => JoinFact::NamedWithoutData,
                Unjoined::NobodyRuns => JoinFact::Open,
            };
            return;
        }
        self.tell(&format!("{} joins", pod.key.name));
    }

    /// What an intent asks for takes two rounds: it is noted, and then done by a process that
    /// lives.
    fn intend(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        if self.full.contains(&pod.key.name) {
            return;
        }
        let uid = pod.uid.as_str();
        let is_stopped = !self.rabbit.nodes.contains_key(uid);
        let process = if is_stopped { Alive::Absent } else { Alive::Running };
        let volume = self.volume(pod).clone();
        if let Some(action) = agents_rule::intent(&volume, pod, spec, process) {
            return self.note_intent(pod, action);
        }
        let wanted = agents_rule::wanted(&volume, pod, spec);
        let is_open = volume.ledger.intent.filter(|i| i.state == IntentState::Running);
        let is_unstoppable = self.unstoppable.contains(&pod.key.name);
        let Some(process) = self.rabbit.nodes.get_mut(uid) else { return };
        match (wanted, is_open) {
            (Some(Wanted::Stopped), Some(_)) if is_unstoppable => {}
            (Some(Wanted::Stopped), Some(open)) => {
                (process.app, process.open) = (App::Stopped, false);
                self.volume(pod).ledger.intent =
                    Some(IntentStatus { state: IntentState::Done, ..open });
            }
            (Some(Wanted::Running), _) => {
                if process.app == App::Stopped {
                    (process.app, process.open) = (App::Waiting, true);
                }
                self.volume(pod).ledger.app_stopped = false;
            }
            (Some(Wanted::Stopped | Wanted::Leaving | Wanted::Unknown) | None, _) => {}
        }
    }

    fn note_intent(&mut self, pod: &PodRun, action: Action) {
        let status = |nonce, state, message: Option<String>| {
            Some(IntentStatus { nonce, state, message, since: None })
        };
        match action {
            Action::BeginStopApp { nonce } => {
                let ledger = &mut self.volume(pod).ledger;
                ledger.app_stopped = true;
                ledger.intent = status(nonce, IntentState::Running, None);
            }
            Action::BeginLeave { nonce } => {
                self.rabbit.stop(pod.uid.as_str(), &mut self.kube.disks);
                let ledger = &mut self.volume(pod).ledger;
                ledger.part = Part::Left;
                ledger.intent = status(nonce, IntentState::Running, None);
            }
            Action::SettleIntent { nonce, state, message } => {
                let message = message.map(|message| message.to_string());
                self.volume(pod).ledger.intent = status(nonce, state, message);
            }
            other => self.broken.push(format!("{other:?} is not about an intent")),
        }
    }

    fn answer(&mut self, agent: &mut Agent, pod: &PodRun, spec: &ServiceMemberSpec) {
        let Some(asked) = &spec.evidence else { return };
        if agent.evidence.as_ref().is_some_and(|e| e.nonce == asked.nonce) {
            return;
        }
        let uid = pod.uid.as_str();
        agent.evidence = Some(MemberEvidence {
            nonce: asked.nonce.clone(),
            read_at: Time(self.store.now),
            volume_id: VolumeId::new(self.volume(pod).id.clone().unwrap_or_default()),
            ensemble: None,
            broker: self.view(uid),
            queues: self.queues_view(uid).filter(|_| !self.half.contains(&pod.key.name)),
        });
    }

    /// A person edits the spec of a member.
    pub fn patch_member(&mut self, member: &str, patch: &serde_json::Value) {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
        self.store.merge(&key, patch, Subresource::None).unwrap();
    }
}

pub(super) fn answer(permit: &ServicePermit, state: PermitState) -> PermitStatus {
    PermitStatus { nonce: permit.nonce.clone(), state, message: None }
}
