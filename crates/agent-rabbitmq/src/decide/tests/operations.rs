//! Operations: each ID once, and each kind with what it needs.

use super::super::operation::{Job, Naming, Next, Server, Worker, next};
use super::super::testing::*;
use crate::words::job::Failed;
use jiff::Timestamp;
use palladion_agent_core::words::operation;
use palladion_api::member::OperationState;
use palladion_api::service_member::{ForgetQueues, MemberOperation, MemberOperationKind as Kind};

fn with(kind: Kind, change: impl FnOnce(&mut MemberOperation)) -> World {
    let mut wanted = MemberOperation {
        id: "o1".into(),
        volume_id: VOLUME.into(),
        kind,
        reconfig: None,
        node: None,
        queues: None,
        definitions_hash: None,
    };
    change(&mut wanted);
    a_member().with(|w| w.spec().operation = Some(wanted))
}

fn next_of(world: &mut World, worker: Worker, server: Server) -> Next {
    let ledger = world.ledger().clone();
    next(world.spec(), &ledger, worker, server)
}

fn begun(mut world: World) -> Job {
    match next_of(&mut world, Worker::Idle, Server::Serves) {
        Next::Begin { job, .. } => job,
        other => panic!("{other:?}"),
    }
}

fn refused(mut world: World) -> Failed {
    // Also where the node does not serve: nobody waits for what is refused.
    match next_of(&mut world, Worker::Idle, Server::DoesNotServe) {
        Next::NoteRefused { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_id_is_begun_once_by_a_node_that_serves() {
    let mut world = with(Kind::Grow, |_| {});
    assert_eq!(begun(world.clone()), Job::Grow);
    for server in [Server::DoesNotServe, Server::Serves] {
        assert_eq!(next_of(&mut world, Worker::Busy, server), Next::Nothing);
    }
    assert_eq!(next_of(&mut world, Worker::Idle, Server::DoesNotServe), Next::Nothing);
    for state in [OperationState::Succeeded, OperationState::Failed, OperationState::Interrupted] {
        world.ledger().begin_operation("o1");
        world.ledger().operations[0].state = state;
        assert_eq!(next_of(&mut world, Worker::Idle, Server::Serves), Next::Nothing);
    }
}

#[test]
fn what_was_under_way_is_noted_and_not_begun_again() {
    let mut world = with(Kind::Grow, |_| {});
    world.ledger().begin_operation("o0");
    assert_eq!(next_of(&mut world, Worker::Idle, Server::Serves), Next::NoteInterrupted);
    world.ledger().interrupt_operations(Timestamp::UNIX_EPOCH);
    assert_eq!(begun(world), Job::Grow);
}

#[test]
fn each_kind_has_what_it_needs() {
    let named = |kind| with(kind, |o| o.node = Some(node("b")));
    assert_eq!(begun(named(Kind::MoveReplicas)), Job::MoveReplicas { node: node("b") });
    let forget = |queues| with(Kind::Forget, |o| (o.node, o.queues) = (Some(node("b")), queues));
    let job = |queues| Job::Forget { node: node("b"), queues };
    assert_eq!(begun(forget(None)), job(Naming::Forbidden));
    assert_eq!(begun(forget(Some(ForgetQueues::MustNotName))), job(Naming::Forbidden));
    assert_eq!(begun(forget(Some(ForgetQueues::MayName))), job(Naming::Allowed));
    assert_eq!(begun(with(Kind::Rebalance, |_| {})), Job::Rebalance);
    assert_eq!(begun(with(Kind::EnableFeatureFlags, |_| {})), Job::EnableFeatureFlags);
    let import = with(Kind::ImportDefinitions, |o| o.definitions_hash = Some("h".into()));
    assert_eq!(begun(import), Job::ImportDefinitions { hash: "h".into() });
    for kind in [Kind::MoveReplicas, Kind::Forget] {
        assert_eq!(refused(with(kind, |_| {})), Failed::NoNode);
    }
    assert_eq!(refused(with(Kind::ImportDefinitions, |_| {})), Failed::NoDefinitionsHash);
}

#[test]
fn what_is_not_for_this_node_is_refused() {
    let other = with(Kind::Grow, |o| o.volume_id = "v0".into());
    let (named, found) = ("v0".into(), VOLUME.into());
    assert_eq!(refused(other), operation::Failed::OtherVolume { named, found }.into());
    let own = with(Kind::Forget, |o| o.node = Some(node("a")));
    assert_eq!(refused(own), Failed::OwnNode { node: node("a") });
    let kind = "Reconfig".to_string();
    assert_eq!(refused(with(Kind::Reconfig, |_| {})), Failed::NotOfRabbitmq { kind });
    let word = palladion_api::member::Word::new("Fly");
    let unknown = refused(with(Kind::Unknown(word), |_| {}));
    assert!(unknown.to_string().contains("`Fly`"), "{unknown}");
    let queues = with(Kind::Forget, |o| {
        (o.node, o.queues) = (Some(node("b")), Some(ForgetQueues::Unknown(word)));
    });
    assert!(refused(queues).to_string().contains("`Fly`"));
}
