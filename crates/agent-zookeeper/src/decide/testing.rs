//! One builder for what an agent may find.

use super::*;
use crate::read::srvr::{Serving, Srvr};
use crate::read::{Config, Server};
use crate::volume::Data;
use crate::volume::ledger::Membership;
use palladion_api::ids::{StaticAddress, VolumeId};
use palladion_api::service_member::{
    DataBeforeServiceStart, Peer, ServerMode, ServerRole, ServicePermit, ServicePermitKind,
    ServiceSystem,
};
use palladion_api::zookeeper::{ServerId, ZookeeperPorts, Zxid};

pub const VOLUME: &str = "v1";
pub const POD: &str = "p1";
pub const REVISION: &str = "r1";
pub const ADDRESS: &str = "10.96.0.12";
pub const OWN: ServerId = ServerId::new(2);
pub const PEER: ServerId = ServerId::new(1);

/// What an agent finds.
#[derive(Clone)]
pub struct World {
    pub spec: Option<ServiceMemberSpec>,
    pub source: Source,
    pub found: Found,
    pub process: Process,
    pub container: Phase,
    pub reading: Option<Reading>,
    pub stopping: Option<StopWhy>,
    pub last_words: Option<LastWords>,
}

/// A configuration of these, all participants but for those that are named.
pub fn config(version: u64, servers: &[i64], observers: &[i64]) -> Config {
    let server = |number: &i64| {
        let role = match observers.contains(number) {
            true => ServerRole::Observer,
            false => ServerRole::Participant,
        };
        let address = StaticAddress::new(format!("10.96.0.1{number}"));
        (ServerId::new(*number), Server::new(&address, &ZookeeperPorts::default(), role))
    };
    Config { version: Zxid::new(version), servers: servers.iter().map(server).collect() }
}

/// An agent on an empty volume of its own.
pub fn a_new_member() -> World {
    let ledger = Ledger::new(VOLUME.into(), None);
    World {
        spec: Some(ServiceMemberSpec {
            system: ServiceSystem::ZooKeeper,
            cluster: "c".into(),
            address: Some(ADDRESS.into()),
            server_id: Some(OWN),
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
            config: None,
            epoch: None,
            last_zxid: None,
        },
        process: Process::Absent,
        container: Phase::Serving,
        reading: None,
        stopping: None,
        last_words: None,
    }
}

/// The agent of a participant, whose server does not run.
pub fn a_member() -> World {
    a_new_member().with(|w| {
        w.found.data = Data::Whole;
        w.found.config = Some(config(7 << 32, &[1, 2, 3], &[]));
        w.found.epoch = Some(7);
        w.spec().volume_id = Some(VOLUME.into());
        let ledger = w.ledger();
        ledger.membership = Membership::Joined;
        ledger.cluster = Some("c".into());
        ledger.server_id = Some(OWN);
        ledger.address = Some(ADDRESS.into());
        ledger.counter = 3;
    })
}

/// The agent of a server that joins by the permit `n1`, and does not run.
pub fn a_joiner() -> World {
    a_new_member().permit(ServicePermitKind::Join, DataBeforeServiceStart::MustBeEmpty).with(|w| {
        w.found.data = Data::Whole;
        w.found.config = Some(config(0, &[1, 2], &[2]));
        w.found.epoch = Some(7);
        let ledger = w.ledger();
        ledger.use_permit(&"n1".into());
        ledger.membership =
            Membership::Joining { kind: ServicePermitKind::Join, nonce: "n1".into() };
        ledger.cluster = Some("c".into());
        ledger.server_id = Some(OWN);
        ledger.address = Some(ADDRESS.into());
    })
}

/// A look at a server in this mode, whose file has this configuration.
pub fn reading(mode: Option<ServerMode>, config: Config) -> Reading {
    let serving = mode.map(|mode| Serving {
        version: Some("3.9.3".into()),
        mode,
        mode_word: format!("{mode:?}").to_lowercase(),
        zxid: Zxid::new(1),
    });
    let srvr = Some(serving.map_or(Srvr::NotServing, Srvr::Serving));
    Reading { is_ok: true, srvr, config: Some(config), proven: None }
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
            let peers = match kind {
                ServicePermitKind::Join => {
                    vec![Peer { server_id: PEER, address: "10.96.0.11".into() }]
                }
                ServicePermitKind::Initialize
                | ServicePermitKind::Rescue
                | ServicePermitKind::Unknown(_) => Vec::new(),
            };
            w.spec().start = Some(ServicePermit {
                kind,
                nonce: "n1".into(),
                pod_uid: POD.into(),
                volume_id: VolumeId::new(VOLUME),
                reason: String::new(),
                attempt: 1,
                peers,
                nodes: Vec::new(),
                flags: Vec::new(),
                data,
            });
        })
    }

    /// With a server that runs, in this mode and with this configuration.
    pub fn runs(self, mode: ServerMode, config: Config) -> Self {
        self.with(|w| {
            w.process = Process::Running;
            w.reading = Some(reading(Some(mode), config));
            w.ledger().begin_start("t", "Autonomous", Timestamp::UNIX_EPOCH);
        })
    }

    /// Its configuration was read in a session.
    pub fn proven(self) -> Self {
        self.with(|w| {
            let reading = w.reading.as_mut().expect("a reading");
            reading.proven = reading.config.as_ref().map(|config| config.version);
        })
    }

    /// And it has served since its start.
    pub fn served(self) -> Self {
        self.with(|w| w.ledger().record_served(Timestamp::UNIX_EPOCH))
    }

    pub fn facts(&self) -> (PodUid, MemberName) {
        (POD.into(), "m-0".into())
    }

    pub fn asked<T>(&self, ask: impl FnOnce(&Facts<'_>) -> T) -> T {
        let (pod_uid, member) = self.facts();
        ask(&Facts {
            now: Timestamp::from_second(100_000).unwrap(),
            pod_uid: &pod_uid,
            member: &member,
            revision: REVISION,
            spec: self.spec.as_ref().map(|spec| SpecFact { spec, source: self.source }),
            volume: VolumeFact::Found(&self.found),
            process: self.process.clone(),
            container: self.container,
            reading: self.reading.as_ref(),
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
                state: palladion_api::member::PermitState::Refused,
                message: Some(message),
                ..
            } => assert!(message.to_string().contains(text), "{message}"),
            other => panic!("expected a refusal, got {other:?}"),
        }
    }
}
