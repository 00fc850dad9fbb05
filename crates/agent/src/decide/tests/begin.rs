//! What was given under a region lock is asked about before it is begun, and an answer is good
//! for 15 s.

use super::super::testing::*;
use super::super::*;
use jiff::SignedDuration;
use palladion_api::member::{BeginAnswer, MemberState};

fn permitted() -> World {
    a_new_member().permit(PermitKind::Join, DataBeforeStart::MustBeEmpty).with(|w| {
        let permit = w.spec().start.as_mut().expect("a permit");
        permit.lock_token = Some("7-a".into());
    })
}

fn leaving() -> World {
    a_running_member().intent().with(|w| {
        w.spec().intent.as_mut().expect("an intent").lock_token = Some("7-a".into());
    })
}

/// It has asked so long ago.
fn asked(world: World, of: &'static str, seconds: i64) -> World {
    world.with(|w| {
        let age = SignedDuration::from_secs(seconds);
        w.asked = Some(Asked { nonce: "q1".into(), of: of.into(), age });
    })
}

fn answered(world: World, nonce: &'static str) -> World {
    world.with(|w| w.spec().begin = Some(BeginAnswer { nonce: nonce.into() }))
}

#[test]
fn a_permit_under_a_lock_is_asked_about_first() {
    assert_eq!(permitted().action(), Action::AskBegin { of: "n1".into() });
    asked(permitted(), "n1", 1).waits(Reason::WaitingForRegion);
    assert!(matches!(answered(asked(permitted(), "n1", 14), "q1").action(), Action::Start(_)));
}

#[test]
fn an_answer_is_void_after_its_time_and_never_for_another_question() {
    let late = answered(asked(permitted(), "n1", 15), "q1");
    assert_eq!(late.action(), Action::AskBegin { of: "n1".into() }, "it asks once more");
    answered(asked(permitted(), "n1", 1), "q0").waits(Reason::WaitingForRegion);
    let of_another = answered(asked(permitted(), "n0", 1), "q1");
    assert_eq!(of_another.action(), Action::AskBegin { of: "n1".into() });
}

#[test]
fn an_answer_from_the_saved_spec_is_none() {
    let saved = answered(asked(leaving(), "i1", 1), "q1").with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Nothing);
}

#[test]
fn an_intent_under_a_lock_is_asked_about_first() {
    assert_eq!(leaving().action(), Action::AskBegin { of: "i1".into() });
    assert_eq!(asked(leaving(), "i1", 1).action(), Action::Nothing);
    let may = answered(asked(leaving(), "i1", 1), "q1");
    assert_eq!(may.action(), Action::Leave { nonce: "i1".into() });
}

/// The rest of a leave that has failed half-way is begun no sooner than a first one.
#[test]
fn a_leave_that_is_taken_up_again_under_a_lock_is_asked_about_first() {
    for mode in ["LEAVING", "DECOMMISSION_FAILED"] {
        let again = || {
            leaving().with(|w| {
                let reading = w.reading.as_mut().unwrap();
                reading.mode = Some(mode.into());
                reading.members = Some(vec![itself(MemberState::Leaving)]);
            })
        };
        assert_eq!(again().action(), Action::AskBegin { of: "i1".into() }, "{mode}");
        assert_eq!(asked(again(), "i1", 1).action(), Action::Nothing, "{mode}");
        let may = answered(asked(again(), "i1", 1), "q1");
        assert_eq!(may.action(), Action::Leave { nonce: "i1".into() }, "{mode}");
    }
}

#[test]
fn what_is_given_without_a_lock_is_begun_at_once() {
    let plain = a_new_member().permit(PermitKind::Join, DataBeforeStart::MustBeEmpty);
    assert!(matches!(plain.action(), Action::Start(_)));
    assert_eq!(a_running_member().intent().action(), Action::Leave { nonce: "i1".into() });
}
