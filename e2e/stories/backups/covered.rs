//! A ring with passwords and TLS is backed up without a member that is down, and comes back
//! under another name: with all that a majority had, and with its roles.

use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, a_ring, bed, wait_for};
use serde_json::{Value, json};
use std::ops::Range;

use super::login::Login;
use super::{SOON, at_its_place, taken, whole_ring};

const COVERED: &str = "covered";
const BACK: &str = "covered-back";
/// Who is down.
const DOWN: &str = "covered-dc1-c-0";
const READER: (&str, &str) = ("reader", "of-the-backup");

/// Three racks of one member, with the credentials of the store.
fn manifest(name: &str, more: &str) -> String {
    let wanted = a_ring().racks(&[("a", 1), ("b", 1), ("c", 1)]).secure_by_default();
    at_its_place(wanted, name, COVERED, more)
}

/// Rows of a batch, each with a text of its own.
fn insert(ids: Range<u32>) -> String {
    let each =
        ids.map(|id| format!("INSERT INTO kept.rows (id, word) VALUES ({id}, 'word {id}');"));
    format!("BEGIN UNLOGGED BATCH {} APPLY BATCH", each.collect::<String>())
}

fn all_rows(ids: Range<u32>) -> Vec<String> {
    sorted(ids.map(|id| format!("{id} word {id}")).collect())
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

pub fn comes_back_with_its_roles() {
    let ring = Ring::create_from(bed(), COVERED, &manifest(COVERED, ""), 3).expect("a ring");
    ring.wait_settled().expect("settled");
    let superuser = Login::superuser(COVERED);
    let (user, password) = READER;
    let role = format!("CREATE ROLE {user} WITH PASSWORD = '{password}' AND LOGIN = true");
    let grant = format!("GRANT SELECT ON KEYSPACE kept TO {user}");
    let schema = [
        "CREATE KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
        "CREATE TABLE kept.rows (id int PRIMARY KEY, word text)",
        &role,
        &grant,
    ];
    superuser.ask("QUORUM", &schema).expect("a keyspace and a role");
    superuser.ask("ALL", &[&insert(0..50)]).expect("rows that all have");
    let stopped = json!({ "spec": { "wanted": { "run": "Stopped" } } });
    bed().patch(COVERED, "cassandramember", DOWN, &stopped).expect("the wish is accepted");
    wait_for("a member to be down", SOON, || {
        Ok((ring.member(DOWN)?["status"]["server"]["state"] == "Stopped").then_some(()))
    })
    .expect("it stops");
    // Of these it has none.
    superuser.ask("QUORUM", &[&insert(50..100)]).expect("rows that a majority has");
    taken::create_in(COVERED, "without-one", ", coverage: QuorumOfEachRange");
    let backup = taken::complete_in(COVERED, "without-one");
    let missing: Vec<&str> = members(&backup).filter(|(_, left)| *left).map(|(m, _)| m).collect();
    assert_eq!(missing, [DOWN], "{}", backup["status"]);
    let told = condition(&backup, "Complete")["message"].to_string();
    assert!(told.contains(DOWN), "it says who is left out: {told}");
    let shown = taken::repository_of(COVERED, &format!("show {}", text(&backup, "/status/id")));
    let ids = ring.host_ids().expect("host IDs");
    let (_, id) = ids.iter().find(|(name, _)| name == DOWN).expect("its host ID");
    let line = shown.lines().find(|line| line.contains(id.as_str()));
    assert!(line.is_some_and(|line| line.contains("left out")), "{shown}");
    // Another ring begins with it.
    let back = Ring::with_client(bed(), BACK).expect("a client");
    bed().apply(BACK, &manifest(BACK, "restore: back")).expect("apply");
    bed().apply(BACK, &whole_ring(BACK, COVERED, &backup, "")).expect("the restore is accepted");
    let mut last = Value::Null;
    wait_for("the restore to end", SOON * 3, || {
        last = bed().get(BACK, "cassandrarestore", "back")?.unwrap_or_default();
        Ok(last["status"]["endedAt"].is_string().then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(text(&last, "/status/phase"), "Complete", "{}", last["status"]);
    back.wait_ready(3).expect("all are ready");
    back.wait_settled().expect("settled");
    // Whoever had a role has it again, and no more.
    let reader = Login::of(BACK, user, password);
    let read = "SELECT id, word FROM kept.rows";
    let rows = reader.ask("ALL", &[read]).expect("the role of the backup logs in and reads");
    assert_eq!(sorted(rows), all_rows(0..100), "repaired, all have all");
    // The superuser of this ring is its own.
    let rows = Login::superuser(BACK).ask("QUORUM", &[read]).expect("its own superuser");
    assert_eq!(rows.len(), 100);
    bed().remove_namespace(BACK).expect("removed");
    bed().remove_namespace(COVERED).expect("removed");
}

/// The members of a backup, and whether each is left out.
fn members(backup: &Value) -> impl Iterator<Item = (&str, bool)> {
    let all = backup["status"]["members"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(|member| (text(member, "/name"), member["state"] == "Missing"))
}
