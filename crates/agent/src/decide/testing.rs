//! Builders for tests: one world, changed a little by each.

use super::*;
use crate::admin::Reading;
use crate::volume::heartbeat::Known;
use crate::volume::ledger::{Ledger, Membership};
use crate::volume::{Data, Found};
pub use palladion_api::member::{DataBeforeStart, IntentState, PermitKind, PermitState};
use palladion_api::member::{Intent, IntentKind, Liveness, MemberState, RingMember, StartPermit};

pub const POD: &str = "pod-1";
pub const MEMBER: &str = "m-0";
pub const VOLUME: &str = "v1";
pub const HOST: &str = "h1";
pub const ADDRESS: &str = "10.96.0.11";
pub const SEED: &str = "10.96.0.12";

/// What a decision is made of, owned.
#[derive(Clone)]
pub struct World {
    pub spec: Option<CassandraMemberSpec>,
    pub source: Source,
    pub times: Times,
    pub found: Found,
    pub process: Process,
    pub container: Phase,
    pub reading: Option<Reading>,
    pub progress: Option<Progress>,
    pub stopping: Option<StopWhy>,
    pub leave_call: LeaveCall,
    pub drain_call: Option<DrainCall>,
    pub last_words: Option<LastWords>,
    pub lacks_certificate: Option<Waiting>,
    pub seal: Seal,
    pub elsewhere: elsewhere::Elsewhere,
    pub closed: bool,
    pub opens: Option<palladion_api::server_config::Opens>,
    pub client_addresses: Option<palladion_api::cluster::ClientAddresses>,
    pub awaits_rebuild: bool,
    pub was_open: bool,
    pub rewinds: bool,
    pub asked: Option<Asked>,
    pub now: Timestamp,
}

/// A pod with an empty volume that is ours, a live spec, and no server.
pub fn a_new_member() -> World {
    let spec = CassandraMemberSpec {
        cluster: "c".into(),
        ring: "r".into(),
        datacenter: "dc1".into(),
        rack: "a".into(),
        address: Some(ADDRESS.into()),
        revisions: vec!["rev-1".into()],
        seeds: vec![SEED.into()],
        ..Default::default()
    };
    World {
        spec: Some(spec),
        source: Source::Live,
        times: Times::default(),
        found: Found {
            file_system: "ext4/1/".into(),
            marker: Some(VOLUME.into()),
            owner: Some(MEMBER.into()),
            ledger: Some(Ledger::new(VOLUME.into(), None)),
            data: Data::Absent,
            heartbeat: Known::Never,
            note: Default::default(),
            tokens: Default::default(),
            rebuilt: Default::default(),
        },
        process: Process::Absent,
        container: Phase::Serving,
        reading: None,
        progress: None,
        stopping: None,
        leave_call: LeaveCall::NotMade,
        drain_call: None,
        last_words: None,
        lacks_certificate: None,
        seal: Seal::default(),
        elsewhere: elsewhere::Elsewhere::default(),
        closed: false,
        rewinds: false,
        opens: None,
        client_addresses: None,
        awaits_rebuild: false,
        was_open: false,
        asked: None,
        now: Timestamp::from_second(1_000_000).unwrap(),
    }
}

/// The same, with the data of a full member.
pub fn a_joined_member() -> World {
    a_new_member().membership(Membership::Joined).data().recorded()
}

/// The same, with its server running as a full member.
pub fn a_running_member() -> World {
    let mut world = a_joined_member().running("NORMAL");
    world.ledger().begin_start("t", "Autonomous", &[], Timestamp::UNIX_EPOCH);
    let normal_at = Some(crate::volume::seconds(Timestamp::UNIX_EPOCH));
    world.ledger().starts[0].record.normal_at = normal_at;
    world
}

/// The member under test, as its own server sees it.
pub fn itself(state: MemberState) -> RingMember {
    RingMember {
        host_id: HOST.into(),
        address: ADDRESS.into(),
        liveness: Liveness::Up,
        state,
        datacenter: None,
        version: None,
    }
}

impl World {
    pub fn ledger(&mut self) -> &mut Ledger {
        self.found.ledger.as_mut().unwrap()
    }

    pub fn spec(&mut self) -> &mut CassandraMemberSpec {
        self.spec.as_mut().unwrap()
    }

    pub fn membership(mut self, membership: Membership) -> Self {
        let ledger = self.ledger();
        if matches!(membership, Membership::Joined | Membership::Leaving { .. } | Membership::Left)
        {
            ledger.host_id = Some(HOST.into());
            ledger.address = Some(ADDRESS.into());
        }
        ledger.ring = Some("r".into());
        ledger.membership = membership;
        self
    }

    pub fn data(mut self) -> Self {
        self.found.data = Data::Present;
        self
    }

    /// The operator has recorded who this is.
    pub fn recorded(mut self) -> Self {
        let spec = self.spec();
        spec.host_id = Some(HOST.into());
        spec.volume_id = Some(VOLUME.into());
        spec.file_system = Some("ext4/1/".into());
        self
    }

    pub fn permit(mut self, kind: PermitKind, data: DataBeforeStart) -> Self {
        self.spec().start = Some(StartPermit {
            kind,
            nonce: "n1".into(),
            pod_uid: POD.into(),
            volume_id: VOLUME.into(),
            reason: "a test".into(),
            attempt: 1,
            replace_address: match kind {
                PermitKind::Replace => Some("10.96.0.13".into()),
                PermitKind::Readdress => Some(ADDRESS.into()),
                PermitKind::Initialize
                | PermitKind::Join
                | PermitKind::Restore
                | PermitKind::ResumeLeave
                | PermitKind::Unknown(_) => None,
            },
            host_id: match kind {
                PermitKind::Replace | PermitKind::ResumeLeave | PermitKind::Readdress => {
                    Some(HOST.into())
                }
                PermitKind::Initialize
                | PermitKind::Join
                | PermitKind::Restore
                | PermitKind::Unknown(_) => None,
            },
            data,
            rebuilt: None,
            restore: None,
            lock_token: None,
        });
        self
    }

    pub fn intent(mut self) -> Self {
        self.spec().intent = Some(Intent {
            kind: IntentKind::Decommission,
            nonce: "i1".into(),
            host_id: HOST.into(),
            volume_id: VOLUME.into(),
            lock_token: None,
        });
        self
    }

    pub fn running(mut self, mode: &str) -> Self {
        self.process = Process::Running;
        self.found.data = Data::Present;
        self.reading = Some(Reading {
            mode: Some(mode.into()),
            native_transport: Some(mode == "NORMAL"),
            host_id: Some(HOST.into()),
            members: Some(vec![itself(MemberState::Normal)]),
            ..Reading::default()
        });
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn decide(&self) -> Decision {
        self.ask(decide)
    }

    /// What these facts come to.
    pub fn ask<T>(&self, question: impl FnOnce(&Facts<'_>) -> T) -> T {
        question(&Facts {
            now: self.now,
            pod_uid: &POD.into(),
            member: &MEMBER.into(),
            revision: "rev-1",
            spec: self.spec.as_ref().map(|spec| SpecFact {
                spec,
                source: self.source,
                times: self.times,
            }),
            volume: VolumeFact::Found(&self.found),
            process: self.process.clone(),
            container: self.container,
            reading: self.reading.as_ref(),
            progress: self.progress.as_ref(),
            stopping: self.stopping,
            leave_call: &self.leave_call,
            drain_call: self.drain_call.as_ref(),
            last_words: self.last_words.as_ref(),
            lacks_certificate: self.lacks_certificate.clone(),
            seal: self.seal.clone(),
            elsewhere: self.elsewhere.clone(),
            closed: self.closed,
            rewinds: self.rewinds,
            opens: self.opens,
            client_addresses: self.client_addresses,
            awaits_rebuild: self.awaits_rebuild,
            was_open: self.was_open,
            asked: self.asked.clone(),
        })
    }

    pub fn action(&self) -> Action {
        self.decide().action
    }

    /// The start that is made, or a failed test.
    pub fn start(&self) -> Start {
        match self.action() {
            Action::Start(start) => start,
            other => panic!("expected a start, got {other:?}: {:?}", self.decide()),
        }
    }

    /// Nothing is done, and this is why.
    pub fn waits(&self, reason: Reason) {
        let decision = self.decide();
        assert_eq!(
            (decision.action.clone(), decision.reason),
            (Action::Nothing, reason),
            "{decision:?}"
        );
    }

    /// The permit is settled like this.
    pub fn settles(&self, state: PermitState) -> String {
        match self.action() {
            Action::SettlePermit { state: settled, message, .. } if settled == state => {
                message.map(|m| m.to_string()).unwrap_or_default()
            }
            other => panic!("expected the permit to be {state:?}, got {other:?}"),
        }
    }
}
