//! A node that runs: stopped, noted, told.

use super::super::testing::*;
use super::super::*;
use crate::launch::credentials::Logins;
use crate::read::reading::Access;
use crate::volume::cookie::Comparison;
use palladion_api::member::RunState;
use palladion_api::service_member::ServicePermitKind;

const THREE: [&str; 3] = ["a", "b", "c"];

fn running() -> World {
    a_member().runs(&THREE, &THREE).served()
}

#[test]
fn a_node_of_another_volume_or_name_is_stopped() {
    let other = running().with(|w| w.spec().volume_id = Some("v0".into()));
    assert_eq!(other.action(), Action::Stop(StopWhy::StaleTwin));
    let named = running().with(|w| w.spec().node_name = Some(node("b")));
    assert_eq!(named.action(), Action::Stop(StopWhy::StaleTwin));
}

#[test]
fn it_is_stopped_if_the_spec_says_so_and_for_good_noted_first() {
    let stopped = running().with(|w| w.spec().run = RunState::Stopped);
    assert_eq!(stopped.action(), Action::Stop(StopWhy::SpecSaysSo));
    let ended = running().with(|w| w.spec().run = RunState::Terminated);
    assert_eq!(ended.action(), Action::Terminate);
    let noted = ended.with(|w| w.ledger().terminate(POD.into()));
    assert_eq!(noted.action(), Action::Stop(StopWhy::Left));
}

#[test]
fn a_restart_is_made_once_and_interrupts_no_work() {
    let asked = running().with(|w| w.spec().restart_token = Some("t1".into()));
    assert_eq!(asked.action(), Action::Stop(StopWhy::Restart));
    let busy = asked.clone().with(|w| w.work = WorkFact::Busy);
    assert_eq!(busy.action(), Action::Nothing);
    let made = asked.with(|w| w.ledger().restart_token = Some("t1".into()));
    assert_eq!(made.action(), Action::Nothing);
}

/// RabbitMQ may refuse it for good, and it would be tried for ever.
#[test]
fn a_restart_comes_before_a_virtual_host_that_is_not_there() {
    let asked = running().with(|w| {
        w.vhost = VhostFact::NotLooked;
        w.spec().restart_token = Some("t1".into());
    });
    assert_eq!(asked.action(), Action::Stop(StopWhy::Restart));
}

#[test]
fn nothing_is_begun_while_it_is_being_stopped() {
    let stopping = running().with(|w| {
        w.stopping = Some(StopWhy::Restart);
        w.spec().run = RunState::Terminated;
    });
    assert_eq!(stopping.action(), Action::Nothing);
    running().with(|w| w.container = Phase::Ending).waits(Reason::StoppedByIntent);
}

#[test]
fn a_user_that_the_node_does_not_know_is_made_again() {
    let denied = running().with(|w| {
        w.reading = Some(Reading { access: Access::Denied, ..Reading::default() });
    });
    assert_eq!(denied.action(), Action::Work(Work::MakeUser));
    denied.says("agent's user");
    let busy = denied.with(|w| w.work = WorkFact::Busy);
    assert_eq!(busy.action(), Action::Nothing);
}

/// A cluster that was created again over kept volumes may ask for another one than they have.
#[test]
fn the_virtual_host_of_the_cluster_is_looked_for_once_after_each_start() {
    let started = running().with(|w| w.vhost = VhostFact::NotLooked);
    assert_eq!(started.action(), Action::Work(Work::MakeVhost));
    let with = |change: fn(&mut World)| started.clone().with(change).action();
    assert_eq!(with(|w| w.vhost = VhostFact::Present), Action::Nothing);
    assert_eq!(with(|w| w.work = WorkFact::Busy), Action::Nothing);
    assert_eq!(with(|w| w.reading = Some(closed(&THREE, &THREE))), Action::Nothing);
    let without = Present { cookie: Comparison::Fits, logins: Logins::Missing };
    let without = started.clone().with(|w| w.credentials = Some(without));
    assert_eq!(without.action(), Action::Nothing, "nobody knows whose rights they are");
}

#[test]
fn another_cookie_in_the_secret_is_said_also_while_a_node_starts() {
    let differs = |world: World| {
        let cookie = Comparison::Differs;
        world.with(|w| w.credentials = Some(Present { cookie, logins: Logins::Present }))
    };
    let says = |world: &World| world.decision().reason;
    let joiner = a_joiner(ServicePermitKind::Join);
    assert_eq!(says(&joiner), Reason::Starting);
    assert_eq!(says(&differs(joiner)), Reason::CookieDiffers);
    let silent = a_member().runs(&THREE, &THREE).with(|w| w.reading = None);
    assert_eq!(says(&silent), Reason::Starting);
    assert_eq!(says(&differs(silent.clone())), Reason::CookieDiffers);
    let tables = silent.with(|w| w.sign = Sign::Tables { nodes: vec![node("c")] });
    assert_eq!(says(&differs(tables)), Reason::WaitingForTables, "it reaches the others");
}

#[test]
fn what_is_amiss_is_told() {
    let with = |reading| running().with(|w| w.reading = Some(reading));
    with(reading(&THREE, &["b", "c"])).says("does not run as a member");
    with(closed(&THREE, &THREE)).says("accepts no clients");
    running().with(|w| w.reading = None).says("not responding");
    let paused = running().with(|w| (w.reading, w.sign) = (None, Sign::Paused));
    paused.says("no majority");
    let differs = running().with(|w| {
        let cookie = Comparison::Differs;
        w.credentials = Some(Present { cookie, logins: Logins::Present });
    });
    differs.waits(Reason::CookieDiffers);
    running().waits(Reason::Running);
}

/// It waits as long as it takes, and nobody forces it (R7).
#[test]
fn a_node_that_waits_for_tables_names_whom_it_waits_for() {
    let booting = |sign| {
        a_member().runs(&THREE, &THREE).with(|w| {
            w.reading = None;
            w.sign = sign;
        })
    };
    let named = booting(Sign::Tables { nodes: vec![node("c")] });
    named.waits(Reason::WaitingForTables);
    named.says("rabbit@c");
    booting(Sign::Tables { nodes: Vec::new() }).waits(Reason::WaitingForTables);
    booting(Sign::None).waits(Reason::Starting);
}

#[test]
fn a_node_whose_volume_tells_nothing_is_left_alone() {
    let unreadable = running().with(|w| w.found.ledger = None);
    unreadable.waits(Reason::VolumeForeign);
}
