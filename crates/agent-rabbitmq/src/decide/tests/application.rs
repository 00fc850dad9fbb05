//! The intent to stop the application, with the virtual machine alive.

use super::super::testing::*;
use super::super::*;
use crate::volume::ledger::App;
use palladion_api::member::IntentState;
use palladion_api::service_member::ServiceIntentKind as Kind;

const THREE: [&str; 3] = ["a", "b", "c"];

fn running() -> World {
    a_member().runs(&THREE, &THREE).served()
}

#[test]
fn it_is_noted_before_the_application_is_stopped() {
    let told = running().intent(Kind::StopApp, "n7");
    assert_eq!(told.action(), Action::BeginStopApp { nonce: "n7".into() });
    let noted = told.app_stopped(IntentState::Running);
    assert_eq!(noted.action(), Action::Work(Work::StopApp));
    let busy = noted.clone().with(|w| w.work = WorkFact::Busy);
    assert_eq!(busy.action(), Action::Nothing);
    busy.says("is being stopped");
}

/// An agent that was started anew finds it under way.
#[test]
fn it_is_kept_so_while_the_intent_stands() {
    let done = running().intent(Kind::StopApp, "n7").app_stopped(IntentState::Done);
    assert_eq!(done.action(), Action::Nothing);
    done.says("its virtual machine runs");
    let saved = done.clone().with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Nothing);
    let asked = done.clone().with(|w| w.spec().restart_token = Some("t1".into()));
    assert_eq!(asked.action(), Action::Nothing, "its virtual machine is to stay alive");
    let ended = done.with(|w| w.process = Process::Absent);
    ended.waits(Reason::StoppedByIntent);
    ended.with(|w| w.source = Source::Saved).waits(Reason::WaitingForMember);
}

/// Its virtual machine was killed, or its pod deleted, while it drained: the work has ended
/// with it, and nobody else would ever say that it is done.
#[test]
fn a_node_that_ends_while_its_application_is_being_stopped_has_stopped_it() {
    let open = running().intent(Kind::StopApp, "n7").app_stopped(IntentState::Running);
    let ended = open.with(|w| w.process = Process::Absent);
    let done = |nonce: &'static str| Action::SettleIntent {
        nonce: nonce.into(),
        state: IntentState::Done,
        message: None,
    };
    assert_eq!(ended.action(), done("n7"));
    let another = ended.clone().intent(Kind::StopApp, "n8");
    assert_eq!(another.action(), done("n8"), "it is not started for it, and would wait for ever");
    let saved = ended.clone().with(|w| w.source = Source::Saved);
    saved.waits(Reason::WaitingForMember);
    let withdrawn = ended.with(|w| w.spec().intent = None);
    assert_eq!(withdrawn.start().entry, Entry::Plain);
}

#[test]
fn it_is_started_again_when_the_intent_is_withdrawn() {
    let withdrawn = running().app_stopped(IntentState::Done);
    assert_eq!(withdrawn.action(), Action::Work(Work::StartApp));
    withdrawn.says("being started again");
    let ended = withdrawn.clone().with(|w| w.process = Process::Absent);
    assert_eq!(ended.start().entry, Entry::Plain);
    let unknown = withdrawn.with(|w| w.source = Source::Saved);
    assert_eq!(unknown.action(), Action::Nothing, "nobody has said so");
}

#[test]
fn a_leave_that_follows_stops_the_node_for_good() {
    let stopped = running().app_stopped(IntentState::Done).intent(Kind::Leave, "n8");
    assert_eq!(stopped.action(), Action::BeginLeave { nonce: "n8".into() });
    // Also where the application was not noted as stopped yet.
    let open = running().app_stopped(IntentState::Running).intent(Kind::Leave, "n8");
    assert_eq!(open.action(), Action::BeginLeave { nonce: "n8".into() });
    let left = stopped.with(|w| w.ledger().begin_leave(&"n8".into(), Timestamp::UNIX_EPOCH));
    assert_eq!(left.action(), Action::Stop(StopWhy::Left));
}

#[test]
fn it_is_for_one_volume_and_for_a_node_that_runs() {
    let other = running().intent(Kind::StopApp, "n7").with(|w| {
        w.spec().intent.as_mut().unwrap().volume_id = "v0".into();
    });
    let Action::SettleIntent { state, message, .. } = other.action() else {
        panic!("it is refused");
    };
    assert_eq!(state, IntentState::Refused);
    assert!(message.unwrap().to_string().contains("expected volume v0"));
    // One that does not run starts first: with its virtual machine dead it is none that the
    // others could count.
    let absent = a_member().intent(Kind::StopApp, "n7");
    assert_eq!(absent.start().entry, Entry::Plain);
    let saved = running().intent(Kind::StopApp, "n7").with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Nothing);
    assert!(saved.clone().ledger().app == App::Runs);
}
