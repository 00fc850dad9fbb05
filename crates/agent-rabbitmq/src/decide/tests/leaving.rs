//! Who leaves: noted, stopped, settled, in that order.

use super::super::testing::*;
use super::super::*;
use crate::volume::ledger::Membership;
use palladion_api::member::IntentState;
use palladion_api::service_member::ServiceIntentKind as Kind;

fn told_to_leave() -> World {
    a_member().runs(&["a", "b", "c"], &["a", "b", "c"]).served().intent(Kind::Leave, "n5")
}

#[test]
fn a_leave_is_noted_before_the_node_is_stopped_and_done_when_it_has_ended() {
    let told = told_to_leave();
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
    let other = told_to_leave().with(|w| {
        w.spec().intent.as_mut().unwrap().volume_id = "v0".into();
    });
    let Action::SettleIntent { state, .. } = other.action() else { panic!("it is refused") };
    assert_eq!(state, IntentState::Refused);
    let saved = told_to_leave().with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Nothing);
}

#[test]
fn who_has_left_is_done_at_once_and_nothing_starts_again() {
    let left = told_to_leave().with(|w| {
        w.process = Process::Absent;
        w.ledger().membership = Membership::Left;
    });
    let done = Action::SettleIntent { nonce: "n5".into(), state: IntentState::Done, message: None };
    assert_eq!(left.action(), done);
}
