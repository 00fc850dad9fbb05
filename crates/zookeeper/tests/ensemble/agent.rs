//! The agent of one running pod, as the member protocol asks of it: it keeps the ledger,
//! starts the server only by permit or with what the ledger accounts for, answers
//! questions, and carries out changes of the configuration.

use super::agents_rule;
use super::volume::{Part, Volume};
use super::world::{NAMESPACE, World};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::{IntentState, IntentStatus, PermitState, PermitStatus, RunState};
use palladion_api::service_member::{
    EnsembleView, MemberEvidence, MemberVolumeState, ServiceMemberSpec, ServicePermit,
    ServicePermitKind,
};
use palladion_api::zookeeper::{ServerId, Zxid};
use palladion_plan::sim::kubernetes::Mount;
use palladion_plan::sim::{Activity, PodRun};
use palladion_plan::{ObjectKey, Subresource};
use palladion_zookeeper::resources as kinds;
use serde_json::json;

/// From a vote to the look by which the agent notes it.
const LOOK: SignedDuration = SignedDuration::from_secs(1);

/// Where an agent departs from the protocol, in mutations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faithless {
    /// It does not notice that data is gone which the ledger accounts for, and that the
    /// marker is.
    pub forgets: bool,
    /// It starts a server whatever is on record.
    pub starts_unasked: bool,
}

/// What an agent remembers besides the ledger.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    pub(super) begun: Option<Timestamp>,
    pub(super) permit: Option<PermitStatus>,
    pub(super) last_words: Option<String>,
    /// Starts in a row that failed.
    pub(super) failed: u32,
    /// Since when its server is seen to vote, which is not noted yet.
    pub(super) votes_since: Option<Timestamp>,
    pub(super) evidence: Option<MemberEvidence>,
    pub(super) intent: Option<IntentStatus>,
    pub(super) restart_token: Option<Option<String>>,
    pub(super) expelled: bool,
}

impl World {
    /// One step of the agent of this pod.
    pub(super) fn step_agent(&mut self, pod: &PodRun) -> Activity {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, &pod.key.name);
        let Some(stored) = self.store.get(&key).cloned() else {
            return Activity::default();
        };
        if self.cut_off.contains(&pod.key.name) {
            return Activity::default();
        }
        let spec: ServiceMemberSpec = serde_json::from_value(stored["spec"].clone()).unwrap();
        let mut agent = self.agents.remove(pod.uid.as_str()).unwrap_or_default();
        let mut activity = Activity::default();
        self.mount(pod, &spec);
        let state = self.volume_state(pod, &spec);
        let wish = self.wish(&mut agent, pod, &spec, state);
        match wish {
            Wish::Run(cause) => activity = self.run(&mut agent, pod, &spec, cause),
            Wish::Rest => {
                if !pod.ending {
                    self.spared(&pod.key.name);
                }
                self.ensemble.stop(pod.uid.as_str());
                agent.begun = None;
            }
        }
        activity = activity.and(self.follow_up(&mut agent, pod, &spec));
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

    pub(super) fn volume(&mut self, pod: &PodRun) -> &mut Volume {
        &mut self.kube.disks.get_mut(&pod.disk).unwrap().content
    }

    /// A volume without a marker gets one where the agent says that it is new.
    fn mount(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        let is_recorded =
            spec.file_system.as_deref() == Some(&pod.disk) && spec.volume_id.is_some();
        if self.volume(pod).id.is_some() {
            return;
        }
        if is_recorded && self.faithless.forgets {
            return self.remake(pod, spec);
        }
        let Some(lost) = agents_rule::taken(self.volume(pod), pod, spec) else {
            return;
        };
        self.volumes += 1;
        let id = format!("v{}", self.volumes);
        let volume = self.volume(pod);
        (volume.id, volume.ledger.successor_of) = (Some(id), lost);
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
        let is_recorded = spec.volume_id.as_ref().is_some_and(|v| v.as_str() == own);
        let may_not = spec.run == RunState::Terminated
            || is_lost
            || is_twin
            || agent.expelled
            || !spec.revisions.contains(&pod.revision);
        if may_not {
            return Wish::Rest;
        }
        // A joiner goes on by its own permit in the next pod, too.
        let ledger = &self.volume(pod).ledger;
        let begun_by = ledger.begun_by.as_ref().filter(|_| ledger.part == Part::Begun);
        let is_own = |p: &ServicePermit| begun_by.is_some_and(|(_, nonce)| *nonce == p.nonce);
        let permit = spec.start.as_ref().filter(|p| p.volume_id.as_str() == own);
        let permit = permit.filter(|p| p.pod_uid == pod.uid || is_own(p));
        let over = [PermitState::Failed, PermitState::Refused];
        let failed = agent.permit.as_ref().filter(|a| over.contains(&a.state));
        match (state, permit) {
            (MemberVolumeState::Joined, Some(p)) if is_recorded && is_open_rescue(agent, p) => {
                Wish::Run(Cause::Permit(p))
            }
            (MemberVolumeState::Joined, _) if is_recorded => Wish::Run(Cause::Joined),
            (_, Some(p)) if failed.is_none_or(|f| f.nonce != p.nonce) => {
                Wish::Run(Cause::Permit(p))
            }
            (_, Some(_) | None) => Wish::Rest,
        }
    }

    /// What comes of a server that runs: its ledger, its permit, its end.
    fn follow_up(&mut self, agent: &mut Agent, pod: &PodRun, spec: &ServiceMemberSpec) -> Activity {
        let (uid, now) = (pod.uid.as_str(), self.store.now);
        let mut activity = Activity::default();
        if let Some(server) = self.ensemble.servers.get(uid).cloned()
            && server.leader.is_some()
        {
            let votes = server.config.voters().contains(&server.id);
            let volume = self.volume(pod);
            if votes && volume.ledger.part == Part::Begun {
                let noted = *agent.votes_since.get_or_insert(now) + LOOK;
                match now < noted {
                    true => activity = activity.at(noted),
                    false => volume.ledger.part = Part::Joined,
                }
            }
            let is_joined = volume.ledger.part == Part::Joined;
            // A server that is out of the configuration serves nobody.
            if is_joined && !votes && !self.faithless.starts_unasked {
                agent.expelled = true;
                self.ensemble.stop(uid);
            }
            if votes
                && is_joined
                && let Some(permit) = &mut agent.permit
            {
                permit.state = PermitState::Done;
            }
        }
        if let Some(intent) = &spec.intent
            && Some(intent.volume_id.as_str()) == self.volume(pod).id.as_deref()
            && !self.full.contains(&pod.key.name)
        {
            self.ensemble.stop(uid);
            self.volume(pod).ledger.part = Part::Left;
            let nonce = intent.nonce.clone();
            agent.intent =
                Some(IntentStatus { nonce, state: IntentState::Done, message: None, since: None });
        }
        self.operate(pod, spec);
        self.answer(agent, pod, spec);
        activity
    }

    fn operate(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        let Some(operation) = &spec.operation else { return };
        if self.slow.contains(&pod.key.name) {
            return;
        }
        let is_done = self.volume(pod).ledger.operations.contains_key(&operation.id);
        let own = self.volume(pod).id.clone();
        if is_done
            || own.as_deref() != Some(operation.volume_id.as_str())
            || !self.ensemble.servers.contains_key(pod.uid.as_str())
        {
            return;
        }
        let change = operation.reconfig.as_ref().unwrap();
        let turn = self.status()["turn"].clone();
        let asked = turn["question"]["nonce"].as_str().unwrap_or_default();
        let is_present = operation.id.starts_with(&format!("reconfig-{asked}-"));
        let id = turn["serverID"].as_i64().map(ServerId::new);
        let is_about =
            |id| change.add.iter().any(|p| p.server_id == id) || change.remove.contains(&id);
        if !is_present && !id.is_some_and(is_about) {
            let broken = format!("{} carries out an order of no turn", pod.key.name);
            self.broken.push(broken);
        }
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
        let opened = !self.sessionless.contains(&pod.key.name)
            && self.ensemble.open_session(uid, &mut self.kube.disks);
        let zxid = self.volume(pod).data.as_ref().map(|d| Zxid::new(d.zxid()));
        let view = opened.then(|| self.view(uid)).flatten();
        agent.evidence = Some(MemberEvidence {
            nonce: asked.nonce.clone(),
            read_at: Time(self.store.now),
            volume_id: self.volume(pod).id.clone().unwrap_or_default().into_volume(),
            ensemble: view.map(|view| EnsembleView { zxid, ..view }),
            broker: None,
            queues: None,
        });
    }

    /// A person edits the spec of a member.
    pub fn patch_member(&mut self, member: &str, patch: &serde_json::Value) {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
        self.store.merge(&key, patch, Subresource::None).unwrap();
    }
}

/// Is it a permit to go on alone that has not done its work?
fn is_open_rescue(agent: &Agent, permit: &ServicePermit) -> bool {
    let answer = agent.permit.as_ref().filter(|a| a.nonce == permit.nonce);
    let is_over = answer.is_some_and(|a| a.state == PermitState::Done);
    permit.kind == ServicePermitKind::Rescue && !is_over
}

pub(super) fn answer(permit: &ServicePermit, state: PermitState) -> PermitStatus {
    PermitStatus { nonce: permit.nonce.clone(), state, message: None }
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

pub(super) trait IntoVolume {
    fn into_volume(self) -> palladion_api::ids::VolumeId;
}

impl IntoVolume for String {
    fn into_volume(self) -> palladion_api::ids::VolumeId {
        palladion_api::ids::VolumeId::new(self)
    }
}
