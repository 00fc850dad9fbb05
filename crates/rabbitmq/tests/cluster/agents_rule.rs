//! The rules of the real agent, over a modelled volume: what the volume is, whether a permit
//! starts a node on it, how that becomes a member, and what becomes of an intent. A mind that gives permits which the
//! agent refuses is seen.

use super::volume::{Part, Volume};
use jiff::Timestamp;
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_rabbitmq::decide::intent::{self, Wanted};
use palladion_agent_rabbitmq::decide::{
    Action, Doors, Facts, JoinFact, Process, Source, SpecFact, Start, VhostFact, VolumeFact,
    WorkFact,
};
use palladion_agent_rabbitmq::decide::{entering, permit};
use palladion_agent_rabbitmq::read::{Listener, Node, Overview, Reading, Sign};
use palladion_agent_rabbitmq::volume::judge::{Judgement, judge};
use palladion_agent_rabbitmq::volume::ledger::{App, Entered, Ledger, Membership};
use palladion_agent_rabbitmq::volume::{Found, Kind, Parts};
use palladion_agent_rabbitmq::words::permit::Refused;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{MemberVolumeState, ServiceMemberSpec, ServicePermit};
use palladion_plan::sim::PodRun;
use std::collections::BTreeSet;

/// Names of nodes.
type Nodes = BTreeSet<String>;

/// What the agent says that the volume is.
pub fn state(volume: &Volume, pod: &PodRun, spec: &ServiceMemberSpec) -> MemberVolumeState {
    match judge(&found(volume, pod), &MemberName::new(&pod.key.name), spec) {
        Judgement::Is(state, _) => state,
        Judgement::New => MemberVolumeState::Empty,
        Judgement::LostUnmarked { .. } => MemberVolumeState::Lost,
    }
}

/// Does the agent take it into use?
pub fn is_new(volume: &Volume, pod: &PodRun, spec: &ServiceMemberSpec) -> bool {
    judge(&found(volume, pod), &MemberName::new(&pod.key.name), spec) == Judgement::New
}

/// Whether, and how, the agent starts a node by this permit.
pub fn start(
    volume: &Volume,
    pod: &PodRun,
    spec: &ServiceMemberSpec,
    permit: &ServicePermit,
) -> Result<Start, Refused> {
    let found = found(volume, pod);
    let ledger = found.ledger.as_ref().unwrap();
    let own = (spec.node_name.as_ref().unwrap(), spec.address.as_ref().unwrap());
    let on = (&found, ledger, state(volume, pod, spec));
    asked(&found, pod, spec, Process::Absent, |facts| permit::start(facts, permit, on, own))
}

/// What the agent notes of the intent in the spec.
pub fn intent(
    volume: &Volume,
    pod: &PodRun,
    spec: &ServiceMemberSpec,
    process: Process,
) -> Option<Action> {
    let found = found(volume, pod);
    let ledger = found.ledger.as_ref()?;
    asked(&found, pod, spec, process, |facts| intent::settle(facts, ledger))
}

/// What is wanted of an application that was stopped by intent.
pub fn wanted(volume: &Volume, pod: &PodRun, spec: &ServiceMemberSpec) -> Option<Wanted> {
    let found = found(volume, pod);
    let ledger = found.ledger.as_ref()?;
    asked(&found, pod, spec, Process::Absent, |facts| intent::wanted(facts, ledger))
}

/// What the agent sees of a node that runs.
pub struct Seen {
    pub now: Timestamp,
    pub doors: Doors,
    pub reading: Option<Reading>,
    /// What was on the volume when it was looked at last, which is before the node started.
    pub found: Found,
}

/// What the agent does about a node that runs and is no member yet.
pub fn of_joiner(
    volume: &Volume,
    pod: &PodRun,
    spec: &ServiceMemberSpec,
    seen: &Seen,
) -> Option<Action> {
    let ledger = found(volume, pod).ledger?;
    let before = Found { ledger: Some(ledger.clone()), ..seen.found.clone() };
    asked(&before, pod, spec, Process::Running, |facts| {
        let (doors, reading) = (Some(seen.doors), seen.reading.as_ref());
        let facts = &Facts { now: seen.now, doors, reading, ..facts.clone() };
        let stop = |action: &Action| matches!(action, Action::Stop(_));
        entering::record_member(facts, &ledger)
            .or_else(|| permit::settle(facts, &ledger).filter(stop))
            .or_else(|| entering::by_its_files(facts, &ledger))
            .or_else(|| entering::next(facts, &ledger))
    })
}

/// What a look at a node shows.
pub fn reading(own: &str, doors: Doors, cluster: &Nodes, running: &Nodes, cut: &Nodes) -> Reading {
    let listener = Listener { node: NodeName::new(own), protocol: "amqp".into() };
    let overview = Overview {
        node: NodeName::new(own),
        rabbitmq_version: None,
        listeners: (doors == Doors::Open).then_some(listener).into_iter().collect(),
        queue_totals: serde_json::Value::Null,
        object_totals: serde_json::Value::Null,
    };
    let node = |name: &String| Node {
        name: NodeName::new(name),
        running: running.contains(name),
        partitions: (name == own).then(|| cut.iter().map(NodeName::new).collect()),
        mem_alarm: None,
        disk_free_alarm: None,
        being_drained: false,
        mem_used: None,
        disk_free: None,
        fd_used: None,
        proc_used: None,
    };
    let seen = Some((overview, cluster.iter().map(node).collect()));
    Reading { seen, ..Reading::default() }
}

fn asked<T>(
    found: &Found,
    pod: &PodRun,
    spec: &ServiceMemberSpec,
    process: Process,
    ask: impl FnOnce(&Facts<'_>) -> T,
) -> T {
    let member = MemberName::new(&pod.key.name);
    ask(&Facts {
        now: Timestamp::UNIX_EPOCH,
        pod_uid: &pod.uid,
        member: &member,
        revision: &pod.revision,
        spec: Some(SpecFact { spec, source: Source::Live }),
        volume: VolumeFact::Found(found),
        credentials: None,
        named: None,
        process,
        container: Phase::Serving,
        doors: None,
        reading: None,
        sign: &Sign::None,
        work: WorkFact::Idle,
        join: JoinFact::Open,
        vhost: VhostFact::Present,
        stopping: None,
        last_words: None,
    })
}

/// The volume as the agent finds it while no node runs.
pub fn found(volume: &Volume, pod: &PodRun) -> Found {
    let data = volume.data.as_ref();
    let members = data.iter().filter(|data| data.is_noted).flat_map(|data| &data.cluster);
    Found {
        file_system: pod.disk.clone(),
        marker: volume.id.clone().map(VolumeId::new),
        owner: Some(MemberName::new(&pod.key.name)),
        ledger: volume.id.as_ref().map(|id| ledger(volume, id)),
        data: parts(volume).judge(&BTreeSet::new()),
        members: members.map(NodeName::new).collect(),
    }
}

/// What there is of its files: logs only where its application has run, or a replica is.
fn parts(volume: &Volume) -> Parts {
    let Some(data) = &volume.data else { return Parts::default() };
    let has_logs = data.has_run || !data.logs.is_empty();
    let logs = [Kind::Quorum, Kind::Coordination, Kind::Messages].into_iter();
    let there = [Kind::Tables, Kind::Membership].into_iter().chain(logs.filter(|_| has_logs));
    Parts { there: there.collect(), has_files: true, members: Vec::new() }
}

fn ledger(volume: &Volume, id: &str) -> Ledger {
    let known = &volume.ledger;
    let mut ledger = Ledger::new(VolumeId::new(id), None);
    if let Some(started) = known.started {
        ledger.begin_start("t", "as the test says", started);
    }
    ledger.counter = known.starts;
    ledger.used_permits.clone_from(&known.used);
    ledger.permit.clone_from(&known.permit);
    ledger.own.node_name = known.node_name.as_ref().map(NodeName::new);
    ledger.membership = match (known.part, &known.begun_by) {
        (Part::Begun, Some((kind, nonce))) => {
            Membership::Joining { kind: *kind, nonce: nonce.clone() }
        }
        (Part::None | Part::Begun, _) => Membership::Empty,
        (Part::Joined, _) => Membership::Joined,
        (Part::Left, _) => Membership::Left,
    };
    ledger.intent.clone_from(&known.intent);
    ledger.own.app = if known.app_stopped { App::Stopped } else { App::Runs };
    ledger.own.entered = match (known.part, known.entered) {
        (Part::Joined, _) | (_, true) => Entered::Yes,
        (Part::Begun, false) if known.asked => Entered::Asked,
        (Part::None | Part::Begun | Part::Left, false) => Entered::No,
    };
    ledger
}
