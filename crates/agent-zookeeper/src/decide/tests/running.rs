//! A server that runs.

use super::super::testing::*;
use super::super::*;
use palladion_api::member::RunState;
use palladion_api::service_member::{MemberServerState, ServerMode};
use palladion_api::zookeeper::{ServerId, Zxid};

fn ensemble() -> crate::read::Config {
    config(7 << 32, &[1, 2, 3], &[])
}

fn a_follower() -> World {
    a_member().runs(ServerMode::Follower, ensemble()).served()
}

/// A joiner says so, too, and one that was removed.
#[test]
fn that_a_server_follows_is_no_proof_that_it_votes() {
    let joiner = |config| a_joiner().runs(ServerMode::Follower, config).proven();
    assert_eq!(joiner(config(7 << 32, &[1, 3], &[])).action(), Action::Nothing);
    assert_eq!(joiner(config(7 << 32, &[1, 2], &[2])).action(), Action::Nothing);
    let votes = config(7 << 32, &[1, 2], &[]);
    assert_eq!(joiner(votes.clone()).action(), Action::RecordMember);
    let by_file = a_joiner().runs(ServerMode::Follower, votes.clone());
    assert_eq!(by_file.action(), Action::Nothing, "no session has proven it");
    let without = joiner(votes).with(|w| {
        w.reading.as_mut().unwrap().srvr = Some(crate::read::srvr::Srvr::NotServing);
    });
    assert_eq!(without.action(), Action::Nothing, "it has no quorum");
}

#[test]
fn the_first_sight_of_a_member_that_serves_is_noted_once_in_each_start() {
    let first = a_member().runs(ServerMode::Follower, ensemble());
    assert_eq!(first.action(), Action::RecordServed);
    assert_eq!(first.decision().state, MemberServerState::Starting);
    assert_eq!(first.served().action(), Action::Nothing);
}

/// It would go on to serve clients, and nobody counts it.
#[test]
fn a_member_that_is_missing_in_a_newer_configuration_is_noted_and_then_stopped() {
    let version = Zxid::new(8 << 32);
    let removed = a_member().runs(ServerMode::Follower, config(8 << 32, &[1, 3], &[])).served();
    assert_eq!(removed.action(), Action::RecordMissing { version });
    let noted = removed.with(|w| w.ledger().record_missing(version));
    assert_eq!(noted.action(), Action::Stop(StopWhy::Missing));
    assert_eq!(noted.decision().reason, Reason::NotInEnsemble);
}

#[test]
fn a_stale_twin_is_stopped() {
    let other = a_follower().with(|w| w.spec().volume_id = Some("v2".into()));
    assert_eq!(other.action(), Action::Stop(StopWhy::StaleTwin));
    let other = a_follower().with(|w| w.spec().server_id = Some(ServerId::new(4)));
    assert_eq!(other.action(), Action::Stop(StopWhy::StaleTwin));
}

#[test]
fn a_server_is_stopped_as_the_spec_says_and_terminated_after_a_note() {
    let stopped = a_follower().with(|w| w.spec().run = RunState::Stopped);
    assert_eq!(stopped.action(), Action::Stop(StopWhy::SpecSaysSo));
    let terminated = a_follower().with(|w| w.spec().run = RunState::Terminated);
    assert_eq!(terminated.action(), Action::Terminate);
    let noted = terminated.with(|w| w.ledger().terminate(POD.into()));
    assert_eq!(noted.action(), Action::Stop(StopWhy::Left));
    let unknown = a_follower().with(|w| {
        w.spec().run = RunState::Unknown(palladion_api::member::Word::new("Frozen"));
    });
    assert_eq!(unknown.action(), Action::Nothing);
    assert!(unknown.decision().message.unwrap().to_string().contains("spec.run"));
}

#[test]
fn a_new_restart_token_restarts_a_member_once_and_no_joiner() {
    let asked = a_follower().with(|w| w.spec().restart_token = Some("t1".into()));
    assert_eq!(asked.action(), Action::Stop(StopWhy::Restart));
    let done = asked.with(|w| w.ledger().restart_token = Some("t1".into()));
    assert_eq!(done.action(), Action::Nothing);
    let joiner = a_joiner()
        .runs(ServerMode::Follower, config(7 << 32, &[1], &[]))
        .with(|w| w.spec().restart_token = Some("t1".into()));
    assert_eq!(joiner.action(), Action::Nothing);
}

/// Nothing is written by us while the quorum is lost.
#[test]
fn a_member_without_a_quorum_is_left_alone_and_told() {
    let alone = a_follower().with(|w| {
        w.reading = Some(reading(None, ensemble()));
    });
    let decision = alone.decision();
    assert_eq!((decision.action, decision.state), (Action::Nothing, MemberServerState::Running));
    assert!(decision.message.unwrap().to_string().contains("no quorum"));
}

#[test]
fn a_stop_that_is_under_way_is_waited_for() {
    let stopping = a_follower().with(|w| {
        w.stopping = Some(StopWhy::Restart);
        w.spec().run = RunState::Terminated;
    });
    assert_eq!(stopping.action(), Action::Nothing);
    assert_eq!(stopping.decision().state, MemberServerState::Stopping);
}

#[test]
fn what_is_not_as_it_should_be_is_told() {
    let told = |mode, config| {
        let world = a_member().runs(mode, config).served();
        world.decision().message.map(|m| m.to_string()).unwrap_or_default()
    };
    assert_eq!(told(ServerMode::Leader, ensemble()), "");
    assert!(told(ServerMode::Standalone, ensemble()).contains("standalone"));
    assert!(told(ServerMode::Observer, config(7 << 32, &[1, 2], &[2])).contains("observer"));
    let silent = a_follower().with(|w| w.reading = None).decision();
    assert!(silent.message.unwrap().to_string().contains("not responding"));
}

#[test]
fn a_server_on_a_volume_that_tells_nothing_is_left_alone() {
    a_follower().with(|w| w.found.ledger = None).waits(Reason::VolumeForeign);
    let unknown = a_follower().with(|w| w.process = Process::Unknown("init is silent".into()));
    unknown.waits(Reason::FactUnknown);
}
