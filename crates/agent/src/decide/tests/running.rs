//! A server that runs.

use super::super::testing::*;
use super::super::*;
use crate::volume::ledger::Membership;
use crate::words::server::Running;
use palladion_api::ids::HostId;
use palladion_api::member::{RunState, Word};

#[test]
fn a_member_that_is_well_is_left_alone() {
    a_running_member().waits(Reason::Running);
    // A revision that is withdrawn stops no server, and neither does an API that is away.
    a_running_member().with(|w| w.spec().revisions.clear()).waits(Reason::Running);
    a_running_member().with(|w| w.source = Source::Saved).waits(Reason::Running);
    a_running_member().with(|w| w.spec = None).waits(Reason::Running);
}

#[test]
fn the_first_normal_is_recorded() {
    let joining = a_new_member()
        .membership(Membership::Joining { kind: PermitKind::Join, nonce: "n1".into() })
        .with(|w| w.ledger().use_permit(&"n1".into()))
        .permit(PermitKind::Join, DataBeforeStart::MustBeEmpty)
        .running("NORMAL");
    let expected = Action::RecordNormal { host_id: HOST.into(), address: ADDRESS.into() };
    let began = joining.with(|w| w.ledger().begin_start("t", "Join", &[], Timestamp::UNIX_EPOCH));
    assert_eq!(began.action(), expected);
    let deaf = began.with(|w| w.reading.as_mut().unwrap().host_id = None);
    assert_eq!(deaf.action(), Action::Nothing);
}

#[test]
fn the_stale_twin_is_stopped() {
    let twin = a_running_member().with(|w| w.spec().volume_id = Some("v2".into()));
    assert_eq!(twin.action(), Action::Stop(StopWhy::StaleTwin));
    // A permit for this volume is no less one because this agent does not know its kind.
    let kind = PermitKind::Unknown(Word::new("Rewind"));
    let permitted = twin.permit(kind, DataBeforeStart::Keep);
    assert!(permitted.settles(PermitState::Refused).contains("Rewind"));
}

/// It did not find its data, and would enter the ring as a new member without any.
#[test]
fn a_server_that_comes_up_as_somebody_else_is_stopped() {
    let runs_as = |world: World, host: &'static str| {
        world.with(|w| w.reading.as_mut().unwrap().host_id = Some(host.into())).action()
    };
    let stop = Action::RecordOther { host_id: "another".into() };
    assert_eq!(runs_as(a_running_member(), "another"), stop);
    let starting = a_joined_member().running("JOINING");
    assert_eq!(runs_as(starting, "another"), stop, "also before it is a member");
    assert_eq!(runs_as(a_running_member(), HOST), Action::Nothing);
    // Who joins has the one that it is given.
    let joining = Membership::Joining { kind: PermitKind::Join, nonce: "n1".into() };
    let joins = a_new_member().membership(joining).running("JOINING");
    assert_eq!(runs_as(joins, "another"), Action::Nothing);
}

/// The agent may end before the server that it stops has ended: then nobody sees why it did.
#[test]
fn that_a_server_came_up_as_somebody_else_is_noted_before_it_is_stopped() {
    let another: HostId = "another".into();
    let mut world =
        a_running_member().with(|w| w.reading.as_mut().unwrap().host_id = Some("another".into()));
    assert_eq!(world.action(), Action::RecordOther { host_id: another.clone() });
    world.ledger().came_up_as = Some(another);
    assert_eq!(world.action(), Action::Stop(StopWhy::OtherHostId));
    // The agent is killed here; its successor finds a server that is gone.
    let mut next = a_joined_member();
    next.ledger().came_up_as = Some("another".into());
    next.waits(Reason::VolumeDamaged);
}

#[test]
fn stopped_and_terminated_stop_the_server() {
    for run in [RunState::Stopped, RunState::Terminated] {
        let stopped = a_running_member().with(|w| w.spec().run = run);
        assert_eq!(stopped.action(), Action::Stop(StopWhy::SpecSaysSo));
    }
}

/// An agent stays for long beside a newer operator: it neither stops nor starts a
/// server by a word that it does not know, and says so.
#[test]
fn a_run_state_that_is_not_known_stops_and_starts_nothing() {
    let run = RunState::Unknown(Word::new("Hibernated"));
    let runs = a_running_member().with(|w| w.spec().run = run);
    runs.waits(Reason::Running);
    let said = runs.decide().message.map(|m| m.to_string()).unwrap_or_default();
    assert!(said.contains("spec.run"), "{said}");
    // Nor would it come back from a restart.
    runs.with(|w| w.spec().restart_token = Some("t1".into())).waits(Reason::Running);
    let stopped = a_joined_member().with(|w| w.spec().run = run);
    stopped.waits(Reason::WaitingForMember);
    let said = stopped.decide().message.map(|m| m.to_string()).unwrap_or_default();
    assert!(said.contains("run: Hibernated"), "{said}");
}

#[test]
fn a_restart_token_restarts_once() {
    let token = a_running_member().with(|w| w.spec().restart_token = Some("t1".into()));
    assert_eq!(token.action(), Action::Stop(StopWhy::Restart));
    let stopping = token.clone().with(|w| w.stopping = Some(StopWhy::Restart));
    assert_eq!(stopping.action(), Action::Nothing);
    assert_eq!(stopping.decide().state, ServerState::Stopping);
    // Its start has noted the token.
    token.with(|w| w.ledger().restart_token = Some("t1".into())).waits(Reason::Running);
}

#[test]
fn a_join_is_not_interrupted_by_a_restart_token() {
    let joining = a_new_member()
        .membership(Membership::Joining { kind: PermitKind::Join, nonce: "n1".into() })
        .with(|w| w.ledger().use_permit(&"n1".into()))
        .permit(PermitKind::Join, DataBeforeStart::MustBeEmpty)
        .with(|w| w.spec().restart_token = Some("t1".into()))
        .running("JOINING");
    joining.waits(Reason::Starting);
}

#[test]
fn a_join_that_failed_inside_the_server_is_ended() {
    let failed = a_new_member()
        .membership(Membership::Joining { kind: PermitKind::Join, nonce: "n1".into() })
        .with(|w| w.ledger().use_permit(&"n1".into()))
        .permit(PermitKind::Join, DataBeforeStart::MustBeEmpty)
        .running("JOINING_FAILED");
    assert_eq!(failed.action(), Action::Stop(StopWhy::JoinFailed));
}

#[test]
fn a_server_that_does_not_answer_is_left_alone_and_told() {
    let silent = a_running_member().with(|w| w.reading = None);
    silent.waits(Reason::Running);
    assert_eq!(silent.decide().message, Some(Running::Silent.into()));
}

#[test]
fn another_host_id_than_the_ledgers_is_told() {
    let other =
        a_running_member().with(|w| w.reading.as_mut().unwrap().host_id = Some("h9".into()));
    assert!(other.decide().message.unwrap().to_string().contains("h9"));
}

#[test]
fn a_container_that_ends_leaves_the_stop_to_init() {
    let ending = a_running_member().with(|w| {
        w.container = Phase::Ending;
        w.spec().run = RunState::Stopped;
    });
    assert_eq!(ending.action(), Action::Nothing);
    assert_eq!(ending.decide().state, ServerState::Stopping);
}

#[test]
fn a_successor_is_no_twin_before_its_volume_is_recorded() {
    let successor = a_running_member().with(|w| {
        w.found.marker = Some("v2".into());
        w.ledger().volume_id = "v2".into();
        w.ledger().successor_of = Some(VOLUME.into());
    });
    successor.waits(Reason::Running);
    let recorded = successor.clone().with(|w| w.spec().volume_id = Some("v2".into()));
    recorded.waits(Reason::Running);
    let third = successor.with(|w| w.spec().volume_id = Some("v3".into()));
    assert_eq!(third.action(), Action::Stop(StopWhy::StaleTwin));
}

#[test]
fn a_join_or_leave_that_hangs_is_reported_and_nothing_is_done_about_it() {
    let leaving = a_running_member().with(|w| {
        let reading = w.reading.as_mut().unwrap();
        reading.mode = Some("LEAVING".into());
        reading.figures.streamed = Some(0.0);
        w.progress = Progress::after(None, Some(reading), Timestamp::UNIX_EPOCH);
    });
    leaving.waits(Reason::NoProgress);
    let just_now = leaving.with(|w| {
        let reading = w.reading.as_ref().unwrap();
        w.progress = Progress::after(None, Some(reading), w.now);
    });
    just_now.waits(Reason::Running);
}
