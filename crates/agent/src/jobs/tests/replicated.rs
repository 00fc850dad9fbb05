//! Copies of keyspaces in one datacenter, as a job sets them.

use super::how;
use crate::jobs::place::Place;
use crate::jobs::{Waited, settle, work};
use crate::replication::Replication;
use palladion_api::member::{JobCause, JobState};
use palladion_api::task::{FewerCopies, KeyspaceState, ReplicationTask, SimpleReplication, Work};

fn by_datacenter(options: &[(&str, &str)]) -> Replication {
    let mut all = serde_json::json!({ "class": "NetworkTopologyStrategy" });
    options.iter().for_each(|(name, copies)| all[*name] = (*copies).into());
    Replication::read(&serde_json::json!({ "replication": all }).to_string()).unwrap()
}

fn simple(copies: &str) -> Replication {
    let all = serde_json::json!({ "class": "SimpleStrategy", "replication_factor": copies });
    Replication::read(&serde_json::json!({ "replication": all }).to_string()).unwrap()
}

/// A ring of two, of which one is in dc2.
fn place() -> Place {
    let place = Place::new();
    let mut state = place.state();
    state.elsewhere.insert("2", "dc2");
    for keyspace in ["shop", "stock"] {
        state.replications.insert(keyspace.into(), by_datacenter(&[("dc1", "1")]));
    }
    drop(state);
    place
}

fn to_dc2(factor: u32) -> ReplicationTask {
    ReplicationTask {
        keyspaces: vec!["shop".into(), "stock".into()],
        datacenter: "dc2".into(),
        factor,
        ..Default::default()
    }
}

fn asks(what: ReplicationTask) -> Work {
    Work { replication: Some(what), ..Default::default() }
}

#[tokio::test]
async fn each_keyspace_is_changed_once_and_says_what_it_was() {
    let place = place();
    let bench = place.begun("a", "task", asks(to_dc2(1)));
    assert_eq!(how(work(&bench).await.as_ref()), (JobState::Succeeded, None));
    let calls = place.calls();
    let expected = "alter shop to NetworkTopologyStrategy {dc1: 1, dc2: 1} at shop.";
    assert_eq!((calls.len(), calls[0].as_str()), (2, expected));
    let status = place.book.status(Some("a")).unwrap();
    let of: Vec<_> = status.results.iter().map(|r| (r.name.as_str(), r.state)).collect();
    let done = KeyspaceState::Succeeded;
    assert_eq!(of, [("shop", done), ("stock", done)]);
    let was = status.results[0].message.as_deref();
    assert_eq!(was, Some("before: NetworkTopologyStrategy {dc1: 1}"));
    assert_eq!(how(work(&bench).await.as_ref()), (JobState::Succeeded, None));
    assert!(place.calls().is_empty(), "it is noted as done");
}

/// The second keyspace cannot be changed: the first one is not, either.
#[tokio::test]
async fn what_is_refused_of_one_keyspace_is_found_before_any_is_changed() {
    let (server, simply) = (JobCause::ServerError, JobCause::SimpleStrategyInTheWay);
    for (stock, what, cause, words) in [
        (simple("1"), to_dc2(1), simply, "SimpleStrategy"),
        (by_datacenter(&[("dc1", "1"), ("dc2", "2")]), to_dc2(1), server, "lowering: Allow"),
        (by_datacenter(&[("dc1", "1")]), to_dc2(2), server, "it has 1 members"),
        (by_datacenter(&[("dc2", "1")]), to_dc2(0), server, "lowering: Allow"),
    ] {
        let place = place();
        place.state().replications.insert("stock".into(), stock);
        let bench = place.begun("a", "task", asks(what));
        let ended = work(&bench).await.unwrap();
        assert_eq!((ended.state, ended.cause), (JobState::Failed, Some(cause)));
        assert!(ended.message.as_ref().unwrap().contains(words), "{ended:?}");
        assert!(place.calls().is_empty(), "nothing was written: {words}");
    }
}

#[tokio::test]
async fn a_datacenter_is_dropped_and_a_simple_strategy_converted_where_that_is_asked_for() {
    let place = place();
    let both = by_datacenter(&[("dc1", "1"), ("dc2", "1")]);
    place.state().replications.insert("shop".into(), both);
    let drop = ReplicationTask { lowering: FewerCopies::Allow, ..to_dc2(0) };
    let ended = work(&place.begun("a", "task", asks(drop))).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls(), ["alter shop to NetworkTopologyStrategy {dc1: 1} at shop."]);
    let convert = || ReplicationTask {
        keyspaces: vec!["shop".into()],
        datacenter: "dc1".into(),
        factor: 1,
        simple_strategy: SimpleReplication::Convert,
        ..Default::default()
    };
    place.state().replications.insert("shop".into(), simple("1"));
    let ended = work(&place.begun("b", "other", asks(convert()))).await;
    assert_eq!(how(ended.as_ref()).0, JobState::Failed, "the ring has another datacenter");
    place.state().elsewhere.clear();
    let ended = work(&place.begun("c", "third", asks(convert()))).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls(), ["alter shop to NetworkTopologyStrategy {dc1: 1} at shop."]);
}

/// An agent that ends between two keyspaces: the next try goes on after the first.
#[tokio::test]
async fn a_later_try_goes_on_after_what_was_changed() {
    let mut place = place();
    let bench = place.begun("a", "task", asks(to_dc2(1)));
    bench
        .book
        .change(|n| n.call(crate::volume::jobs::Item { keyspace: "shop".into(), table: None }))
        .unwrap();
    let bench = place.after_a_restart();
    let ended = settle(&bench, Waited::EarlierAgent).await;
    assert_eq!(how(ended.as_ref()), (JobState::Interrupted, Some(JobCause::AgentEnded)));
    assert!(place.calls().is_empty(), "nothing is called beside it");
    super::end(&place, ended.unwrap());
    let bench = place.begun("b", "task", asks(to_dc2(1)));
    assert_eq!(how(work(&bench).await.as_ref()), (JobState::Succeeded, None));
    assert_eq!(place.calls().len(), 2);
}

/// The statement is carried out and its answer is lost: the next try finds what it wants, and says
/// what it was before, since whoever has more copies now is repaired.
#[tokio::test]
async fn copies_that_a_try_without_an_answer_has_raised_are_known_to_the_next() {
    let place = place();
    let raise = || ReplicationTask { keyspaces: vec!["shop".into()], ..to_dc2(1) };
    place.state().loses_answer = true;
    let bench = place.begun("a", "task", asks(raise()));
    let lost = work(&bench).await;
    assert!(lost.is_none(), "{lost:?}");
    let ended = settle(&bench, Waited::ThisAgent).await;
    super::end(&place, ended.unwrap());
    assert_eq!(place.state().replications["shop"].copies_in("dc2"), Some(1));
    let bench = place.begun("b", "task", asks(raise()));
    assert_eq!(how(work(&bench).await.as_ref()), (JobState::Succeeded, None));
    let status = place.book.status(Some("b")).unwrap();
    assert_eq!(status.results[0].copies_before, Some(0), "{:?}", status.results);
}

/// Both have read the same: the later statement is what all servers have when they agree again,
/// and the task whose copies are gone fails.
#[tokio::test]
async fn whoever_is_overwritten_elsewhere_sees_it_once_servers_agree() {
    let place = place();
    let other = by_datacenter(&[("dc1", "1"), ("dc3", "1")]);
    place.state().overwritten = Some(("shop", other));
    let only = ReplicationTask { keyspaces: vec!["shop".into()], ..to_dc2(1) };
    let ended = work(&place.begun("a", "task", asks(only))).await.unwrap();
    assert_eq!((ended.state, ended.cause), (JobState::Failed, Some(JobCause::ServerError)));
    assert!(ended.message.as_ref().unwrap().contains("somebody else"), "{ended:?}");
}

/// What a coordinator has not received yet would be written over.
#[tokio::test]
async fn nothing_is_written_before_servers_agree_on_the_schema() {
    let place = place();
    place.state().disagrees = 1_000;
    let ended = work(&place.begun("a", "task", asks(to_dc2(1)))).await.unwrap();
    assert_eq!(ended.state, JobState::Failed);
    assert!(ended.message.as_ref().unwrap().contains("do not agree"), "{ended:?}");
    assert!(place.calls().is_empty());
    place.state().disagrees = 2;
    let ended = work(&place.begun("b", "task", asks(to_dc2(1)))).await;
    assert_eq!(how(ended.as_ref()), (JobState::Succeeded, None));
}
