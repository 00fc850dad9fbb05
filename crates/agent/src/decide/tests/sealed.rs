//! The sealed start: who is started so, what ends it, and what it waits for.

use super::super::seal::{Keys, Seal};
use super::super::testing::*;
use super::super::*;
use crate::render::Door;
use crate::volume::ledger::Membership;
use crate::volume::roles::Roles;
use crate::words::start::Waiting;

use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::{Guard, Liveness, MemberState, RingMember};

use DataBeforeStart::{Keep, MustBeEmpty};

fn asks(lacks: Option<Waiting>) -> Seal {
    Seal { guards: vec![Guard::Password], running: None, lacks }
}

fn sealed(keys: Keys) -> Seal {
    Seal { running: Some(keys), ..asks(None) }
}

/// A sealed server that is a full member: for others its native transport is down.
fn a_sealed_member(roles: Roles, keys: Keys) -> World {
    a_running_member().with(|w| {
        w.found.note.roles = roles;
        w.seal = sealed(keys);
        let own = w.found.ledger.as_ref().and_then(|ledger| ledger.host_id.clone());
        let reading = w.reading.as_mut().unwrap();
        reading.native_transport = Some(false);
        reading.members = Some(own.iter().map(member).collect());
    })
}

/// As others see it.
fn member(host_id: &HostId) -> RingMember {
    RingMember {
        host_id: host_id.clone(),
        address: StaticAddress::new("10.96.0.11"),
        liveness: Liveness::Up,
        state: MemberState::Normal,
        datacenter: None,
        version: None,
    }
}

#[test]
fn a_ring_that_asks_for_passwords_is_initialized_sealed() {
    let first = a_new_member().permit(PermitKind::Initialize, MustBeEmpty);
    assert_eq!(first.start().identity.door, Door::Open, "this one asks nobody");
    let asking = first.with(|w| w.seal = asks(None));
    assert_eq!(asking.start().identity.door, Door::Sealed);
    let join = a_new_member().permit(PermitKind::Join, MustBeEmpty);
    assert_eq!(join.with(|w| w.seal = asks(None)).start().identity.door, Door::Open);
}

#[test]
fn until_the_roles_are_made_every_start_is_sealed() {
    for (roles, door) in [
        (Roles::NotNoted, Door::Sealed),
        (Roles::Sealing, Door::Sealed),
        (Roles::Made, Door::Open),
        (Roles::Unreadable, Door::Open),
    ] {
        let again = a_joined_member().with(|w| {
            w.seal = asks(None);
            w.found.note.roles = roles;
        });
        assert_eq!(again.start().identity.door, door, "{roles:?}");
        // With the API server away, too.
        let away = again.with(|w| w.source = Source::Saved);
        assert_eq!(away.start().identity.door, door, "{roles:?}");
    }
}

/// Its first server has made the superuser that everybody knows.
#[test]
fn a_member_that_asked_nobody_is_started_sealed_before_it_asks() {
    let open = a_joined_member();
    assert_eq!(open.start().identity.door, Door::Open, "nobody is asked");
    let asking = open.with(|w| w.seal = asks(None));
    assert_eq!(asking.start().identity.door, Door::Sealed);
    let asked_for_long = asking.with(|w| {
        w.found.note.floor = Some(vec![Guard::Password]);
    });
    assert_eq!(asked_for_long.start().identity.door, Door::Open, "an older agent noted no roles");
}

#[test]
fn a_start_that_failed_in_the_seal_is_sealed_again() {
    let kind = PermitKind::Initialize;
    let failed = a_new_member()
        .membership(Membership::Joining { kind, nonce: "n0".into() })
        .data()
        .with(|w| w.found.note.roles = Roles::Made)
        .permit(kind, Keep);
    assert_eq!(failed.with(|w| w.seal = asks(None)).start().identity.door, Door::Sealed);
}

#[test]
fn nobody_is_started_sealed_without_the_users_that_are_to_be_made() {
    for lacks in [Waiting::NoAgentsSecret, Waiting::NoSuperuserSecret] {
        let seal = asks(Some(lacks.clone()));
        let first = a_new_member().permit(PermitKind::Initialize, MustBeEmpty);
        first.with(|w| w.seal = seal.clone()).waits(Reason::CredentialsMissing);
        // A full member has what others read: it waits inside of its seal.
        for roles in [Roles::NotNoted, Roles::Sealing] {
            let again = a_joined_member().with(|w| {
                w.seal = seal.clone();
                w.found.note.roles = roles;
            });
            assert_eq!(again.start().identity.door, Door::Sealed, "{roles:?}");
        }
        // Whoever has its roles needs no Secret to serve.
        let made = a_joined_member().with(|w| {
            w.seal = seal.clone();
            w.found.note.roles = Roles::Made;
        });
        assert_eq!(made.start().identity.door, Door::Open);
    }
}

#[test]
fn a_sealed_server_is_stopped_once_the_roles_are_made() {
    assert_eq!(a_sealed_member(Roles::Sealing, Keys::Held).action(), Action::Nothing);
    let made = a_sealed_member(Roles::Made, Keys::Held);
    assert_eq!(made.action(), Action::Stop(StopWhy::SealEnds));
    let early =
        made.membership(Membership::Joining { kind: PermitKind::Initialize, nonce: "n1".into() });
    assert_eq!(early.action(), Action::Nothing, "it is not on record yet who it is");
}

#[test]
fn a_sealed_server_whose_keys_are_lost_is_started_again() {
    let lost = a_sealed_member(Roles::Sealing, Keys::Lost);
    assert_eq!(lost.action(), Action::Stop(StopWhy::SealLost));
    let early = lost
        .clone()
        .membership(Membership::Joining { kind: PermitKind::Initialize, nonce: "n1".into() });
    assert_eq!(early.action(), Action::Nothing, "its permit would have failed");
    let stopping = lost.with(|w| w.stopping = Some(StopWhy::SealLost));
    assert_eq!(stopping.decide().state, ServerState::Stopping);
}

/// What it has is read and written by others: it is restarted in its turn.
#[test]
fn a_sealed_member_among_others_runs_until_it_is_restarted() {
    for (roles, keys) in [(Roles::Made, Keys::Held), (Roles::Sealing, Keys::Lost)] {
        let among = a_sealed_member(roles, keys).with(|w| {
            let reading = w.reading.as_mut().unwrap();
            reading.members.as_mut().unwrap().push(member(&HostId::new("other")));
        });
        let decision = among.decide();
        assert_eq!((decision.action, decision.state), (Action::Nothing, ServerState::Running));
        let unknown = among.clone().with(|w| w.reading.as_mut().unwrap().members = None);
        assert_eq!(unknown.action(), Action::Nothing, "there may be others");
        let restarted = among.with(|w| w.spec().restart_token = Some("seal=1".into()));
        assert_eq!(restarted.action(), Action::Stop(StopWhy::Restart));
    }
}

#[test]
fn a_sealed_server_has_not_started_yet_and_settles_no_permit() {
    let sealed = a_sealed_member(Roles::Sealing, Keys::Held)
        .permit(PermitKind::Initialize, MustBeEmpty)
        .with(|w| w.ledger().use_permit(&"n1".into()));
    let decision = sealed.decide();
    assert_eq!((decision.action, decision.state), (Action::Nothing, ServerState::Starting));
    let opened = sealed.with(|w| {
        w.seal = asks(None);
        w.found.note.roles = Roles::Made;
        w.reading.as_mut().unwrap().native_transport = Some(true);
    });
    opened.settles(PermitState::Done);
}

#[test]
fn nobody_is_started_without_what_is_noted() {
    let floor = || Some(vec![Guard::Password, Guard::InternodeTls]);
    let noted = a_joined_member().with(|w| w.found.note.floor = floor());
    noted.waits(Reason::SecurityLowered);
    let said = noted.decide().message.unwrap().to_string();
    assert!(said.contains("`auth`") && said.contains("`tls.internode`"), "{said}");
    let half = noted.clone().with(|w| w.seal = asks(None));
    half.waits(Reason::SecurityLowered);
    let whole = noted.clone().with(|w| {
        w.seal.guards = vec![Guard::Password, Guard::ClientTls, Guard::InternodeTls];
    });
    whole.start();
    // Whoever joins has nothing noted.
    a_joined_member().start();
}

#[test]
fn what_the_operator_says_goes_before_what_is_noted() {
    let noted = a_joined_member().with(|w| w.found.note.floor = Some(vec![Guard::Password]));
    let lowered = noted.with(|w| w.spec().security_floor = Some(Vec::new()));
    lowered.start();
    let raised = a_joined_member().with(|w| w.spec().security_floor = Some(vec![Guard::ClientTls]));
    raised.waits(Reason::SecurityLowered);
    let newer = Guard::Unknown(palladion_api::member::Word::new("Audit"));
    let unknown = a_joined_member().with(|w| w.spec().security_floor = Some(vec![newer]));
    unknown.start();
}
