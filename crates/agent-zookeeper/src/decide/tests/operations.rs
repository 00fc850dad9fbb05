//! Operations: each ID once.

use super::super::operation::{Next, Server, Worker, next};
use super::super::testing::*;
use crate::words::calls::Failed;
use jiff::Timestamp;
use palladion_agent_core::words::operation;
use palladion_api::member::OperationState;
use palladion_api::service_member::{MemberOperation, MemberOperationKind, Peer, Reconfig};
use palladion_api::zookeeper::{ServerId, Zxid};

fn with(operation: impl FnOnce(&mut MemberOperation)) -> World {
    let mut wanted = MemberOperation {
        id: "o1".into(),
        volume_id: VOLUME.into(),
        kind: MemberOperationKind::Reconfig,
        reconfig: Some(Reconfig {
            version: Zxid::new(7 << 32),
            add: vec![Peer { server_id: ServerId::new(4), address: "10.96.0.14".into() }],
            remove: Vec::new(),
        }),
        node: None,
        queues: None,
        definitions_hash: None,
    };
    operation(&mut wanted);
    a_member().with(|w| w.spec().operation = Some(wanted))
}

fn next_of(world: &mut World, worker: Worker, server: Server) -> String {
    let ledger = world.ledger().clone();
    format!("{:?}", next(world.spec(), &ledger, worker, server))
}

fn is_begun(world: &mut World) -> bool {
    next_of(world, Worker::Idle, Server::Serves).starts_with("Begin")
}

#[test]
fn an_id_is_begun_once() {
    let mut world = with(|_| {});
    assert!(is_begun(&mut world));
    for server in [Server::DoesNotServe, Server::Serves] {
        assert_eq!(next_of(&mut world, Worker::Busy, server), "Nothing");
    }
    assert_eq!(next_of(&mut world, Worker::Idle, Server::DoesNotServe), "Nothing");
    for state in [OperationState::Succeeded, OperationState::Failed, OperationState::Interrupted] {
        world.ledger().begin_operation("o1");
        world.ledger().operations[0].state = state;
        assert_eq!(next_of(&mut world, Worker::Idle, Server::Serves), "Nothing");
    }
}

#[test]
fn what_was_under_way_when_an_agent_ended_is_not_begun_again() {
    let mut world = with(|_| {});
    world.ledger().begin_operation("o1");
    assert_eq!(next_of(&mut world, Worker::Idle, Server::Serves), "NoteInterrupted");
    world.ledger().interrupt_operations(Timestamp::UNIX_EPOCH);
    assert_eq!(next_of(&mut world, Worker::Idle, Server::Serves), "Nothing");
}

#[test]
fn what_is_not_for_us_or_makes_no_sense_is_refused() {
    let refused = |change: fn(&mut MemberOperation)| {
        let mut world = with(change);
        let ledger = world.ledger().clone();
        let found = next(world.spec(), &ledger, Worker::Idle, Server::DoesNotServe);
        match found {
            Next::NoteRefused { why, .. } => why,
            other => panic!("expected a refusal, got {other:?}"),
        }
    };
    let (named, found) = ("v0".into(), VOLUME.into());
    let other = operation::Failed::OtherVolume { named, found };
    assert_eq!(refused(|o| o.volume_id = "v0".into()), other.into());
    assert_eq!(refused(|o| o.reconfig = None), Failed::NoChange);
    assert_eq!(refused(|o| o.reconfig.as_mut().unwrap().add.clear()), Failed::NoChange);
    let both = |o: &mut MemberOperation| {
        o.reconfig.as_mut().unwrap().remove.push(ServerId::new(4));
    };
    assert_eq!(refused(both), Failed::BothWays { id: ServerId::new(4) });
    let kind = "Forget".to_string();
    let of_others = refused(|o| o.kind = MemberOperationKind::Forget);
    assert_eq!(of_others, Failed::NotOfZookeeper { kind });
}
