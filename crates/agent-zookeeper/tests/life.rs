//! The life of a volume on a disk: what the agent decides, prepares and notes, with a
//! server that leaves the files that ZooKeeper leaves.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "real/disk.rs"]
mod disk;

use disk::copied;
use jiff::Timestamp;
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_zookeeper::decide::{
    Action, Cause, Decision, Entry, Facts, Process, Source, SpecFact, VolumeFact, decide,
};
use palladion_agent_zookeeper::launch::prepare::prepare;
use palladion_agent_zookeeper::read::srvr::{Serving, Srvr};
use palladion_agent_zookeeper::read::{Config, Reading};
use palladion_agent_zookeeper::volume::Volume;
use palladion_api::member::PermitState;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{
    DataBeforeServiceStart, Peer, ServerMode, ServiceMemberSpec, ServicePermit, ServicePermitKind,
    ServiceSystem,
};
use palladion_api::zookeeper::{ServerId, ZookeeperPorts, Zxid};
use std::fs;
use std::path::PathBuf;

const POD: &str = "p1";
const ADDRESS: &str = "10.96.0.11";

/// A disk, and what the operator wants of the member on it.
struct Life {
    disk: tempfile::TempDir,
    spec: ServiceMemberSpec,
    process: Process,
    reading: Option<Reading>,
}

impl Life {
    fn new() -> Self {
        let spec = ServiceMemberSpec {
            system: ServiceSystem::ZooKeeper,
            cluster: "zk".into(),
            address: Some(ADDRESS.into()),
            server_id: Some(ServerId::new(1)),
            revisions: vec!["r1".into()],
            ..Default::default()
        };
        let disk = tempfile::tempdir().unwrap();
        Self { disk, spec, process: Process::Absent, reading: None }
    }

    fn root(&self) -> PathBuf {
        self.disk.path().join("volume")
    }

    fn volume(&self) -> Volume {
        fs::create_dir_all(self.root()).unwrap();
        Volume::new(self.root(), self.root().join("data"), self.root().join("datalog"))
    }

    fn decision(&self) -> Decision {
        let found = self.volume().inspect().unwrap();
        decide(&Facts {
            now: Timestamp::UNIX_EPOCH,
            pod_uid: &POD.into(),
            member: &"zk-0".into(),
            revision: "r1",
            spec: Some(SpecFact { spec: &self.spec, source: Source::Live }),
            volume: VolumeFact::Found(&found),
            process: self.process.clone(),
            container: Phase::Serving,
            reading: self.reading.as_ref(),
            stopping: None,
            last_words: None,
        })
    }

    /// Carry out what is decided; what was it?
    fn act(&mut self) -> Action {
        let volume = self.volume();
        let action = self.decision().action;
        let ledger = volume.inspect().unwrap().ledger;
        match &action {
            Action::TakeVolume { successor_of } => {
                let taken = volume.take(&"zk-0".into(), successor_of.clone()).unwrap();
                self.spec.volume_id = Some(taken.volume_id);
            }
            Action::Start(start) => {
                prepare(&volume, start, &ZookeeperPorts::default()).unwrap();
                let mut ledger = ledger.unwrap();
                let cause = ledger.use_cause(&start.cause, start.server_id, &start.address);
                ledger.begin_start("t", &cause, Timestamp::UNIX_EPOCH);
                volume.save(&ledger).unwrap();
                self.process = Process::Running;
            }
            Action::RecordMember => {
                let mut ledger = ledger.unwrap();
                ledger.record_member(Timestamp::UNIX_EPOCH);
                volume.save(&ledger).unwrap();
            }
            Action::SettlePermit { nonce, state, message } => {
                let mut ledger = ledger.unwrap();
                let message = message.as_ref().map(ToString::to_string);
                ledger.set_permit(nonce, *state, message);
                volume.save(&ledger).unwrap();
            }
            other => panic!("not in these stories: {other:?}"),
        }
        action
    }

    fn permit(&mut self, kind: ServicePermitKind, nonce: &'static str) {
        let peer = Peer { server_id: ServerId::new(7), address: "10.96.0.17".into() };
        self.spec.start = Some(ServicePermit {
            kind,
            nonce: nonce.into(),
            pod_uid: POD.into(),
            volume_id: self.spec.volume_id.clone().unwrap(),
            reason: String::new(),
            attempt: 1,
            peers: if kind == ServicePermitKind::Join { vec![peer] } else { Vec::new() },
            nodes: Vec::new(),
            flags: Vec::new(),
            data: DataBeforeServiceStart::MustBeEmpty,
        });
    }

    /// The server leads: it has used up its right to begin, and written what a leader does.
    fn leads(&mut self) {
        let volume = self.volume();
        let (data, logs) = (volume.data().join("version-2"), volume.logs().join("version-2"));
        fs::remove_file(volume.logs().join("initialize")).unwrap();
        for (path, text) in [
            (data.join("snapshot.0"), "x"),
            (data.join("currentEpoch"), "1"),
            (data.join("acceptedEpoch"), "1"),
            (logs.join("log.100000001"), ""),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let given = volume.files().newest().unwrap().unwrap();
        let config = Config { version: Zxid::new(1 << 32), ..given };
        volume.files().replace(&config).unwrap();
        let serving = Serving {
            version: None,
            mode: ServerMode::Leader,
            mode_word: "leader".into(),
            zxid: Zxid::new((1 << 32) + 1),
        };
        let srvr = Some(Srvr::Serving(serving));
        let proven = Some(config.version);
        self.reading = Some(Reading { is_ok: true, srvr, config: Some(config), proven });
    }

    fn ends(&mut self) {
        (self.process, self.reading) = (Process::Absent, None);
    }

    /// A member that was initialized here.
    fn of_a_member() -> Self {
        let mut life = Self::new();
        assert_eq!(life.act(), Action::TakeVolume { successor_of: None });
        assert_eq!(life.decision().reason, Reason::WaitingForPermit);
        life.permit(ServicePermitKind::Initialize, "n1");
        let Action::Start(start) = life.act() else { panic!("it starts") };
        assert_eq!(start.entry, Entry::First);
        life.leads();
        assert_eq!(life.act(), Action::RecordMember);
        let Action::SettlePermit { state, .. } = life.act() else { panic!("it is settled") };
        assert_eq!(state, PermitState::Done);
        life.spec.start = None;
        life.ends();
        life
    }

    #[track_caller]
    fn starts_by_itself(&mut self) {
        let Action::Start(start) = self.act() else { panic!("it starts") };
        assert_eq!((start.cause, start.entry), (Cause::Autonomous, Entry::Plain));
        self.ends();
    }
}

#[test]
fn a_member_is_initialized_once_and_starts_by_itself_from_then_on() {
    let mut life = Life::of_a_member();
    life.starts_by_itself();
    assert!(!life.volume().logs().join("initialize").exists());
}

/// The agent ended after its server had led, and before it could note that.
#[test]
fn a_first_server_that_has_led_is_not_initialized_again() {
    let mut life = Life::new();
    life.act();
    life.permit(ServicePermitKind::Initialize, "n1");
    life.act();
    life.leads();
    life.ends();
    life.starts_by_itself();
    assert!(life.volume().data().join("version-2/snapshot.0").exists());
}

#[test]
fn a_volume_that_has_lost_its_logs_never_votes_again() {
    let mut life = Life::of_a_member();
    fs::remove_dir_all(life.volume().logs().join("version-2")).unwrap();
    assert_eq!(life.decision().reason, Reason::VolumeLost);
    life.permit(ServicePermitKind::Initialize, "n2");
    let Action::SettlePermit { state, .. } = life.act() else { panic!("it is refused") };
    assert_eq!(state, PermitState::Refused);
    assert_eq!(life.decision().reason, Reason::WaitingForPermit);
}

#[test]
fn a_copy_of_the_volume_from_before_is_known_by_its_counter() {
    let mut life = Life::of_a_member();
    let copy = life.disk.path().join("copy");
    copied(&life.root(), &copy);
    life.starts_by_itself();
    life.spec.starts = life.volume().inspect().unwrap().ledger.map(|ledger| ledger.counter);
    life.starts_by_itself();
    fs::remove_dir_all(life.root()).unwrap();
    copied(&copy, &life.root());
    assert_eq!(life.decision().reason, Reason::VolumeRolledBack);
}

#[test]
fn a_wiped_volume_is_taken_for_another_server_and_joins_as_an_observer() {
    let mut life = Life::of_a_member();
    let lost = life.spec.volume_id.clone();
    life.spec.file_system = Some(life.volume().inspect().unwrap().file_system);
    fs::remove_dir_all(life.root()).unwrap();
    assert_eq!(life.act(), Action::TakeVolume { successor_of: lost });
    life.spec.server_id = Some(ServerId::new(4));
    life.permit(ServicePermitKind::Join, "n2");
    let Action::Start(start) = life.act() else { panic!("it joins") };
    assert_eq!(start.server_id, ServerId::new(4));
    assert!(!life.volume().logs().join("initialize").exists(), "it may not begin");
    let file = life.volume().files().newest().unwrap().unwrap().file();
    assert!(file.contains("server.4=10.96.0.11:2888:3888:observer"), "{file}");
}

/// A change of the ensemble without it came to be while it was away.
#[test]
fn who_was_taken_out_is_not_started() {
    let mut life = Life::of_a_member();
    let others = "server.2=10.96.0.12:2888:3888:participant;2181";
    let config = Config::of_file(others, Zxid::new(2 << 32)).unwrap();
    life.volume().files().replace(&config).unwrap();
    assert_eq!(life.decision().reason, Reason::NotInEnsemble);
    life.spec.volume_id = Some("another".into());
    assert_eq!(life.decision().reason, Reason::StaleTwin);
}
