//! What a change of replication keeps, and what it refuses.

use super::{Altered, Change, Fewer, Replication, Schema, Simple, View, alter};
use crate::cql::testing::FakeServer;
use crate::cql::{Credentials, Endpoint};
use futures::future::BoxFuture;
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::{Liveness, MemberState, RingMember};
use std::collections::BTreeMap;
use std::time::Duration;

fn row(class: &str, options: &[(&str, &str)]) -> String {
    let mut replication =
        BTreeMap::from([("class", format!("org.apache.cassandra.locator.{class}"))]);
    replication.extend(options.iter().map(|(name, value)| (*name, (*value).to_string())));
    serde_json::json!({ "replication": replication }).to_string()
}

fn by_datacenter(options: &[(&str, &str)]) -> Replication {
    Replication::read(&row("NetworkTopologyStrategy", options)).unwrap()
}

fn simple(copies: &str) -> Replication {
    Replication::read(&row("SimpleStrategy", &[("replication_factor", copies)])).unwrap()
}

fn change(factors: &[(&str, u32)]) -> Change {
    let factors = factors.iter().map(|(name, copies)| ((*name).to_string(), *copies)).collect();
    Change { factors, simple: Simple::Refused, fewer: Fewer::Refused }
}

/// A ring as the only member of dc1 sees it, or one of several.
fn view(datacenters: &[(Option<&str>, usize)]) -> View {
    let mut members = Vec::new();
    for (datacenter, count) in datacenters {
        for _ in 0..*count {
            members.push(RingMember {
                host_id: HostId::new(format!("h{}", members.len())),
                address: StaticAddress::new(format!("10.0.0.{}", members.len())),
                liveness: Liveness::Up,
                state: MemberState::Normal,
                datacenter: datacenter.map(str::to_string),
                version: None,
            });
        }
    }
    View::of("dc1", Some(&members))
}

fn two() -> View {
    view(&[(Some("dc1"), 3), (Some("dc2"), 2)])
}

fn refused(present: &Replication, change: &Change, view: &View) -> String {
    present.changed(change, view).unwrap_err().to_string()
}

#[test]
fn what_a_change_does_not_name_stays_as_it_is() {
    let present = by_datacenter(&[("dc1", "2"), ("dc2", "3"), ("dc3", "3/1")]);
    let changed = present.changed(&change(&[("dc1", 3)]), &two()).unwrap();
    assert_eq!(
        changed.statement("system_auth"),
        "ALTER KEYSPACE \"system_auth\" WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 3, 'dc3': '3/1'}"
    );
    let added = by_datacenter(&[("dc1", "3")]).changed(&change(&[("dc2", 2)]), &two()).unwrap();
    assert_eq!(added, by_datacenter(&[("dc1", "3"), ("dc2", "2")]));
}

/// What its own operator orders of the system keyspaces goes up and down with its members.
#[test]
fn the_other_datacenter_survives_fewer_copies_here_and_an_unknown_view() {
    let present = by_datacenter(&[("dc1", "3"), ("dc2", "3")]);
    let mut lower = change(&[("dc1", 2)]);
    assert!(refused(&present, &lower, &two()).contains("`lowering: Allow`"));
    (lower.simple, lower.fewer) = (Simple::Replaced, Fewer::OwnAlone);
    for view in [two(), view(&[(None, 1)]), View::of("dc1", None)] {
        let changed = present.changed(&lower, &view).unwrap();
        assert_eq!(changed, by_datacenter(&[("dc1", "2"), ("dc2", "3")]));
    }
}

/// An order of when the other datacenter had one member, carried out when its operator has given
/// it three copies.
#[test]
fn an_order_of_its_own_operator_lowers_no_copies_elsewhere() {
    let late = Change { fewer: Fewer::OwnAlone, ..change(&[("dc1", 2), ("dc2", 1)]) };
    let present = by_datacenter(&[("dc1", "3"), ("dc2", "3")]);
    let changed = present.changed(&late, &two()).unwrap();
    assert_eq!(changed, by_datacenter(&[("dc1", "2"), ("dc2", "3")]));
    let drop = Change { fewer: Fewer::OwnAlone, ..change(&[("dc2", 0)]) };
    assert!(refused(&present, &drop, &two()).contains("sees members in datacenter dc2"));
    assert!(present.changed(&drop, &View::of("dc1", None)).is_err(), "it is not known");
    let alone = view(&[(Some("dc1"), 2)]);
    assert_eq!(present.changed(&drop, &alone).unwrap(), by_datacenter(&[("dc1", "3")]));
    let raised = by_datacenter(&[("dc1", "3")]).changed(&late, &two()).unwrap();
    assert_eq!(raised, by_datacenter(&[("dc1", "2"), ("dc2", "1")]));
}

#[test]
fn a_datacenter_is_dropped_by_its_name_and_never_the_last_one() {
    let drop = Change { fewer: Fewer::Allowed, ..change(&[("dc2", 0)]) };
    let present = by_datacenter(&[("dc1", "3"), ("dc2", "3")]);
    assert_eq!(present.changed(&drop, &two()).unwrap(), by_datacenter(&[("dc1", "3")]));
    assert!(present.changed(&change(&[("dc2", 0)]), &two()).is_err(), "without a word for it");
    let alone = by_datacenter(&[("dc2", "3")]);
    assert!(refused(&alone, &drop, &two()).contains("no datacenter"));
    let never = by_datacenter(&[("dc1", "3")]);
    assert_eq!(never.changed(&drop, &two()).unwrap(), never, "it is not there");
}

#[test]
fn copies_need_members_that_the_server_sees() {
    let present = by_datacenter(&[("dc1", "3")]);
    assert!(refused(&present, &change(&[("dc2", 3)]), &two()).contains("it has 2 members"));
    assert!(refused(&present, &change(&[("dc9", 1)]), &two()).contains("no member"));
    let unclear = view(&[(Some("dc1"), 3), (None, 1)]);
    assert!(refused(&present, &change(&[("dc2", 1)]), &unclear).contains("does not report"));
    // More than there are, as it was, may stay.
    let much = by_datacenter(&[("dc1", "3"), ("dc2", "5")]);
    assert_eq!(much.changed(&change(&[("dc2", 5)]), &two()).unwrap(), much);
    let transient = by_datacenter(&[("dc1", "3/1")]);
    assert!(refused(&transient, &change(&[("dc1", 3)]), &two()).contains("not a number"));
}

#[test]
fn a_simple_strategy_is_replaced_only_where_nobody_elsewhere_may_have_copies() {
    let alone = view(&[(Some("dc1"), 3)]);
    let replace = Change { simple: Simple::Replaced, ..change(&[("dc1", 3)]) };
    let replaced = simple("1").changed(&replace, &alone).unwrap();
    assert_eq!(replaced, by_datacenter(&[("dc1", "3")]));
    assert!(refused(&simple("1"), &replace, &two()).contains("(dc2)"));
    let unclear = view(&[(None, 1)]);
    assert!(refused(&simple("1"), &replace, &unclear).contains("does not report"));
    assert!(refused(&simple("1"), &replace, &View::of("dc1", None)).contains("does not report"));
    assert!(refused(&simple("3"), &change(&[("dc1", 3)]), &alone).contains("SimpleStrategy"));
    let convert = Change { simple: Simple::Converted, ..change(&[("dc1", 3)]) };
    assert_eq!(simple("3").changed(&convert, &alone).unwrap(), by_datacenter(&[("dc1", "3")]));
    assert!(refused(&simple("2"), &convert, &alone).contains("keeps their number"));
    let elsewhere = Change { simple: Simple::Converted, ..change(&[("dc2", 3)]) };
    assert!(refused(&simple("3"), &elsewhere, &alone).contains("no member in datacenter dc2"));
}

#[test]
fn what_every_server_has_for_itself_is_never_changed() {
    for class in ["LocalStrategy", "EverywhereStrategy"] {
        let present = Replication::read(&row(class, &[])).unwrap();
        let all =
            Change { simple: Simple::Replaced, fewer: Fewer::Allowed, ..change(&[("dc1", 1)]) };
        assert!(present.changed(&all, &two()).is_err(), "{class}");
    }
    for odd in ["{}", "", r#"{"replication": {"dc1": "3"}}"#, r#"{"replication": {"class": 3}}"#] {
        assert_eq!(Replication::read(odd), None, "{odd}");
    }
}

fn endpoint(server: &FakeServer) -> Endpoint {
    server.endpoint(Some(Credentials { username: "u".into(), password: "p".into() }))
}

/// Servers that agree.
struct Agree;

impl Schema for Agree {
    fn is_agreed(&self) -> BoxFuture<'_, anyhow::Result<bool>> {
        Box::pin(async { Ok(true) })
    }
}

async fn changed(
    keyspaces: &Endpoint,
    keyspace: &str,
    change: &Change,
    view: &View,
) -> anyhow::Result<Altered> {
    alter((keyspaces, (&Agree, Duration::ZERO)), keyspace, change, view, |_| Ok(())).await
}

#[tokio::test]
async fn one_statement_is_written_and_read_back_and_none_where_nothing_changes() {
    let server = FakeServer::with_users(&[("u", "p")]).await;
    let present = by_datacenter(&[("dc1", "2"), ("dc2", "3")]);
    server.replicate("shop", &row("NetworkTopologyStrategy", &[("dc1", "2"), ("dc2", "3")]));
    let connection = endpoint(&server);
    let (raise, view) = (change(&[("dc1", 3)]), two());
    let altered = changed(&connection, "shop", &raise, &view).await.unwrap();
    assert_eq!(altered, Altered::From(present));
    assert_eq!(
        server.statements(),
        [
            "ALTER KEYSPACE \"shop\" WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 3}"
        ]
    );
    let again = changed(&connection, "shop", &raise, &view).await.unwrap();
    assert_eq!((again, server.statements().len()), (Altered::Nothing, 1));
    let unknown = changed(&connection, "gone", &raise, &view).await.unwrap_err();
    assert!(unknown.to_string().contains("does not exist"), "{unknown}");
}

/// Two regions read, and then both write: the one whose word was overwritten says so.
#[tokio::test]
async fn who_is_overwritten_in_between_is_told() {
    let server = FakeServer::with_users(&[("u", "p")]).await;
    server.replicate("shop", &row("NetworkTopologyStrategy", &[("dc1", "2")]));
    server.overwrites("shop", &row("NetworkTopologyStrategy", &[("dc1", "2"), ("dc2", "2")]));
    let connection = endpoint(&server);
    let error = changed(&connection, "shop", &change(&[("dc1", 3)]), &two()).await.unwrap_err();
    assert!(error.to_string().contains("somebody else"), "{error}");
}
