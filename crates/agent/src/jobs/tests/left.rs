//! Operations that the server goes on with when their agent, or its connection, is gone.

use crate::admin::RepairState;
use crate::admin::jobs::Compaction;
use crate::cql::Endpoint;
use crate::cql::tls::Encryption::Plain;
use crate::decide::operation::{Left, Rewrites};
use crate::jobs::place::Place;
use crate::jobs::{Outcome, Tools, over, run};
use palladion_api::member::{Operation, OperationKind};
use std::iter::repeat_n;
use tokio::sync::watch;

async fn outcome(place: &Place, kind: OperationKind) -> Outcome {
    let mut operation = Operation::of("o".into(), kind);
    operation.keyspaces = vec!["shop".into()];
    run_it(place, &operation).await
}

async fn run_it(place: &Place, operation: &Operation) -> Outcome {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
    let cql = Endpoint { address, encryption: Plain, credentials: None };
    let (admin, book) = (place.fake.clone(), Some(place.book.clone()));
    let (tag, datacenter) = ("t1".into(), "dc1".into());
    let volume = place.fake.volume.clone();
    let tools = Tools { admin, cql, tag, datacenter, book, volume, pace: Place::pace() };
    run(operation, &tools, &watch::channel(0).0).await
}

async fn is_over(place: &Place, left: Left) -> Option<()> {
    let after = place.book.read(|notes| notes.last_of(Some("t1")));
    over(place.fake.as_ref(), left, after, Place::pace()).await
}

#[tokio::test]
async fn a_connection_that_breaks_says_nothing_of_a_repair_or_a_cleanup() {
    let place = Place::new();
    place.state().breaks = true;
    for kind in [OperationKind::Repair, OperationKind::Cleanup] {
        let outcome = outcome(&place, kind).await;
        assert!(matches!(outcome, Outcome::Lost(_)), "{kind:?}: {outcome:?}");
    }
    let outcome = outcome(&place, OperationKind::Flush).await;
    assert!(matches!(outcome, Outcome::Ended(Err(_))), "may be done twice: {outcome:?}");
}

/// For a minute nobody could say how far it is; the server goes on with it.
#[tokio::test]
async fn a_repair_that_cannot_be_looked_at_has_not_failed() {
    let place = Place::new();
    place.state().hides_repairs = true;
    let lost = outcome(&place, OperationKind::Repair).await;
    assert!(matches!(lost, Outcome::Lost(_)), "{lost:?}");
    assert_eq!(is_over(&place, Left::Repair).await, None, "it is asked again");
    place.state().hides_repairs = false;
    assert_eq!(is_over(&place, Left::Repair).await, Some(()));
}

/// It may wait for a thread of the server first.
#[tokio::test]
async fn a_repair_that_was_just_begun_may_be_unknown_for_a_while() {
    let place = Place::new();
    place.state().repairs = [RepairState::Unknown, RepairState::Running].into();
    let ended = outcome(&place, OperationKind::Repair).await;
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?}");
    assert_eq!(place.calls().len(), 1, "it is begun once");
    place.state().repairs = repeat_n(RepairState::Unknown, 1_000).collect();
    let ended = outcome(&place, OperationKind::Repair).await;
    assert!(matches!(ended, Outcome::Ended(Err(_))), "not for ever: {ended:?}");
}

#[tokio::test]
async fn a_cleanup_is_over_when_the_server_shows_nothing_of_it_any_more() {
    let place = Place::new();
    let entry = |name: &str| Compaction { name: name.into(), ..Compaction::default() };
    place.state().compactions = vec![entry("Cleanup"), entry("Validation")];
    place.state().looks = 5;
    let cleanup = Left::Rewrite(Rewrites::Cleanup);
    assert_eq!(is_over(&place, cleanup).await, Some(()));
    assert_eq!(place.state().looks, 0, "it was looked at until it was gone");
    // What is not ours is not waited for.
    place.state().compactions = vec![entry("Compaction"), entry("Upgrade sstables")];
    assert_eq!(is_over(&place, cleanup).await, Some(()));
}

#[tokio::test]
async fn a_repair_is_over_when_its_number_has_ended() {
    let place = Place::new();
    // The server has forgotten most that it had before.
    place.state().next_repair = 1_000;
    place.state().forgotten = 1_000;
    place.book.change(|notes| notes.count_before("t1", 1_001)).unwrap();
    place.state().repairs = [RepairState::Completed].into();
    let ended = outcome(&place, OperationKind::Repair).await;
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?}");
    assert_eq!(place.book.read(|notes| notes.last_of(Some("t1"))), 1_000);
    place.state().repairs = repeat_n(RepairState::Running, 9).collect();
    for left in [Left::Repair, Left::Unknown] {
        assert_eq!(is_over(&place, left).await, Some(()));
        assert!(place.state().repairs.is_empty(), "it was looked at until it had ended");
        place.state().repairs = repeat_n(RepairState::Running, 9).collect();
    }
}

fn rebuild() -> Operation {
    let mut operation = Operation::of("o".into(), OperationKind::Rebuild);
    operation.keyspaces = vec!["shop".into(), "system_auth".into()];
    operation.source_datacenter = Some("dc1".into());
    operation
}

/// What was rebuilt is on the volume before the next call, and is not called for again.
#[tokio::test]
async fn a_rebuild_notes_each_keyspace_and_goes_on_after_it() {
    let place = Place::new();
    place.state().fails = Some("system_auth");
    let rebuilt = || place.fake.volume.rebuilt().keyspaces.into_keys().collect::<Vec<_>>();
    let ended = run_it(&place, &rebuild()).await;
    assert!(matches!(ended, Outcome::Ended(Err(_))), "{ended:?}");
    assert_eq!(rebuilt(), ["shop"]);
    assert_eq!(place.calls().len(), 2);
    place.state().fails = None;
    let ended = run_it(&place, &rebuild()).await;
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?}");
    assert_eq!(rebuilt(), ["shop", "system_auth"]);
    let calls = place.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].starts_with("rebuild system_auth from dc1"), "{calls:?}");
}

/// With more copies its member has ranges that the earlier call did not stream; without any it has
/// none.
#[tokio::test]
async fn a_keyspace_with_more_copies_is_rebuilt_once_more_and_one_without_any_is_not() {
    let place = Place::new();
    let ended = run_it(&place, &rebuild()).await;
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?}");
    assert_eq!(place.calls().len(), 2);
    place.state().here = [("shop", 3), ("system_auth", 0)].into();
    let ended = run_it(&place, &rebuild()).await;
    assert!(matches!(ended, Outcome::Ended(Ok(_))), "{ended:?}");
    let calls = place.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].starts_with("rebuild shop from dc1"), "{calls:?}");
    let copies = [("shop".to_string(), 3), ("system_auth".to_string(), 1)];
    assert_eq!(place.fake.volume.rebuilt().copies(), copies.into());
}

#[tokio::test]
async fn a_rebuild_whose_connection_broke_is_over_when_its_streams_are_gone_and_counts_for_nothing()
{
    let place = Place::new();
    place.state().breaks = true;
    let lost = run_it(&place, &rebuild()).await;
    assert!(matches!(lost, Outcome::Lost(_)), "{lost:?}");
    assert!(place.fake.volume.rebuilt().keyspaces.is_empty());
    place.state().rebuilds = 4;
    assert_eq!(is_over(&place, Left::Rebuild).await, Some(()));
    assert_eq!(place.state().rebuilds, 0, "it was looked at until it was gone");
}
