//! Starts by permit: once, for this pod and this volume, and on nothing else.

use super::super::testing::*;
use super::super::*;
use crate::decide::action::{Cause, Entry, LeftOver};
use crate::volume::Data;
use crate::volume::ledger::{Ban, End, Membership};
use palladion_api::member::PermitState;
use palladion_api::service_member::{
    DataBeforeServiceStart as Before, Peer, ServerMode, ServicePermitKind as Kind,
};
use palladion_api::zookeeper::ServerId;

fn peers() -> Vec<Peer> {
    vec![Peer { server_id: PEER, address: "10.96.0.11".into() }]
}

#[test]
fn the_first_server_may_begin_on_an_empty_volume() {
    let first = a_new_member().permit(Kind::Initialize, Before::MustBeEmpty);
    let start = first.start();
    assert_eq!((start.entry, start.server_id), (Entry::First, OWN));
    let data = Before::MustBeEmpty;
    let cause = Cause::Permit { kind: Kind::Initialize, nonce: "n1".into(), data };
    assert_eq!(start.cause, cause);
}

#[test]
fn a_joiner_observes_those_that_are_there_and_may_not_begin() {
    let start = a_new_member().permit(Kind::Join, Before::MustBeEmpty).start();
    let left_over = LeftOver::Kept;
    assert_eq!(start.entry, Entry::Observer { peers: peers(), left_over });
    let join = a_new_member().permit(Kind::Join, Before::MustBeEmpty);
    join.clone().with(|w| w.spec().start.as_mut().unwrap().peers.clear()).refuses("no members");
    let own = Peer { server_id: OWN, address: ADDRESS.into() };
    join.with(|w| w.spec().start.as_mut().unwrap().peers.push(own)).refuses("ID of this server");
}

#[test]
fn a_permit_is_used_once() {
    let first = a_new_member().permit(Kind::Initialize, Before::MustBeEmpty);
    first.with(|w| w.ledger().used_permits = vec!["n1".into()]).refuses("already used");
    let rescued = a_member().permit(Kind::Rescue, Before::Keep);
    let used = rescued.with(|w| w.ledger().use_permit(&"n1".into()));
    assert_eq!(used.start().cause, Cause::Autonomous, "it goes on as it is");
}

#[test]
fn a_permit_is_for_one_pod_and_one_volume_and_read_live() {
    let join = || a_new_member().permit(Kind::Join, Before::MustBeEmpty);
    let other = |change: fn(&mut palladion_api::service_member::ServicePermit)| {
        join().with(|w| change(w.spec().start.as_mut().unwrap()))
    };
    other(|p| p.pod_uid = "p0".into()).refuses("pod with UID p0");
    other(|p| p.volume_id = "v0".into()).refuses("expected volume v0");
    join().with(|w| w.source = Source::Saved).waits(Reason::WaitingForMember);
    join().with(|w| w.spec().server_id = None).waits(Reason::WaitingForMember);
}

/// Nobody may be there to give another permit: as the second of two it is needed.
#[test]
fn a_joiner_goes_on_by_its_own_permit_in_the_next_pod_and_without_the_api() {
    let again = a_joiner().with(|w| w.spec().start.as_mut().unwrap().pod_uid = "p0".into());
    let entry = Entry::Observer { peers: peers(), left_over: LeftOver::Kept };
    assert_eq!(again.start().entry, entry);
    assert_eq!(again.with(|w| w.source = Source::Saved).start().entry, entry);
}

/// As the second of two its vote is needed, and nobody can tell it.
#[test]
fn a_joiner_that_was_made_a_participant_keeps_the_file_of_its_server() {
    let made = a_joiner().with(|w| w.found.config = Some(config(8 << 32, &[1, 2], &[])));
    assert_eq!((made.start().cause, made.start().entry), (Cause::Autonomous, Entry::Plain));
}

#[test]
fn a_later_permit_to_join_starts_on_wiped_directories_only() {
    let next = |data| {
        a_joiner().with(|w| {
            w.ledger().permit.as_mut().unwrap().state = PermitState::Withdrawn;
            let permit = w.spec().start.as_mut().unwrap();
            (permit.nonce, permit.data) = ("n2".into(), data);
        })
    };
    next(Before::MustBeEmpty).refuses("Incomplete");
    // Whoever votes already, by the others' configuration, goes on with what it has.
    let kept = LeftOver::Kept;
    let entry = Entry::Observer { peers: peers(), left_over: kept };
    assert_eq!(next(Before::Keep).start().entry, entry);
    next(Before::Keep)
        .with(|w| w.spec().server_id = Some(ServerId::new(4)))
        .refuses("on this volume has 2");
    let left_over = LeftOver::Removed;
    assert_eq!(next(Before::Wipe).start().entry, Entry::Observer { peers: peers(), left_over });
}

/// Its vote was taken away: it comes back as another server, with nothing of the first.
#[test]
fn what_has_left_joins_again_on_wiped_directories_under_another_id_only() {
    let again = |data, id| {
        a_new_member().permit(Kind::Join, data).with(|w| {
            w.ledger().membership = Membership::Left;
            w.ledger().server_id = Some(OWN);
            w.ledger().ban = Ban::Terminated;
            w.ledger().ban_pod = Some("p0".into());
            w.spec().server_id = Some(ServerId::new(id));
        })
    };
    let left_over = LeftOver::Removed;
    let entry = Entry::Observer { peers: peers(), left_over };
    assert_eq!(again(Before::Wipe, 4).start().entry, entry);
    let stays = |world: World| world.waits(Reason::Decommissioned);
    stays(again(Before::Wipe, 2));
    stays(again(Before::MustBeEmpty, 4));
    stays(again(Before::Keep, 4));
    let used = again(Before::Wipe, 4).with(|w| w.ledger().used_permits = vec!["n1".into()]);
    used.refuses("already used");
    stays(again(Before::Wipe, 4).with(|w| w.ledger().ban_pod = Some(POD.into())));
}

/// The server may have acknowledged what nobody else has.
#[test]
fn the_data_of_a_server_that_has_led_or_voted_is_not_removed() {
    let led = a_joiner().with(|w| {
        w.ledger().membership = Membership::Joining { kind: Kind::Initialize, nonce: "n0".into() };
        w.found.config = Some(config(0, &[2], &[]));
        w.found.epoch = Some(0);
        let permit = w.spec().start.as_mut().unwrap();
        (permit.kind, permit.data, permit.nonce) = (Kind::Initialize, Before::Wipe, "n2".into());
        w.ledger().permit = None;
    });
    assert_eq!(led.start().entry, Entry::First, "it has not led yet");
    let led = led.with(|w| w.found.epoch = Some(1));
    assert_eq!(led.start().cause, Cause::Autonomous);
}

#[test]
fn a_member_is_neither_initialized_nor_joined_again() {
    for (kind, data) in [
        (Kind::Initialize, Before::MustBeEmpty),
        (Kind::Initialize, Before::Wipe),
        (Kind::Join, Before::Wipe),
    ] {
        // With its data it starts by itself; without, by no permit for its old self.
        assert_eq!(a_member().permit(kind, data).start().cause, Cause::Autonomous);
        a_member().permit(kind, data).with(|w| w.found.data = Data::Absent).refuses("Lost");
    }
}

#[test]
fn a_volume_taken_in_the_place_of_a_lost_one_joins_as_another_server() {
    let successor = a_new_member().with(|w| {
        w.ledger().successor_of = Some("v0".into());
        w.spec().volume_id = Some("v0".into());
    });
    successor.waits(Reason::VolumeLost);
    let start = successor.permit(Kind::Join, Before::MustBeEmpty).start();
    assert!(matches!(start.entry, Entry::Observer { .. }));
}

#[test]
fn only_a_member_with_all_its_data_is_rescued() {
    let rescue = |world: World| world.permit(Kind::Rescue, Before::Keep);
    assert_eq!(rescue(a_member()).start().entry, Entry::Alone);
    rescue(a_member().with(|w| w.found.data = Data::Absent)).refuses("Lost");
    rescue(a_new_member()).refuses("Empty");
    a_member().permit(Kind::Rescue, Before::Wipe).refuses("Wipe");
    let other = rescue(a_member()).with(|w| w.spec().server_id = Some(ServerId::new(4)));
    other.refuses("server ID 4");
    let removed = a_member().with(|w| w.found.config = Some(config(8 << 32, &[1, 3], &[])));
    rescue(removed).refuses("does not contain server 2");
}

#[test]
fn what_a_newer_operator_permits_is_refused_by_name() {
    let word = palladion_api::member::Word::new("Clone");
    let unknown = a_new_member().permit(Kind::Unknown(word), Before::MustBeEmpty);
    unknown.refuses("`Clone`");
}

#[test]
fn a_permit_that_comes_while_the_server_runs_is_refused() {
    let runs = a_member()
        .permit(Kind::Rescue, Before::Keep)
        .runs(ServerMode::Follower, config(7 << 32, &[1, 2, 3], &[]))
        .served();
    runs.refuses("already running");
}

#[test]
fn a_permit_that_is_withdrawn_stops_a_joiner_and_never_a_participant() {
    let observes = config(7 << 32, &[1], &[]);
    let gone = a_joiner().runs(ServerMode::Follower, observes).with(|w| w.spec().start = None);
    assert_eq!(gone.action(), Action::Stop(StopWhy::PermitWithdrawn));
    let ended = gone.with(|w| w.process = Process::Absent);
    let Action::SettlePermit { state, .. } = ended.action() else { panic!("it is settled") };
    assert_eq!(state, PermitState::Withdrawn);
    let votes = config(8 << 32, &[1, 2], &[]);
    let member = a_joiner().runs(ServerMode::Follower, votes).with(|w| w.spec().start = None);
    assert_eq!(member.action(), Action::Nothing, "it votes, although that is not noted yet");
    assert_eq!(member.proven().action(), Action::RecordMember);
}

#[test]
fn a_permit_is_done_when_its_server_serves_as_a_member() {
    let votes = config(8 << 32, &[1, 2], &[]);
    let joined = a_joiner().runs(ServerMode::Follower, votes).proven().with(|w| {
        w.ledger().record_member(Timestamp::UNIX_EPOCH);
    });
    let Action::SettlePermit { nonce, state, .. } = joined.action() else { panic!("it is done") };
    assert_eq!((nonce, state), ("n1".into(), PermitState::Done));
}

/// The operator tells three failures, gives the turn to others and tries again later.
#[test]
fn a_permit_has_failed_after_three_starts_that_died() {
    let died = |times| {
        a_joiner().with(|w| {
            for _ in 0..times {
                w.ledger().begin_start("t", "Join", Timestamp::UNIX_EPOCH);
                w.ledger().end_start(End::Died, Timestamp::UNIX_EPOCH, Some(1), None);
            }
        })
    };
    assert!(matches!(died(2).action(), Action::Start(_)));
    let Action::SettlePermit { state, message, .. } = died(3).action() else {
        panic!("it is settled");
    };
    assert_eq!(state, PermitState::Failed);
    assert!(message.unwrap().to_string().contains("3 times"));
    let alone = died(3).with(|w| w.source = Source::Saved);
    assert!(matches!(alone.action(), Action::Start(_)), "nobody could give another permit");
    let stopped = a_joiner().with(|w| {
        for _ in 0..5 {
            w.ledger().begin_start("t", "Join", Timestamp::UNIX_EPOCH);
            w.ledger().end_start(End::WithContainer, Timestamp::UNIX_EPOCH, None, None);
        }
    });
    assert!(matches!(stopped.action(), Action::Start(_)));
    let next = died(3).with(|w| w.ledger().use_permit(&"n2".into()));
    assert_eq!(next.found.ledger.unwrap().failed_starts, 0, "each permit has its own tries");
}

#[test]
fn a_server_without_a_quorum_is_stopped_to_go_on_alone_and_one_with_it_is_not() {
    let follows = config(7 << 32, &[1, 2, 3], &[]);
    let asked = || {
        a_member()
            .runs(ServerMode::Follower, follows.clone())
            .served()
            .permit(Kind::Rescue, Before::Keep)
    };
    asked().refuses("already running");
    let alone = asked().with(|w| w.reading = Some(reading(None, follows.clone())));
    assert_eq!(alone.action(), Action::Stop(StopWhy::Rescue));
    let silent = asked().with(|w| w.reading = None);
    assert_eq!(silent.action(), Action::Nothing, "nobody knows what it has");
    let ended = alone.clone().with(|w| w.process = Process::Absent);
    assert_eq!(ended.start().entry, Entry::Alone);
    let other = alone.with(|w| w.spec().start.as_mut().unwrap().pod_uid = "p0".into());
    other.refuses("pod with UID p0");
}
