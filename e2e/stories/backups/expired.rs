//! Backups that expire, by a user's word and by the rules of their schedule: condemned first, gone
//! a day later, and nothing with them that another backup needs.

use std::collections::BTreeSet;
use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::restored::{ask_of, ended, restored};
use super::taken::{TABLES, ask_for, backup, complete, figure, left, repository, ring};
use super::{NAMESPACE, SOON, store};

/// A keyspace that no other step has a backup of.
const KEYSPACE: &str = "fleeting";
const ROWS: u32 = 50;
const SCHEDULE: &str = "thrifty";
const PLACE: &str = "rings/demo";
/// What nobody names is condemned after two days; what a restore of another step has read, it
/// reads for seven.
const DAYS: Duration = Duration::from_secs(8 * 86_400);
const DAY: Duration = Duration::from_secs(86_400);

/// Its rows are in one SSTable of each member, which nothing changes any more.
fn fleeting(ring: &Ring<'_>) {
    let created = [
        format!(
            "CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'NetworkTopologyStrategy', 'dc1': 3}}"
        ),
        format!("CREATE TABLE {KEYSPACE}.rows (k int PRIMARY KEY, v text)"),
    ];
    let rows =
        (0..ROWS).map(|k| format!("INSERT INTO {KEYSPACE}.rows (k, v) VALUES ({k}, 'v{k}')"));
    let all: Vec<String> = created.into_iter().chain(rows).collect();
    ring.cql(&all.iter().map(String::as_str).collect::<Vec<_>>()).expect("rows");
    for member in ring.member_names().expect("the members") {
        bed().exec(NAMESPACE, &member, &["nodetool", "flush", KEYSPACE]).expect("flushed");
    }
}

fn rows(ring: &Ring<'_>) -> usize {
    ring.cql(&[&format!("SELECT k FROM {KEYSPACE}.rows")]).expect("rows").len()
}

/// Wait until the backup is in this phase.
fn until(name: &str, phase: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    let found = wait_for(&format!("the backup {name} to be {phase}"), SOON, || {
        last = backup(name)?;
        let is_there = text(&last, "/status/phase") == phase && is_so(&last);
        Ok(is_there.then(|| last.clone()))
    });
    found.unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]))
}

fn is_condemned(backup: &Value) -> bool {
    backup["status"]["expiry"]["condemnedAt"].is_string()
}

/// The objects that the entries list.
fn condemned() -> BTreeSet<String> {
    let folder = format!("{PLACE}/condemned");
    let names = store().objects_under(&folder).expect("a list");
    let lists = names.iter().filter(|name| name.contains(".objects~"));
    let read = |name: &String| {
        let path = store().bucket().join(&folder).join(name);
        String::from_utf8_lossy(&std::fs::read(path).expect("a list")).into_owned()
    };
    let lines: Vec<String> = lists.map(read).collect();
    let lines = lines.iter().flat_map(|list| list.lines());
    lines.filter(|line| line.starts_with("sstables/")).map(str::to_string).collect()
}

fn objects() -> BTreeSet<String> {
    store().objects_under(PLACE).expect("a list")
}

fn id(backup: &Value) -> String {
    text(backup, "/status/id").to_string()
}

/// A schedule that takes none, and has these.
fn scheduled(names: &[&str]) {
    let schedule = format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraBackupSchedule
metadata: {{name: {SCHEDULE}}}
spec: {{cluster: {NAMESPACE}, schedule: '0 0 1 1 *', suspend: true, retention: {{last: 1}}, template: {{keyspaces: [{TABLES}]}}}}
"
    );
    for name in names {
        let label = format!("palladion.dev/schedule={SCHEDULE}");
        let line = format!("-n {NAMESPACE} label cassandrabackup {name} {label}");
        bed().kubectl(&line).expect("labelled");
    }
    bed().apply(NAMESPACE, &schedule).expect("the schedule is accepted");
}

/// As if the operator's clock were at the time at which it deletes what is condemned.
fn is_due(ring: &Ring<'_>) {
    let cluster = ring.cluster().expect("the cluster");
    let at = text(&cluster, "/status/retention/sweepAt");
    assert!(!at.is_empty(), "{}", cluster["status"]["retention"]);
    let past = json!({"status": {"retention": {"sweepAt": "2020-01-01T00:00:00Z"}}}).to_string();
    let patch = ["patch", "cassandracluster", NAMESPACE, "-n", NAMESPACE, "--subresource=status"];
    bed()
        .cluster
        .kubectl(&[&patch[..], &["--type=merge", "-p", &past]].concat())
        .expect("the status of the cluster");
}

/// Wait until nothing is under way for it.
fn at_rest(ring: &Ring<'_>, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    let found = wait_for("the retention to be at rest", SOON, || {
        last = ring.cluster()?["status"]["retention"].clone();
        Ok((last["work"].is_null() && is_so(&last)).then(|| last.clone()))
    });
    found.unwrap_or_else(|why| panic!("{why:#}: {last}"))
}

pub fn condemned_and_a_day_later_gone() {
    let ring = ring();
    ask_for(&[TABLES], "stays", "");
    let stays = complete("stays");
    let shared = objects();
    // After that one: a backup that lacks a keyspace that there was takes the place of none with it.
    fleeting(&ring);
    ask_for(&[TABLES, KEYSPACE], "goes", "");
    let goes = complete("goes");
    assert!(figure(&goes, "sentBytes") > 0 && figure(&goes, "reusedBytes") > 0, "{goes}");
    store().ages(DAYS).expect("older objects");
    let before = objects();

    bed()
        .patch(NAMESPACE, "cassandrabackup", "goes", &json!({"spec": {"expire": true}}))
        .expect("it is to expire");
    let expiring = until("goes", "Expiring", is_condemned);
    assert_eq!(condition(&expiring, "Expired")["reason"], Reason::BackupExpiring.as_str());
    assert_eq!(condition(&expiring, "Complete")["status"], "False");
    assert_eq!(expiring["status"]["expiry"]["by"], "User");
    let first = condemned();
    let sent = before.difference(&shared).filter(|name| name.starts_with("sstables/"));
    assert_eq!(first, sent.cloned().collect(), "what it has sent, and nothing that another needs");
    assert!(objects().is_superset(&before), "the first phase deletes nothing");
    ask_of("goes", "too-late", &format!("tables: [{{from: {KEYSPACE}}}]"));
    let refused = condition(&ended("too-late"), "Failed");
    assert_eq!(refused["reason"], Reason::RestoreRefused.as_str());
    assert!(text(&refused, "/message").contains("goes expires"), "{refused}");

    // What is condemned is sent once more, and the rest is not.
    ask_for(&[TABLES, KEYSPACE], "next", "");
    let next = complete("next");
    assert_eq!(figure(&next, "sentBytes"), figure(&goes, "sentBytes"), "{}", next["status"]);
    assert_eq!(figure(&next, "reusedBytes"), figure(&goes, "reusedBytes"), "{}", next["status"]);
    scheduled(&["stays", "next"]);
    let by_rule = until("stays", "Expiring", is_condemned);
    assert_eq!(by_rule["status"]["expiry"]["by"], "Schedule");

    // By the operator's clock it is time, by the store's it is not.
    is_due(&ring);
    at_rest(&ring, |now| now["sweptAt"].is_string());
    assert!(objects().is_superset(&before), "nothing goes before a day has passed");
    until("goes", "Expiring", |_| true);
    store().ages(DAY).expect("a day later");
    is_due(&ring);
    for name in ["goes", "stays"] {
        let gone = until(name, "Expired", |_| true);
        assert_eq!(condition(&gone, "Expired")["status"], "True");
    }
    let swept = at_rest(&ring, |now| now["sweepAt"].is_null());
    assert!(swept["sweptBytes"].as_u64() > Some(0) && swept["message"].is_null(), "{swept}");
    let after = objects();
    for gone in [&goes, &stays] {
        let folder = format!("backups/{}/", id(gone));
        assert!(!after.iter().any(|name| name.starts_with(&folder)), "{folder}");
    }
    assert!(first.is_disjoint(&after), "what only an expired backup needs is deleted");
    wait_for("the schedule to say that all is well", SOON, || {
        let now = bed().get(NAMESPACE, "cassandrabackupschedule", SCHEDULE)?.unwrap_or_default();
        Ok((condition(&now, "RetentionDelayed")["status"] == "False").then_some(()))
    })
    .expect("all is well");

    // And the one that is left has all that it needs, of the others too.
    repository(&format!("verify {} --read", id(&next)));
    ring.cql(&[&format!("TRUNCATE {KEYSPACE}.rows")]).expect("thrown away");
    assert_eq!(rows(&ring), 0);
    ask_of("next", "in-time", &format!("tables: [{{from: {KEYSPACE}}}]"));
    restored(&ring, "in-time");
    assert_eq!(rows(&ring), ROWS as usize);
    assert!(left(&ring).is_empty(), "{:?}", left(&ring));
    ring.cql(&[&format!("DROP KEYSPACE {KEYSPACE}")]).expect("dropped");
}
