//! Leaving the ring, and never coming back by accident.

use super::super::testing::*;
use super::super::*;
use crate::volume::ledger::Membership;
use palladion_api::member::{IntentKind, MemberState, Word};

fn leaving_ledger(world: World) -> World {
    world.membership(Membership::Leaving { nonce: "i1".into() }).with(|w| {
        w.ledger().set_intent(&"i1".into(), IntentState::Running, None, Timestamp::UNIX_EPOCH);
    })
}

fn leaving(mode: &str) -> World {
    let mut world = leaving_ledger(a_running_member().intent());
    world.reading.as_mut().unwrap().mode = Some(mode.into());
    world.leave_call = LeaveCall::UnderWay;
    world
}

fn settled(world: &World) -> (IntentState, Then) {
    match world.action() {
        Action::SettleIntent { state, then, .. } => (state, then),
        other => panic!("expected the intent to be settled, got {other:?}"),
    }
}

#[test]
fn an_intent_for_this_host_id_and_volume_is_carried_out() {
    assert_eq!(a_running_member().intent().action(), Action::Leave { nonce: "i1".into() });
}

#[test]
fn an_intent_for_another_host_id_or_volume_is_refused() {
    let host = a_running_member()
        .intent()
        .with(|w| w.spec().intent.as_mut().unwrap().host_id = "h0".into());
    assert_eq!(settled(&host), (IntentState::Refused, Then::Unchanged));
    let volume = a_running_member()
        .intent()
        .with(|w| w.spec().intent.as_mut().unwrap().volume_id = "v0".into());
    assert_eq!(settled(&volume), (IntentState::Refused, Then::Unchanged));
    let new = a_new_member().intent();
    assert_eq!(settled(&new), (IntentState::Refused, Then::Unchanged));
}

/// An agent stays for long beside a newer operator.
#[test]
fn an_intent_that_is_not_known_is_refused_and_nobody_leaves() {
    let intent = |w: &mut World| {
        w.spec().intent.as_mut().unwrap().kind = IntentKind::Unknown(Word::new("Move"));
    };
    let asked = a_running_member().intent().with(intent);
    assert_eq!(settled(&asked), (IntentState::Refused, Then::Unchanged));
    // A leave that is under way is not ended by it.
    let leaving = leaving("LEAVING").with(|w| {
        intent(w);
        w.spec().intent.as_mut().unwrap().nonce = "i2".into();
    });
    assert_eq!(leaving.action(), Action::Nothing);
}

#[test]
fn an_intent_is_settled_once_and_read_live_only() {
    let refused = a_running_member().intent().with(|w| {
        w.ledger().set_intent(&"i1".into(), IntentState::Refused, None, Timestamp::UNIX_EPOCH)
    });
    refused.waits(Reason::Running);
    a_running_member().intent().with(|w| w.source = Source::Saved).waits(Reason::Running);
}

#[test]
fn a_leave_under_way_is_waited_for() {
    leaving("NORMAL").waits(Reason::Running);
    leaving("LEAVING").waits(Reason::Running);
}

#[test]
fn decommissioned_is_done_and_then_the_server_is_stopped_for_good() {
    assert_eq!(settled(&leaving("DECOMMISSIONED")), (IntentState::Done, Then::Left));
    let left = a_running_member().membership(Membership::Left);
    assert_eq!(left.action(), Action::Stop(StopWhy::Decommissioned));
}

#[test]
fn a_refused_leave_leaves_a_full_member() {
    for mode in ["NORMAL", "DECOMMISSION_FAILED"] {
        let refused = leaving(mode).with(|w| w.leave_call = LeaveCall::Answered(Err("RF".into())));
        assert_eq!(settled(&refused), (IntentState::Failed, Then::Joined), "{mode}");
    }
}

#[test]
fn a_leave_that_failed_half_way_stays_a_leave() {
    let failed =
        leaving("LEAVING").with(|w| w.leave_call = LeaveCall::Answered(Err("streams".into())));
    assert_eq!(settled(&failed), (IntentState::Failed, Then::Unchanged));
    // Whatever the mode: what it sees of itself counts.
    for mode in ["NORMAL", "DECOMMISSION_FAILED"] {
        let still = leaving(mode).with(|w| {
            w.leave_call = LeaveCall::Answered(Err("streams".into()));
            w.reading.as_mut().unwrap().members = Some(vec![itself(MemberState::Leaving)]);
        });
        assert_eq!(settled(&still), (IntentState::Failed, Then::Unchanged), "{mode}");
    }
}

#[test]
fn who_no_longer_sees_itself_has_left_whatever_failed_afterwards() {
    let nobody = |w: &mut World| w.reading.as_mut().unwrap().members = Some(vec![]);
    let unread = |w: &mut World| w.reading.as_mut().unwrap().host_id = None;
    for change in [nobody, unread] {
        let failed = leaving("DECOMMISSION_FAILED").with(change);
        assert_eq!(
            failed.reading.as_ref().unwrap().reported_mode().unwrap(),
            "DECOMMISSION_FAILED"
        );
        let answered = failed.with(|w| w.leave_call = LeaveCall::Answered(Err("late".into())));
        assert_eq!(settled(&answered), (IntentState::Failed, Then::Unchanged));
    }
}

#[test]
fn a_leave_that_failed_half_way_is_taken_up_again_by_a_new_intent() {
    for mode in ["LEAVING", "DECOMMISSION_FAILED"] {
        let failed = leaving(mode).with(|w| {
            w.leave_call = LeaveCall::Answered(Err("streams".into()));
            w.ledger().intent.as_mut().unwrap().state = IntentState::Failed;
            w.reading.as_mut().unwrap().members = Some(vec![itself(MemberState::Leaving)]);
        });
        assert_eq!(failed.action(), Action::Nothing, "{mode}");
        let new = |w: &mut World| w.spec().intent.as_mut().unwrap().nonce = "i2".into();
        let again = failed.clone().with(new);
        assert_eq!(again.action(), Action::Leave { nonce: "i2".into() }, "{mode}");
        let under_way = again.clone().with(|w| w.leave_call = LeaveCall::UnderWay);
        assert_eq!(under_way.action(), Action::Nothing, "{mode}");
        let other = again.with(|w| w.spec().intent.as_mut().unwrap().volume_id = "v2".into());
        assert_eq!(other.action(), Action::Nothing, "{mode}");
    }
}

#[test]
fn a_new_agent_calls_again_only_where_the_first_call_left_no_trace() {
    let fresh = |mode| leaving(mode).with(|w| w.leave_call = LeaveCall::NotMade);
    assert_eq!(fresh("NORMAL").action(), Action::Leave { nonce: "i1".into() });
    fresh("LEAVING").waits(Reason::Running);
    assert_eq!(settled(&fresh("DECOMMISSIONED")), (IntentState::Done, Then::Left));
    assert_eq!(settled(&fresh("DECOMMISSION_FAILED")), (IntentState::Failed, Then::Joined));
}

#[test]
fn a_new_agent_hears_that_the_leave_of_an_earlier_one_failed_halfway() {
    for call in [LeaveCall::NotMade, LeaveCall::Answered(Ok(()))] {
        let failed = leaving("DECOMMISSION_FAILED").with(|w| {
            w.leave_call = call;
            w.reading.as_mut().unwrap().members = Some(vec![itself(MemberState::Leaving)]);
        });
        assert_eq!(settled(&failed), (IntentState::Failed, Then::Unchanged));
        let told = failed.with(|w| w.ledger().intent.as_mut().unwrap().state = IntentState::Failed);
        told.waits(Reason::Running);
    }
}

/// LEAVING in a version that says nothing else of a leave that failed.
fn leaving_in(version: &str) -> World {
    leaving("LEAVING").with(|w| {
        let reading = w.reading.as_mut().unwrap();
        reading.version = Some(version.into());
        reading.members = Some(vec![itself(MemberState::Leaving)]);
        w.leave_call = LeaveCall::NotMade;
    })
}

#[test]
fn a_new_agent_makes_the_call_again_where_the_mode_does_not_tell_a_failure() {
    let again = Action::Leave { nonce: "i1".into() };
    assert_eq!(leaving_in("4.0.18").action(), again);
    assert_eq!(leaving_in("4.1.9").action(), again);
    leaving_in("5.0.5").waits(Reason::Running);
    let settled = |w: &mut World| w.ledger().intent.as_mut().unwrap().state = IntentState::Failed;
    leaving_in("4.1.9").with(settled).waits(Reason::Running);
}

#[test]
fn a_call_that_is_refused_because_another_is_under_way_is_made_again_after_a_minute() {
    let words = "decommission failed: java.lang.IllegalStateException : Node is still decommissioning. Check nodetool netstats.";
    let refused = |seconds: i64| {
        leaving_in("4.1.9").with(|w| {
            w.leave_call = LeaveCall::Answered(Err(words.into()));
            let began = w.now - jiff::SignedDuration::from_secs(seconds);
            w.ledger().set_intent(&"i1".into(), IntentState::Running, None, began);
        })
    };
    refused(59).waits(Reason::Running);
    assert_eq!(refused(60).action(), Action::Leave { nonce: "i1".into() });
    let left =
        refused(59).with(|w| w.reading.as_mut().unwrap().mode = Some("DECOMMISSIONED".into()));
    assert_eq!(self::settled(&left), (IntentState::Done, Then::Left));
}

#[test]
fn a_leave_that_a_person_has_begun_is_taken_over_by_an_intent() {
    for mode in ["LEAVING", "DECOMMISSION_FAILED"] {
        let by_hand = a_running_member().intent().with(|w| {
            let reading = w.reading.as_mut().unwrap();
            reading.mode = Some(mode.into());
            reading.members = Some(vec![itself(MemberState::Leaving)]);
        });
        assert_eq!(by_hand.action(), Action::Leave { nonce: "i1".into() }, "{mode}");
    }
}

#[test]
fn who_left_by_hand_and_is_recorded_as_gone_has_left() {
    let left = a_running_member().running("DECOMMISSIONED");
    assert_eq!(left.action(), Action::Nothing);
    let gone = |w: &mut World| w.spec().run = palladion_api::member::RunState::Terminated;
    assert_eq!(left.with(gone).action(), Action::RecordLeft);
    let serves = a_running_member().with(gone);
    assert_eq!(serves.action(), Action::Stop(StopWhy::SpecSaysSo));
}

#[test]
fn a_member_that_ended_while_leaving_waits_to_be_told() {
    let ended = leaving_ledger(a_joined_member().intent());
    assert_eq!(settled(&ended), (IntentState::Failed, Then::Unchanged));
    let told = ended.with(|w| {
        w.ledger().set_intent(&"i1".into(), IntentState::Failed, None, Timestamp::UNIX_EPOCH)
    });
    told.waits(Reason::WaitingForPermit);
    // Not by any other permit, and not with operator and API away.
    told.clone().permit(PermitKind::Join, DataBeforeStart::Wipe).settles(PermitState::Refused);
    told.with(|w| w.source = Source::Saved).waits(Reason::WaitingForPermit);
}

/// A leaver whose server ended, with the permit to come back and leave again.
fn comes_back_to_leave() -> World {
    let failed = IntentState::Failed;
    leaving_ledger(a_joined_member())
        .with(|w| w.ledger().set_intent(&"i1".into(), failed, None, Timestamp::UNIX_EPOCH))
        .permit(PermitKind::ResumeLeave, DataBeforeStart::Keep)
}

#[test]
fn resume_leave_brings_the_right_member_back() {
    let ended = comes_back_to_leave();
    assert!(matches!(ended.start().cause, Cause::Permit { kind: PermitKind::ResumeLeave, .. }));
    let other = ended.with(|w| w.spec().start.as_mut().unwrap().host_id = Some("h0".into()));
    other.settles(PermitState::Refused);
    a_new_member()
        .permit(PermitKind::ResumeLeave, DataBeforeStart::Keep)
        .settles(PermitState::Refused);
}

/// Nobody was asked about the other address: it may be another member's.
#[test]
fn a_leaver_does_not_come_back_under_another_address_than_that_of_its_ledger() {
    let elsewhere = comes_back_to_leave().with(|w| w.spec().address = Some("10.96.0.99".into()));
    let why = elsewhere.settles(PermitState::Refused);
    assert!(why.contains(ADDRESS) && why.contains("10.96.0.99"), "{why}");
    let unknown = comes_back_to_leave().with(|w| w.ledger().address = None);
    assert!(unknown.settles(PermitState::Refused).contains("no address"));
}

#[test]
fn a_member_that_came_back_to_leave_is_a_full_one_until_asked_again() {
    let back = leaving_ledger(a_joined_member())
        .with(|w| {
            w.ledger().set_intent(&"i1".into(), IntentState::Failed, None, Timestamp::UNIX_EPOCH);
            w.ledger().use_permit(&"n1".into());
            w.ledger().begin_start("t", "ResumeLeave", &[], Timestamp::UNIX_EPOCH);
        })
        .permit(PermitKind::ResumeLeave, DataBeforeStart::Keep)
        .running("NORMAL");
    assert!(matches!(back.action(), Action::RecordNormal { .. }));
}
