//! A node that started by permit: how it becomes a member, and open.

use super::super::testing::*;
use super::super::*;
use crate::volume::ledger::{Entered, Membership};
use jiff::SignedDuration;
use palladion_api::member::PermitState;
use palladion_api::service_member::{DataBeforeServiceStart as Before, ServicePermitKind as Kind};

#[test]
fn a_joiner_joins_and_the_first_is_set_up_each_once_at_a_time() {
    let (joiner, nodes) = (a_joiner(Kind::Join), vec![node("b"), node("c")]);
    // First it reaches one of them; then it is noted that it asks to be taken in.
    assert_eq!(joiner.action(), Action::Work(Work::Meet { nodes: nodes.clone() }));
    joiner.says("joining the cluster through rabbit@b");
    let asks = joiner.with(|w| w.ledger().entered = Entered::Asked);
    assert_eq!(asks.action(), Action::Work(Work::Join { nodes }));
    asks.says("joining the cluster through rabbit@b");
    let busy = asks.with(|w| w.work = WorkFact::Busy);
    assert_eq!(busy.action(), Action::Nothing);
    assert_eq!(a_joiner(Kind::Initialize).action(), Action::Work(Work::SetUp));
}

/// As the second of two it needs the first for every write, and nobody may be there to be asked.
#[test]
fn a_joiner_goes_on_by_a_saved_permit_and_never_by_another_one() {
    let saved = a_joiner(Kind::Join).with(|w| w.source = Source::Saved);
    assert!(matches!(saved.action(), Action::Work(Work::Meet { .. })));
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

/// Of those the permit was given by. Another member may be lost for good: it is replaced when
/// this one has its replicas, and is waited for until then by nobody.
#[test]
fn a_node_is_opened_when_it_sees_all_nodes_of_its_permit_and_a_majority() {
    let fourth = entered(closed(&["a", "b", "c", "d"], &["a", "b", "c"]));
    assert_eq!(fourth.action(), Action::Work(Work::Open), "without it b and c would pause");
    let fifth = entered(closed(&["a", "b", "c", "d", "e"], &["a", "b", "c", "d"]));
    assert_eq!(fifth.action(), Action::Stop(StopWhy::Opening));
    let few = entered(closed(&["a", "b", "c", "d", "e", "f"], &["a", "b", "c"]));
    assert_eq!(few.action(), Action::Nothing, "three of six");
    few.says("does not see rabbit@d");
    let open = entered(reading(&["a", "b", "c", "d"], &["a", "b", "c"]));
    assert_eq!(open.with(|w| w.doors = Some(Doors::Open)).action(), Action::RecordMember);
}

/// One of them is lost after the permit was given, or the permit was withdrawn: its agent does
/// not wait for ever, and never where it sees no majority.
#[test]
fn a_node_that_does_not_see_all_of_its_permit_is_opened_after_a_while() {
    let long_ago = |world: World| {
        let begun = now() - SignedDuration::from_mins(10);
        world.with(|w| w.ledger().begin_start("t", "Join", begun))
    };
    let without = entered(closed(&["a", "b", "c"], &["a", "b"]));
    assert_eq!(without.action(), Action::Nothing);
    assert_eq!(long_ago(without).action(), Action::Work(Work::Open));
    let withdrawn =
        entered(closed(&["a", "b", "c", "d"], &["a", "b", "c"])).with(|w| w.spec().start = None);
    assert_eq!(withdrawn.action(), Action::Nothing);
    assert_eq!(long_ago(withdrawn).action(), Action::Work(Work::Open));
    let alone = long_ago(entered(closed(&["a", "b"], &["a"])));
    assert_eq!(alone.action(), Action::Nothing, "the other one may run by itself");
}

/// The permit was withdrawn after the others had taken it in, and before its agent had noted
/// that: by its files it has joined, so that it has started by itself.
#[test]
fn a_member_by_its_files_that_started_by_itself_has_entered() {
    let joined = a_joiner(Kind::Join).with(|w| {
        w.spec().start = None;
        w.found.data = crate::volume::Data::Whole;
        w.found.members = vec![node("a"), node("b")];
        w.doors = Some(Doors::Open);
    });
    assert_eq!(joined.action(), Action::RecordEntered);
    let absent = joined.clone().with(|w| (w.process, w.doors) = (Process::Absent, None));
    assert_eq!(absent.action(), Action::RecordEntered, "before it starts");
    let noted = joined.clone().with(|w| {
        w.ledger().entered = Entered::Yes;
        w.reading = Some(reading(&["a", "b"], &["a", "b"]));
    });
    assert_eq!(noted.action(), Action::RecordMember);
    let by_itself = joined.with(|w| w.found.members = vec![node("a")]);
    assert_ne!(by_itself.action(), Action::RecordEntered, "nobody has taken it in");
}

/// It was killed after `join_cluster` and before `start_app`, perhaps again and again: what is
/// noted before its application runs would have the next agent take its volume for a lost one.
#[test]
fn a_node_that_was_taken_in_and_never_ran_starts_by_itself_and_is_noted_when_it_answers() {
    let killed = a_joiner(Kind::Join).with(|w| {
        (w.process, w.doors) = (Process::Absent, None);
        w.found.data = crate::volume::Data::Unstarted;
        w.found.members = vec![node("a"), node("b")];
    });
    assert_eq!(killed.asked(volume_state), Some((MemberVolumeState::Joined, None)));
    let start = killed.start();
    assert_eq!((start.cause, start.entry), (Cause::Autonomous, Entry::Plain));
    let booting = killed.with(|w| {
        (w.process, w.doors) = (Process::Running, Some(Doors::Open));
        w.ledger().begin_start("t2", "Autonomous", now());
    });
    assert_eq!(booting.action(), Action::Nothing, "its application is on its way");
    let answers = booting.with(|w| w.reading = Some(reading(&["a", "b"], &["a", "b"])));
    assert_eq!(answers.action(), Action::RecordEntered);
    let noted = answers.with(|w| {
        w.found.data = crate::volume::Data::Whole;
        w.ledger().entered = Entered::Yes;
    });
    assert_eq!(noted.action(), Action::RecordMember);
}

/// Its node ended inside `join_cluster`: from when it has asked the others may name it, whatever
/// its own files say, and they would refuse it without what it has.
#[test]
fn a_joiner_that_has_asked_to_be_taken_in_keeps_what_it_has_by_the_same_permit() {
    let ended = |data| {
        a_joiner(Kind::Join).permit(Kind::Join, data).with(|w| {
            (w.process, w.doors) = (Process::Absent, None);
            w.found.data = crate::volume::Data::Unstarted;
            w.found.members = vec![node("a")];
        })
    };
    let left_over = |world: &World| match world.start().entry {
        Entry::Joiner { left_over, .. } => left_over,
        other => panic!("{other:?}"),
    };
    for data in [Before::MustBeEmpty, Before::Wipe] {
        assert_eq!(left_over(&ended(data)), LeftOver::Removed, "nobody knows it");
        let asked = ended(data).with(|w| w.ledger().entered = Entered::Asked);
        assert_eq!(left_over(&asked), LeftOver::Kept);
        assert!(asked.start().entry.is_kept(), "which the next start notes again");
        // Of another permit the operator has asked the others: they do not name it.
        let other = asked.with(|w| {
            w.spec().start.as_mut().unwrap().nonce = "n2".into();
            w.ledger().permit.as_mut().unwrap().state = PermitState::Withdrawn;
        });
        match data {
            Before::Wipe => assert_eq!(left_over(&other), LeftOver::Removed),
            _ => other.refuses("Incomplete"),
        }
    }
}

/// They refuse it as long as they do: the operator has them forget it.
#[test]
fn a_joiner_that_the_others_name_without_their_data_says_so() {
    let named = a_joiner(Kind::Join).with(|w| {
        w.ledger().entered = Entered::Asked;
        w.join = JoinFact::NamedWithoutData;
    });
    assert_eq!(named.decision().reason, Reason::NamedWithoutData);
    named.says("it joins once they have forgotten it");
    assert!(matches!(named.action(), Action::Work(Work::Join { .. })), "and tries again");
}

/// The agent that was at the join has ended, too: the next one finds the node closed, with its
/// application stopped, and no permit by which it would go on. By itself it starts as a member.
#[test]
fn a_member_by_its_files_that_is_closed_without_a_permit_starts_again() {
    let joining = a_joiner(Kind::Join).with(|w| {
        w.found.data = crate::volume::Data::Whole;
        w.found.members = vec![node("a"), node("b")];
    });
    let joining = joining.with(|w| w.ledger().entered = Entered::Asked);
    assert!(matches!(joining.action(), Action::Work(Work::Join { .. })), "it goes on");
    let withdrawn = joining.with(|w| w.spec().start = None);
    assert_eq!(withdrawn.action(), Action::Stop(StopWhy::Opening));
    let saved = withdrawn.with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Nothing, "nobody has said so");
}

#[test]
fn a_node_is_not_opened_at_once_before_it_sees_all_nodes_of_its_permit_run() {
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
        w.ledger().begin_start("t", "Join", Timestamp::UNIX_EPOCH);
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
