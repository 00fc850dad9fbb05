//! Backups that are taken: whole, once, or not at all.

use anyhow::Result;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, bed, s3, wait_for};
use serde_json::{Value, json};

use super::{NAMESPACE, SOON, every, store, wanted};

const SCHEDULE: &str = "nightly";
pub(super) const TABLES: &str = "kept";

pub(super) fn ring() -> Ring<'static> {
    let secret = format!(
        "apiVersion: v1
kind: Secret
metadata: {{name: {NAMESPACE}-backup}}
stringData: {{accessKeyId: {}, secretAccessKey: {}}}
",
        s3::ID,
        s3::SECRET
    );
    let is_there = bed().get(NAMESPACE, "cassandracluster", NAMESPACE).expect("get").is_some();
    if is_there {
        return Ring::at(bed(), NAMESPACE);
    }
    let (wanted, copies) = (wanted(), wanted().copies().unwrap_or_default());
    // With the pods: one that comes later takes a kubelet more than a minute to see.
    let manifest = format!("{}\n---\n{secret}", wanted.manifest(NAMESPACE));
    let ring = Ring::create_from(bed(), NAMESPACE, &manifest, wanted.members()).expect("a ring");
    ring.write_data(copies).expect("rows");
    ring.wait_settled().expect("settled");
    ring
}

pub(super) fn ask(name: &str, more: &str) {
    ask_for(&[TABLES, every::KEYSPACE], name, more);
}

pub(super) fn ask_for(keyspaces: &[&str], name: &str, more: &str) {
    create(name, &format!(", keyspaces: [{}]{more}", keyspaces.join(", ")));
}

/// Of all keyspaces, with the roles: a ring begins with nothing less.
pub(super) fn whole(name: &str) {
    create(name, "");
}

fn create(name: &str, more: &str) {
    create_in(NAMESPACE, name, more);
}

/// The same of the ring of this namespace.
pub(super) fn create_in(namespace: &str, name: &str, more: &str) {
    let backup = format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraBackup
metadata: {{name: {name}}}
spec: {{cluster: {namespace}{more}}}
"
    );
    bed().apply(namespace, &backup).expect("the backup is accepted");
}

pub(super) fn backup(name: &str) -> Result<Value> {
    Ok(bed().get(NAMESPACE, "cassandrabackup", name)?.unwrap_or_default())
}

/// Wait until it has ended, and see that it is complete.
pub(super) fn complete(name: &str) -> Value {
    complete_in(NAMESPACE, name)
}

/// The same of the ring of this namespace.
pub(super) fn complete_in(namespace: &str, name: &str) -> Value {
    let mut last = Value::Null;
    let ended = wait_for(&format!("the backup {name} to end"), SOON, || {
        last = bed().get(namespace, "cassandrabackup", name)?.unwrap_or_default();
        Ok(last["status"]["endedAt"].is_string().then(|| last.clone()))
    });
    let ended = ended.unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(text(&ended, "/status/phase"), "Complete", "{}", ended["status"]);
    assert_eq!(condition(&ended, "Complete")["status"], "True");
    assert_eq!(condition(&ended, "Failed")["status"], "False");
    ended
}

pub(super) fn figure(backup: &Value, name: &str) -> u64 {
    backup["status"]["totals"][name].as_u64().unwrap_or_default()
}

/// The snapshots of backups on all members, and orders that are left.
pub(super) fn left(ring: &Ring<'_>) -> Vec<String> {
    let mut left = Vec::new();
    for member in ring.members().expect("the members") {
        let name = text(&member, "/metadata/name").to_string();
        if member["spec"]["transfer"].is_object() {
            left.push(format!("{name} has an order"));
        }
        let find = ["find", "/var/lib/cassandra/data", "-path", "*snapshots/palladion-*"];
        match bed().exec(NAMESPACE, &name, &find) {
            Ok(found) => left.extend(found.lines().map(|line| format!("{name}: {line}"))),
            // One whose container is just starting: it is asked again.
            Err(why) => left.push(format!("{name} does not answer: {why:#}")),
        }
    }
    left
}

/// The command line on the repository, as somebody who has the store and no Kubernetes.
pub(super) fn repository(words: &str) -> String {
    repository_of("demo", words)
}

/// The same on that of another ring.
pub(super) fn repository_of(ring: &str, words: &str) -> String {
    let credentials = store().credentials().expect("credentials");
    let endpoint = store().forwarded(bed()).expect("a port");
    let line = format!(
        "backup {words} --store s3://{}/rings/{ring} --credentials {} --endpoint {endpoint} --addressing path --transport plain",
        s3::BUCKET,
        credentials.path().display()
    );
    let typed = bed().palladion(&line).expect("the tool runs");
    assert_eq!(typed.code, 0, "{words}: {}{}", typed.out, typed.said);
    typed.out
}

pub fn as_a_whole() {
    let ring = ring();
    every::made(&ring);
    ring.check_data().expect("the rows are there");
    ask("first", ", verify: Read");
    let taken = complete("first");
    let id = text(&taken, "/status/id");
    assert_eq!(taken["status"]["members"].as_array().map(Vec::len), Some(3));
    assert!(figure(&taken, "bytes") > 0 && figure(&taken, "reusedBytes") == 0, "{taken}");
    assert_eq!(text(&taken, "/status/manifestHash").len(), 64);
    // Nothing is left behind, and the ring may take the next one.
    wait_for("nothing to be left of it", SOON, || {
        let of_ring = ring.cluster()?["status"]["backup"].clone();
        Ok((left(&ring).is_empty() && of_ring["backup"].is_null()).then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {:?}", left(&ring)));
    // It vouches for itself, to somebody who was not there.
    let listed = repository("list");
    assert!(listed.contains(id), "{listed}");
    repository(&format!("verify {id} --read"));
}

pub fn only_what_is_new() {
    let ring = ring();
    ask("before", "");
    complete("before");
    let stored = store().bytes_under("rings/demo/sstables").expect("a size");
    ask("again", "");
    let again = complete("again");
    // Nothing was written in between: not one file is sent a second time.
    assert_eq!(figure(&again, "sentBytes"), 0, "{}", again["status"]);
    assert!(figure(&again, "reusedBytes") > 0, "{}", again["status"]);
    assert_eq!(store().bytes_under("rings/demo/sstables").expect("a size"), stored);
    wait_for("nothing to be left of it", SOON, || Ok(left(&ring).is_empty().then_some(())))
        .unwrap_or_else(|why| panic!("{why:#}: {:?}", left(&ring)));
}

pub fn by_a_schedule() {
    let ring = ring();
    let schedule = format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraBackupSchedule
metadata: {{name: {SCHEDULE}}}
spec: {{cluster: {NAMESPACE}, schedule: '* * * * *', historyLimit: 1, template: {{keyspaces: [{TABLES}]}}}}
"
    );
    // An object of before, as if it were one of its own.
    ask("older", "");
    complete("older");
    bed()
        .kubectl(&format!(
            "-n {NAMESPACE} label cassandrabackup older palladion.dev/schedule={SCHEDULE}"
        ))
        .expect("labelled");
    bed().apply(NAMESPACE, &schedule).expect("the schedule is accepted");
    let mut last = Value::Null;
    let taken = wait_for("the schedule to have taken one", SOON, || {
        last = bed().get(NAMESPACE, "cassandrabackupschedule", SCHEDULE)?.unwrap_or_default();
        let is_new = text(&last, "/status/lastBackup").starts_with(SCHEDULE);
        let is_done = last["status"]["lastCompleteTime"].is_string();
        let older = bed().get(NAMESPACE, "cassandrabackup", "older")?;
        Ok((is_new && is_done && older.is_none()).then(|| last.clone()))
    });
    let taken = taken.unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(condition(&taken, "Accepted")["status"], "True");
    bed()
        .patch(NAMESPACE, "cassandrabackupschedule", SCHEDULE, &json!({"spec": {"suspend": true}}))
        .expect("suspended");
    wait_for("the schedule to rest", SOON, || {
        let now = bed().get(NAMESPACE, "cassandrabackupschedule", SCHEDULE)?.unwrap_or_default();
        let is_paused = condition(&now, "Paused")["status"] == "True";
        Ok((is_paused && now["status"]["active"].is_null() && left(&ring).is_empty()).then_some(()))
    })
    .expect("it rests");
}

pub fn and_given_up() {
    let ring = ring();
    store().is_away(true);
    ask("away", "");
    wait_for("the backup to wait for the store", SOON, || {
        let told = condition(&backup("away")?, "Complete");
        Ok((told["reason"] == Reason::StoreUnreachable.as_str()).then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", backup("away").expect("get")["status"]));
    store().is_away(false);
    complete("away");
    store().is_away(true);
    ask("given-up", "");
    wait_for("it to wait", SOON, || {
        let told = condition(&backup("given-up")?, "Complete");
        Ok((told["reason"] == Reason::StoreUnreachable.as_str()).then_some(()))
    })
    .expect("waits");
    bed()
        .patch(NAMESPACE, "cassandrabackup", "given-up", &json!({"spec": {"abort": true}}))
        .expect("aborted");
    wait_for("it to be aborted", SOON, || {
        Ok((text(&backup("given-up")?, "/status/phase") == "Aborted").then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", backup("given-up").expect("get")["status"]));
    store().is_away(false);
    wait_for("nothing to be left of it", SOON, || Ok(left(&ring).is_empty().then_some(())))
        .unwrap_or_else(|why| panic!("{why:#}: {:?}", left(&ring)));
    ask("after", "");
    complete("after");
}
