//! A node that started by permit: how it becomes a member, and open.

use super::super::testing::*;
use super::super::*;
use crate::volume::ledger::{Entered, Membership};
use palladion_api::service_member::ServicePermitKind as Kind;

#[test]
fn a_joiner_joins_and_the_first_is_set_up_each_once_at_a_time() {
    let joiner = a_joiner(Kind::Join);
    let join = Work::Join { nodes: vec![node("b"), node("c")] };
    assert_eq!(joiner.action(), Action::Work(join));
    joiner.says("joining the cluster through rabbit@b");
    let busy = joiner.with(|w| w.work = WorkFact::Busy);
    assert_eq!(busy.action(), Action::Nothing);
    assert_eq!(a_joiner(Kind::Initialize).action(), Action::Work(Work::SetUp));
}

/// As the second of two it needs the first for every write, and nobody may be there to be asked.
#[test]
fn a_joiner_goes_on_by_a_saved_permit_and_never_by_another_one() {
    let saved = a_joiner(Kind::Join).with(|w| w.source = Source::Saved);
    assert!(matches!(saved.action(), Action::Work(Work::Join { .. })));
    let other = saved.with(|w| w.spec().start.as_mut().unwrap().nonce = "n2".into());
    assert_eq!(other.action(), Action::Nothing);
}

fn entered(reading: Reading) -> World {
    a_joiner(Kind::Join).with(|w| {
        w.ledger().entered = Entered::Yes;
        w.reading = Some(reading);
    })
}

#[test]
fn a_node_that_has_joined_starts_again_where_the_others_are_a_majority() {
    let third = entered(closed(&["a", "b", "c"], &["a", "b", "c"]));
    assert_eq!(third.action(), Action::Stop(StopWhy::Opening));
    let first = entered(closed(&["a"], &["a"]));
    assert_eq!(first.action(), Action::Stop(StopWhy::Opening), "nobody pauses");
}

/// The other would see no majority meanwhile, and pause.
#[test]
fn the_second_of_two_is_opened_as_it_runs() {
    let second = entered(closed(&["a", "b"], &["a", "b"]));
    assert_eq!(second.action(), Action::Work(Work::Open));
    second.says("being opened for clients");
}

#[test]
fn a_node_is_not_opened_before_it_sees_all_members_run() {
    let alone = entered(closed(&["a", "b", "c"], &["a", "b"]));
    assert_eq!(alone.action(), Action::Nothing);
    alone.says("does not see rabbit@c");
    let stopped = entered(closed(&["a", "b", "c"], &["b", "c"]));
    assert_eq!(stopped.action(), Action::Nothing, "its own application does not run");
    let silent = entered(Reading::default());
    assert_eq!(silent.action(), Action::Nothing);
    let parted = entered(closed(&["a", "b"], &["a", "b"])).with(|w| {
        let (_, nodes) = w.reading.as_mut().unwrap().seen.as_mut().unwrap();
        nodes[0].partitions = Some(vec![node("b")]);
    });
    assert_eq!(parted.action(), Action::Nothing);
}

#[test]
fn it_is_a_member_once_it_is_open_and_sees_all_and_not_before() {
    let open = |members: &[&str], running: &[&str]| {
        entered(reading(members, running)).with(|w| w.doors = Some(Doors::Open))
    };
    assert_eq!(open(&["a", "b", "c"], &["a", "b", "c"]).action(), Action::RecordMember);
    assert_ne!(open(&["a", "b", "c"], &["a", "b"]).action(), Action::RecordMember);
    let not_entered = open(&["a", "b"], &["a", "b"]).with(|w| w.ledger().entered = Entered::No);
    assert_ne!(not_entered.action(), Action::RecordMember);
}

/// That holds for the first time only: later it would take the whole service down while one
/// node is away.
#[test]
fn a_member_that_comes_back_serves_while_another_is_away() {
    let back = a_member().runs(&["a", "b", "c"], &["a", "b"]);
    assert!(back.clone().ledger().membership == Membership::Joined);
    assert_eq!(back.action(), Action::RecordServed);
    back.served().waits(Reason::Running);
}
