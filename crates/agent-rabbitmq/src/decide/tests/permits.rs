//! Starts by permit: once, for this pod and this volume, and on nothing else.

use super::super::testing::*;
use super::super::*;
use crate::volume::Data;
use crate::volume::ledger::{Ban, End, Entered, Membership};
use palladion_api::member::PermitState;
use palladion_api::service_member::{
    DataBeforeServiceStart as Before, ServicePermit, ServicePermitKind as Kind,
};

fn is_blank(world: &World) -> bool {
    matches!(world.start().entry, Entry::Joiner { left_over: LeftOver::Removed, .. })
}

fn settled(state: PermitState) -> impl Fn(Action) -> bool {
    move |action| matches!(action, Action::SettlePermit { state: found, .. } if found == state)
}

#[test]
fn the_first_node_starts_closed_on_an_empty_volume() {
    let start = a_new_member().permit(Kind::Initialize, Before::MustBeEmpty).start();
    assert_eq!((start.entry.clone(), start.entry.doors()), (Entry::First, Doors::Closed));
    let (kind, data) = (Kind::Initialize, Before::MustBeEmpty);
    assert_eq!(start.cause, Cause::Permit { kind, nonce: "n1".into(), data });
}

#[test]
fn a_joiner_starts_blank_and_closed_with_the_flags_of_its_cluster() {
    let start = a_new_member().permit(Kind::Join, Before::MustBeEmpty).start();
    let (nodes, flags) = (vec![node("b"), node("c")], vec!["quorum_queue".to_string()]);
    let left_over = LeftOver::Removed;
    assert_eq!(start.entry, Entry::Joiner { nodes, flags, left_over });
    assert_eq!(start.entry.doors(), Doors::Closed);
    let join = |change: fn(&mut ServicePermit)| {
        let world = a_new_member().permit(Kind::Join, Before::MustBeEmpty);
        world.with(|w| change(w.spec().start.as_mut().unwrap()))
    };
    join(|p| p.nodes.clear()).refuses("separate cluster");
    join(|p| p.nodes.push(node("a"))).refuses("that is this node");
}

#[test]
fn a_permit_is_for_one_pod_one_volume_and_one_start_and_read_live() {
    let join = |change: fn(&mut World)| {
        a_new_member().permit(Kind::Join, Before::MustBeEmpty).with(change)
    };
    let permit = |w: &mut World| w.spec().start.as_mut().unwrap().clone();
    join(|w| w.spec().start.as_mut().unwrap().pod_uid = "p0".into()).refuses("pod with UID p0");
    join(|w| w.spec().start.as_mut().unwrap().volume_id = "v0".into())
        .refuses("expected volume v0");
    join(|w| w.ledger().used_permits = vec!["n1".into()]).refuses("already used");
    join(|w| w.source = Source::Saved).waits(Reason::WaitingForMember);
    join(|w| w.spec().node_name = None).waits(Reason::WaitingForMember);
    let mut running = a_member().runs(&["a"], &["a"]).served();
    running.spec().start =
        Some(permit(&mut a_new_member().permit(Kind::Join, Before::MustBeEmpty)));
    running.refuses("already running");
}

/// R7, R16: what the lost ones have confirmed would be gone.
#[test]
fn nobody_goes_on_alone_by_a_permit() {
    a_member()
        .with(|w| w.found.data = Data::Absent)
        .permit(Kind::Rescue, Before::Keep)
        .refuses("alone");
    let whole = a_member().permit(Kind::Rescue, Before::Keep);
    assert_eq!(whole.start().cause, Cause::Autonomous, "it starts as it always does");
}

#[test]
fn words_that_are_not_known_are_refused() {
    let unknown = |change: fn(&mut ServicePermit)| {
        let world = a_new_member().permit(Kind::Join, Before::MustBeEmpty);
        world.with(|w| change(w.spec().start.as_mut().unwrap()))
    };
    let word = || palladion_api::member::Word::new("Fly");
    assert_eq!(word().as_str(), "Fly");
    unknown(|p| p.kind = Kind::Unknown(palladion_api::member::Word::new("Fly"))).refuses("`Fly`");
    unknown(|p| p.data = Before::Unknown(palladion_api::member::Word::new("Fly"))).refuses("`Fly`");
}

#[test]
fn a_joiner_goes_on_by_its_own_permit_in_the_next_pod_and_without_the_api() {
    let again = a_joiner(Kind::Join).with(|w| {
        w.process = Process::Absent;
        w.found.data = Data::Partial(Vec::new());
        w.found.members = vec![node("a")];
        w.spec().start.as_mut().unwrap().pod_uid = "p0".into();
    });
    assert!(is_blank(&again), "with nothing of its first try");
    let saved = again.with(|w| w.source = Source::Saved);
    assert!(is_blank(&saved));
}

#[test]
fn a_later_permit_starts_on_what_is_left_over_only_where_it_says_so() {
    let next = |data| {
        a_joiner(Kind::Join).with(|w| {
            w.process = Process::Absent;
            w.found.data = Data::Whole;
            w.found.members = vec![node("a")];
            w.ledger().permit.as_mut().unwrap().state = PermitState::Withdrawn;
            let permit = w.spec().start.as_mut().unwrap();
            (permit.nonce, permit.data) = ("n2".into(), data);
        })
    };
    next(Before::MustBeEmpty).refuses("Incomplete");
    assert!(is_blank(&next(Before::Wipe)));
    // The others name it by then; it goes on with what it has.
    let Entry::Joiner { left_over, .. } = next(Before::Keep).start().entry else {
        panic!("it joins");
    };
    assert_eq!(left_over, LeftOver::Kept);
    let nothing = next(Before::Keep).with(|w| w.found.data = Data::Absent);
    assert!(nothing.start().entry.is_kept(), "of two nodes the other one may wait for it");
    a_new_member().permit(Kind::Join, Before::Keep).refuses("Empty");
    // What has joined is no left-over, whatever the permit says.
    let joined = next(Before::Wipe).with(|w| w.found.members.push(node("b")));
    assert_eq!(joined.action(), Action::RecordEntered);
    let noted = joined.with(|w| w.ledger().entered = Entered::Yes);
    assert_eq!(noted.start().entry, Entry::Plain);
}

/// The others have forgotten it: under the same name it comes back as new, with nothing of
/// the first.
#[test]
fn what_has_left_joins_again_on_a_wiped_volume_only() {
    let again = |data| {
        a_new_member().permit(Kind::Join, data).with(|w| {
            w.found.data = Data::Whole;
            w.ledger().membership = Membership::Left;
            w.ledger().node_name = Some(node("a"));
            w.ledger().ban = Ban::Terminated;
            w.ledger().ban_pod = Some("p0".into());
        })
    };
    assert!(is_blank(&again(Before::Wipe)));
    again(Before::MustBeEmpty).waits(Reason::Decommissioned);
    again(Before::Keep).waits(Reason::Decommissioned);
    again(Before::Wipe)
        .with(|w| w.ledger().ban_pod = Some(POD.into()))
        .waits(Reason::Decommissioned);
}

#[test]
fn a_renewed_volume_joins_in_the_place_of_the_lost_one() {
    let renewed = a_new_member().permit(Kind::Join, Before::MustBeEmpty).with(|w| {
        w.ledger().successor_of = Some("v0".into());
        w.spec().volume_id = Some("v0".into());
    });
    assert!(is_blank(&renewed));
    renewed.permit(Kind::Initialize, Before::MustBeEmpty).refuses("Lost");
}

#[test]
fn a_permit_is_done_when_the_node_serves() {
    let member = a_member().runs(&["a", "b"], &["a", "b"]).served().with(|w| {
        w.ledger().use_permit(&"n1".into());
    });
    assert!(settled(PermitState::Done)(member.action()));
    let silent = member.with(|w| w.reading = Some(closed(&["a", "b"], &["a", "b"])));
    assert_eq!(silent.action(), Action::Nothing);
}

#[test]
fn a_permit_that_is_withdrawn_stops_a_node_that_has_not_joined_and_no_other() {
    let withdrawn = a_joiner(Kind::Join).with(|w| w.spec().start = None);
    assert_eq!(withdrawn.action(), Action::Stop(StopWhy::PermitWithdrawn));
    let absent = withdrawn.clone().with(|w| w.process = Process::Absent);
    assert!(settled(PermitState::Withdrawn)(absent.action()));
    let saved = withdrawn.clone().with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Nothing, "nobody has said so");
    let entered = withdrawn.clone().with(|w| w.ledger().entered = Entered::Yes);
    assert_ne!(entered.action(), Action::Stop(StopWhy::PermitWithdrawn));
    // It has, by its own word, although nobody noted that yet.
    let seen = withdrawn.with(|w| w.reading = Some(closed(&["a", "b"], &["a", "b"])));
    assert_ne!(seen.action(), Action::Stop(StopWhy::PermitWithdrawn));
}

#[test]
fn a_permit_by_which_a_node_died_three_times_has_failed() {
    let died = |times: u32| {
        a_joiner(Kind::Join).with(|w| {
            w.process = Process::Absent;
            for _ in 0..times {
                w.ledger().begin_start("t", "Join", Timestamp::UNIX_EPOCH);
                w.ledger().end_start(End::Died, Timestamp::UNIX_EPOCH, Some(1), None);
            }
        })
    };
    assert!(matches!(died(2).action(), Action::Start(_)));
    assert!(settled(PermitState::Failed)(died(3).action()));
}
