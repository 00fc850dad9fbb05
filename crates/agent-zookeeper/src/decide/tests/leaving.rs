//! Who leaves: noted, stopped, settled, in that order.

use super::super::testing::*;
use super::super::*;
use crate::volume::ledger::Membership;
use palladion_api::member::IntentState;
use palladion_api::service_member::{ServerMode, ServiceIntent, ServiceIntentKind};

fn told_to_leave(volume: &'static str) -> World {
    a_member().runs(ServerMode::Follower, config(8 << 32, &[1, 3], &[])).served().with(|w| {
        // The others have taken it out already.
        w.reading = Some(reading(Some(ServerMode::Follower), config(7 << 32, &[1, 2, 3], &[])));
        w.spec().intent = Some(ServiceIntent {
            kind: ServiceIntentKind::Leave,
            nonce: "n5".into(),
            volume_id: volume.into(),
        });
    })
}

#[test]
fn a_leave_is_noted_before_the_server_is_stopped_and_done_when_it_has_ended() {
    let told = told_to_leave(VOLUME);
    assert_eq!(told.action(), Action::BeginLeave { nonce: "n5".into() });
    let noted = told.with(|w| w.ledger().begin_leave(&"n5".into(), Timestamp::UNIX_EPOCH));
    assert_eq!(noted.action(), Action::Stop(StopWhy::Left));
    let ended = noted.with(|w| w.process = Process::Absent);
    let done = Action::SettleIntent { nonce: "n5".into(), state: IntentState::Done, message: None };
    assert_eq!(ended.action(), done);
    let settled = ended.with(|w| {
        w.ledger().set_intent(&"n5".into(), IntentState::Done, None, Timestamp::UNIX_EPOCH);
    });
    settled.waits(Reason::Decommissioned);
}

#[test]
fn a_leave_is_for_one_volume_and_read_live() {
    let Action::SettleIntent { state, message, .. } = told_to_leave("v0").action() else {
        panic!("it is refused");
    };
    assert_eq!(state, IntentState::Refused);
    assert!(message.unwrap().to_string().contains("expected volume v0"));
    let saved = told_to_leave(VOLUME).with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Nothing);
}

#[test]
fn a_leave_in_words_that_are_not_known_is_refused() {
    let unknown = told_to_leave(VOLUME).with(|w| {
        let word = palladion_api::member::Word::new("Hide");
        w.spec().intent.as_mut().unwrap().kind = ServiceIntentKind::Unknown(word);
    });
    let Action::SettleIntent { state, .. } = unknown.action() else { panic!("it is refused") };
    assert_eq!(state, IntentState::Refused);
}

#[test]
fn who_has_left_is_done_at_once_and_nothing_starts_again() {
    let left = told_to_leave(VOLUME).with(|w| {
        w.process = Process::Absent;
        w.ledger().membership = Membership::Left;
    });
    let done = Action::SettleIntent { nonce: "n5".into(), state: IntentState::Done, message: None };
    assert_eq!(left.action(), done);
}
