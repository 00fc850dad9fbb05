//! One builder for what an agent may find.

use super::*;
use crate::launch::credentials::Logins;
use crate::read::{Listener, Node, Overview};
use crate::volume::cookie::Comparison;
use crate::volume::ledger::{App, Entered, Membership};
use crate::volume::{Data, Kind};
use jiff::SignedDuration;
use palladion_api::ids::VolumeId;
use palladion_api::member::{IntentState, PermitState};
use palladion_api::service_member::{
    DataBeforeServiceStart, ServiceIntent, ServiceIntentKind, ServicePermit, ServicePermitKind,
    ServiceSystem,
};

pub const VOLUME: &str = "v1";
pub const POD: &str = "p1";
pub const REVISION: &str = "r1";
pub const ADDRESS: &str = "10.96.0.12";

/// `a` is our own.
pub fn node(name: &str) -> NodeName {
    NodeName::new(format!("rabbit@{name}"))
}

fn nodes(names: &[&str]) -> Vec<NodeName> {
    names.iter().map(|name| node(name)).collect()
}

/// What an agent finds.
#[derive(Clone)]
pub struct World {
    pub spec: Option<ServiceMemberSpec>,
    pub source: Source,
    pub found: Found,
    pub credentials: Option<Present>,
    pub named: Option<Lookup>,
    pub process: Process,
    pub container: Phase,
    pub doors: Option<Doors>,
    pub reading: Option<Reading>,
    pub sign: Sign,
    pub work: WorkFact,
    pub join: JoinFact,
    pub vhost: VhostFact,
    pub stopping: Option<StopWhy>,
    pub last_words: Option<LastWords>,
}

/// A look at a node of a cluster of these, of which those run, and which is open.
pub fn reading(members: &[&str], running: &[&str]) -> Reading {
    let mut reading = closed(members, running);
    if let Some((overview, _)) = &mut reading.seen {
        overview.listeners.push(Listener { node: node("a"), protocol: "amqp".into() });
    }
    reading
}

/// One that takes no clients.
pub fn closed(members: &[&str], running: &[&str]) -> Reading {
    let listener =
        |protocol: &str, at: &str| Listener { node: node(at), protocol: protocol.into() };
    let overview = Overview {
        node: node("a"),
        rabbitmq_version: Some("3.10.8".into()),
        // Those of others do not count.
        listeners: vec![listener("http", "a"), listener("amqp", "b")],
        queue_totals: serde_json::Value::Null,
        object_totals: serde_json::Value::Null,
    };
    let one = |name: &&str| Node {
        name: node(name),
        running: running.contains(name),
        partitions: Some(Vec::new()),
        mem_alarm: Some(false),
        disk_free_alarm: Some(false),
        being_drained: false,
        mem_used: None,
        disk_free: None,
        fd_used: None,
        proc_used: None,
    };
    Reading { seen: Some((overview, members.iter().map(one).collect())), ..Reading::default() }
}

/// An agent on an empty volume of its own.
pub fn a_new_member() -> World {
    let ledger = Ledger::new(VOLUME.into(), None);
    World {
        spec: Some(ServiceMemberSpec {
            system: ServiceSystem::RabbitMQ,
            cluster: "c".into(),
            address: Some(ADDRESS.into()),
            node_name: Some(node("a")),
            revisions: vec![REVISION.into()],
            ..Default::default()
        }),
        source: Source::Live,
        found: Found {
            file_system: "ext4/1/a".into(),
            marker: Some(VOLUME.into()),
            owner: Some("m-0".into()),
            ledger: Some(ledger),
            data: Data::Absent,
            members: Vec::new(),
        },
        credentials: Some(Present { cookie: Comparison::Fits, logins: Logins::Present }),
        named: Some((node("a"), Ok(()))),
        process: Process::Absent,
        container: Phase::Serving,
        doors: None,
        reading: None,
        sign: Sign::None,
        work: WorkFact::Idle,
        join: JoinFact::Open,
        vhost: VhostFact::Present,
        stopping: None,
        last_words: None,
    }
}

/// The agent of a member, whose node does not run.
pub fn a_member() -> World {
    a_new_member().with(|w| {
        w.found.data = Data::Whole;
        w.found.members = nodes(&["a", "b", "c"]);
        w.spec().volume_id = Some(VOLUME.into());
        let ledger = w.ledger();
        ledger.membership = Membership::Joined;
        ledger.cluster = Some("c".into());
        ledger.node_name = Some(node("a"));
        ledger.entered = Entered::Yes;
        ledger.parts = [Kind::Tables, Kind::Membership, Kind::Quorum].into();
        ledger.address = Some(ADDRESS.into());
        ledger.counter = 3;
    })
}

/// The agent of a node that was started by the permit `n1`, closed, and has not entered.
pub fn a_joiner(kind: ServicePermitKind) -> World {
    a_new_member().permit(kind, DataBeforeServiceStart::MustBeEmpty).with(|w| {
        w.process = Process::Running;
        w.doors = Some(Doors::Closed);
        // On record together with the permit.
        w.spec().volume_id = Some(VOLUME.into());
        let ledger = w.ledger();
        ledger.use_permit(&"n1".into());
        ledger.membership = Membership::Joining { kind, nonce: "n1".into() };
        ledger.cluster = Some("c".into());
        ledger.node_name = Some(node("a"));
        ledger.address = Some(ADDRESS.into());
        ledger.begin_start("t", "Join", now() - SignedDuration::from_secs(10));
    })
}

/// When a decision is made.
pub fn now() -> Timestamp {
    Timestamp::from_second(100_000).unwrap()
}

impl World {
    pub fn with<T>(mut self, change: impl FnOnce(&mut Self) -> T) -> Self {
        change(&mut self);
        self
    }

    pub fn spec(&mut self) -> &mut ServiceMemberSpec {
        self.spec.as_mut().expect("a spec")
    }

    pub fn ledger(&mut self) -> &mut Ledger {
        self.found.ledger.as_mut().expect("a ledger")
    }

    /// With the permit `n1` for this pod and volume.
    pub fn permit(self, kind: ServicePermitKind, data: DataBeforeServiceStart) -> Self {
        self.with(|w| {
            let (nodes, flags) = match kind {
                ServicePermitKind::Join => (nodes(&["b", "c"]), vec!["quorum_queue".into()]),
                ServicePermitKind::Initialize
                | ServicePermitKind::Rescue
                | ServicePermitKind::Unknown(_) => (Vec::new(), Vec::new()),
            };
            w.spec().start = Some(ServicePermit {
                kind,
                nonce: "n1".into(),
                pod_uid: POD.into(),
                volume_id: VolumeId::new(VOLUME),
                reason: String::new(),
                attempt: 1,
                peers: Vec::new(),
                nodes,
                flags,
                data,
            });
        })
    }

    /// With an intent of this nonce for our volume.
    pub fn intent(self, kind: ServiceIntentKind, nonce: &'static str) -> Self {
        self.with(|w| {
            let volume_id = VOLUME.into();
            w.spec().intent = Some(ServiceIntent { kind, nonce: nonce.into(), volume_id });
        })
    }

    /// With a node that runs, open, in a cluster of these of which those run.
    pub fn runs(self, members: &[&str], running: &[&str]) -> Self {
        self.with(|w| {
            w.process = Process::Running;
            w.doors = Some(Doors::Open);
            w.reading = Some(reading(members, running));
            w.ledger().begin_start("t", "Autonomous", Timestamp::UNIX_EPOCH);
        })
    }

    /// And it has served since its start.
    pub fn served(self) -> Self {
        self.with(|w| w.ledger().record_served(Timestamp::UNIX_EPOCH))
    }

    /// Its application was stopped by the intent `n7`, in this state.
    pub fn app_stopped(self, state: IntentState) -> Self {
        self.with(|w| {
            w.reading = None;
            let ledger = w.ledger();
            ledger.app = App::Stopped;
            ledger.set_intent(&"n7".into(), state, None, Timestamp::UNIX_EPOCH);
        })
    }

    pub fn asked<T>(&self, ask: impl FnOnce(&Facts<'_>) -> T) -> T {
        let (pod_uid, member): (PodUid, MemberName) = (POD.into(), "m-0".into());
        ask(&Facts {
            now: now(),
            pod_uid: &pod_uid,
            member: &member,
            revision: REVISION,
            spec: self.spec.as_ref().map(|spec| SpecFact { spec, source: self.source }),
            volume: VolumeFact::Found(&self.found),
            credentials: self.credentials,
            named: self.named.as_ref(),
            process: self.process.clone(),
            container: self.container,
            doors: self.doors,
            reading: self.reading.as_ref(),
            sign: &self.sign,
            work: self.work,
            join: self.join,
            vhost: self.vhost,
            stopping: self.stopping,
            last_words: self.last_words.as_ref(),
        })
    }

    pub fn decision(&self) -> Decision {
        self.asked(decide)
    }

    pub fn action(&self) -> Action {
        self.decision().action
    }

    #[track_caller]
    pub fn start(&self) -> Start {
        match self.action() {
            Action::Start(start) => start,
            other => panic!("expected a start, got {other:?}"),
        }
    }

    /// Nothing is done, for this reason.
    #[track_caller]
    pub fn waits(&self, reason: Reason) {
        let decision = self.decision();
        assert_eq!((decision.action, decision.reason), (Action::Nothing, reason));
    }

    /// The permit is refused in words that contain this.
    #[track_caller]
    pub fn refuses(&self, text: &str) {
        match self.action() {
            Action::SettlePermit {
                state: PermitState::Refused, message: Some(message), ..
            } => assert!(message.to_string().contains(text), "{message}"),
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    /// What people are told.
    #[track_caller]
    pub fn says(&self, text: &str) {
        let message = self.decision().message.map(|message| message.to_string());
        assert!(message.as_ref().is_some_and(|said| said.contains(text)), "{message:?}");
    }
}
