//! Restores into the ring that runs: what was thrown away comes back, what is there stays.

use anyhow::Result;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::taken::{TABLES, complete, left, ring, whole};
use super::{NAMESPACE, SOON, every};

/// The backup that is restored.
pub(super) const BACKUP: &str = "kept-for-restores";

pub(super) fn backed_up() -> Ring<'static> {
    let ring = ring();
    every::made(&ring);
    if bed().get(NAMESPACE, "cassandrabackup", BACKUP).expect("get").is_none() {
        whole(BACKUP);
    }
    complete(BACKUP);
    ring
}

fn ask(name: &str, more: &str) {
    ask_of(BACKUP, name, more);
}

pub(super) fn ask_of(backup: &str, name: &str, more: &str) {
    let restore = format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraRestore
metadata: {{name: {name}}}
spec: {{cluster: {NAMESPACE}, mode: Tables, source: {{backup: {backup}}}, {more}}}
"
    );
    bed().apply(NAMESPACE, &restore).expect("the restore is accepted");
}

fn restore(name: &str) -> Result<Value> {
    Ok(bed().get(NAMESPACE, "cassandrarestore", name)?.unwrap_or_default())
}

/// Wait until it is so far.
fn until(name: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    let found = wait_for(&format!("the restore {name} {what}"), SOON, || {
        last = restore(name)?;
        Ok(is_so(&last).then(|| last.clone()))
    });
    found.unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]))
}

pub(super) fn ended(name: &str) -> Value {
    until(name, "to end", |now| now["status"]["endedAt"].is_string())
}

pub(super) fn restored(ring: &Ring<'_>, name: &str) -> Value {
    let ended = ended(name);
    assert_eq!(text(&ended, "/status/phase"), "Complete", "{}", ended["status"]);
    assert_eq!(condition(&ended, "Complete")["status"], "True");
    wait_for("nothing to be left of it", SOON, || {
        let of_ring = ring.cluster()?["status"]["restore"].clone();
        Ok((left(ring).is_empty() && of_ring.is_null() && files(ring).is_empty()).then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {:?} {:?}", left(ring), files(ring)));
    ended
}

/// What was fetched, and is still on a volume.
fn files(ring: &Ring<'_>) -> Vec<String> {
    let find = ["find", "/var/lib/cassandra/.palladion/restore", "-type", "f"];
    let members = ring.member_names().expect("the members");
    let found = members.iter().map(|name| bed().exec(NAMESPACE, name, &find).unwrap_or_default());
    found.flat_map(|said| said.lines().map(str::to_string).collect::<Vec<_>>()).collect()
}

fn grace(ring: &Ring<'_>, keyspace: &str) -> Vec<String> {
    let asked = format!(
        "SELECT table_name, gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = '{keyspace}'"
    );
    ring.cql(&[&asked]).expect("an answer")
}

pub fn rows() {
    let ring = backed_up();
    let before = grace(&ring, TABLES);
    let throw = ["rows", "registers"].map(|table| format!("TRUNCATE {TABLES}.{table}"));
    ring.cql(&throw.each_ref().map(String::as_str)).expect("the rows are thrown away");
    assert!(ring.check_data().is_err(), "a check that cannot fail");
    ask("back", &format!("tables: [{{from: {TABLES}}}]"));
    let done = restored(&ring, "back");
    assert!(done["status"]["totals"]["sstables"].as_u64() > Some(2), "{}", done["status"]);
    ring.check_data().expect("every row came back");
    assert_eq!(grace(&ring, TABLES), before);
    // The same once more finds the rows, and touches none.
    ask("again", &format!("tables: [{{from: {TABLES}}}]"));
    let refused = ended("again");
    assert_eq!(condition(&refused, "Failed")["reason"], Reason::TableNotEmpty.as_str());
    ring.check_data().expect("no row was touched");
}

pub fn every_word() {
    let ring = backed_up();
    let (keyspace, again) = (every::KEYSPACE, every::AGAIN);
    let before = every::rows(&ring, keyspace);
    ask("renamed", &format!("tables: [{{from: {keyspace}, to: {again}}}]"));
    restored(&ring, "renamed");
    assert_eq!(every::rows(&ring, again), before);
    assert_eq!(grace(&ring, again), grace(&ring, keyspace));
    // What was counted can be counted on, and what was deleted stays so.
    let more = format!("UPDATE {again}.visits SET times = times + 1 WHERE page = 'p'");
    let read = format!("SELECT times FROM {again}.visits");
    assert_eq!(ring.cql(&[&more, &read]).expect("a number"), ["43"]);
    ring.cql(&[&format!("DROP KEYSPACE {again}")]).expect("dropped");
}

pub fn on_a_yes() {
    let ring = backed_up();
    let extra = format!("INSERT INTO {}.people (id, age) VALUES (99, 99)", every::KEYSPACE);
    let count = format!("SELECT id FROM {}.people", every::KEYSPACE);
    let with_extra = ring.cql(&[&extra, &count]).expect("rows").len();
    assert_eq!(with_extra, 4);
    let only = format!("tables: [{{from: {}.people}}]", every::KEYSPACE);
    ask("over", &format!("existing: Truncate, {only}"));
    let asked = until("over", "to ask", |now| text(now, "/status/phase") == "Confirming");
    let said = condition(&asked, "Complete");
    assert_eq!(said["reason"], Reason::ConfirmationNeeded.as_str());
    bed()
        .patch(NAMESPACE, "cassandrarestore", "over", &json!({"spec": {"confirm": "yes"}}))
        .expect("patched");
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(text(&restore("over").expect("get"), "/status/phase"), "Confirming");
    assert_eq!(ring.cql(&[&count]).expect("rows").len(), 4, "nothing goes without a yes");
    let yes = json!({"spec": {"confirm": asked["status"]["nonce"]}});
    bed().patch(NAMESPACE, "cassandrarestore", "over", &yes).expect("patched");
    restored(&ring, "over");
    assert_eq!(ring.cql(&[&count]).expect("rows").len(), 3, "the rows of then, and no other");
}
