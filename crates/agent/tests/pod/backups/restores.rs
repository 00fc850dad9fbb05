//! A backup is compared with the ring, and tables are created, truncated and put right.

use super::super::cases::Case;
use super::super::fake_cql::{REFUSED, ROWS};
use super::super::processes::signal;
use super::*;

pub const ALL: &[Case] = &[
    ("a_backup_is_compared_with_what_the_ring_has", a_backup_is_compared),
    ("tables_are_created_under_another_name_and_put_right_at_the_end", tables_are_created),
    ("a_statement_that_the_server_refuses_ends_the_restore", a_statement_is_refused),
    ("a_table_is_truncated_once_and_only_if_it_is_named", a_table_is_truncated),
    ("a_truncation_that_not_all_members_take_is_tried_again", a_truncation_is_tried_again),
    (
        "a_snapshot_before_a_truncation_that_was_interrupted_is_cleared",
        an_interrupted_snapshot_is_cleared,
    ),
    ("a_restore_reads_the_backup_of_another_ring", another_rings_backup),
];

/// A complete backup of the pod's ring, with index files; the hash of its manifest.
pub fn backed_up(pod: &Pod) -> String {
    for number in 1..=SSTABLES {
        fs::write(table(pod).join(format!("nb-{number}-big-Index.db")), "index").unwrap();
    }
    let upload = until_upload(pod);
    let sent = done(pod, "upload-1", upload)["uploaded"].clone();
    let finished = done(pod, "finish-1", finish_of(pod, &sent));
    finished["manifestHash"].as_str().unwrap().to_string()
}

const GRACE: u64 = 5_000_000;

fn schema_of(manifest: &str) -> Value {
    json!({"schema": {
        "manifestHash": manifest, "tables": [{"from": "shop", "to": "copy"}],
        "gcGraceSeconds": GRACE,
    }})
}

/// Its tables in another keyspace.
pub fn created(pod: &Pod, manifest: &str) {
    done(pod, "r1-schema-1", schema_of(manifest));
}

fn told_cql(pod: &Pod, begins: &str) -> Vec<String> {
    let all = pod.told().into_iter();
    let cql = all.filter_map(|line| line.strip_prefix("cql ").map(str::to_string));
    let changes = cql.filter(|statement| !statement.starts_with("SELECT"));
    changes.filter(|statement| statement.starts_with(begins)).collect()
}

fn a_backup_is_compared() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    let ring = fs::read_to_string(pod.path("store/backups/b1/outcome.json")).unwrap();
    assert!(ring.contains(r#""keyspaces":["shop","system_auth"]"#), "{ring}");
    let host = pod.api.status("m-0")["hostID"].clone();
    let catalog = |tables: Value| json!({"catalog": {"tables": tables}});
    let status = done(&pod, "r1-catalog-1", catalog(json!([])));
    assert_eq!(status["manifestHash"], manifest.as_str());
    let found = &status["cataloged"];
    assert_eq!(
        (&found["from"], &found["to"]),
        (&json!("2026-11-28T00:00:00Z"), &json!("2026-11-28T00:01:00Z"))
    );
    assert_eq!(found["sources"][0]["hostID"], host);
    assert_eq!(found["sources"][0]["sstables"], SSTABLES);
    let bytes = found["sources"][0]["bytes"].as_u64().unwrap();
    assert!(bytes > (SSTABLES * DATA_BYTES) as u64, "{bytes}");
    let same = json!([{
        "from": "shop.users", "to": "shop.users", "state": "Empty", "gcGraceSeconds": 864_000,
    }]);
    assert_eq!(found["tables"], same);
    fs::write(pod.path("tmp").join(ROWS), "shop.users\n").unwrap();
    let status = done(&pod, "r1-catalog-2", catalog(json!([])));
    assert_eq!(status["cataloged"]["tables"][0]["state"], "HasRows");
    fs::remove_file(pod.path("tmp").join(ROWS)).unwrap();
    // As while a server was killed and nobody knows it yet: that nobody answers is no row.
    let refused = pod.path("tmp").join(REFUSED);
    fs::write(&refused, "SELECT JSON\nOperation timed out\n4608").unwrap();
    order(&pod, "r1-catalog-6", catalog(json!([])));
    std::thread::sleep(std::time::Duration::from_secs(7));
    fs::remove_file(&refused).unwrap();
    assert_eq!(ended(&pod, "r1-catalog-6")["cataloged"]["tables"], same);
    let other = json!([{"from": "shop.users", "to": "shop.again"}]);
    let status = done(&pod, "r1-catalog-3", catalog(other));
    assert_eq!(status["cataloged"]["tables"][0]["state"], "Absent");
    assert_eq!(status["cataloged"]["tables"][0]["to"], "shop.again");
    order(&pod, "r1-catalog-4", catalog(json!([{"from": "gone"}])));
    let status = ended(&pod, "r1-catalog-4");
    assert_eq!((&status["state"], &status["cause"]), (&json!("Failed"), &json!("RestoreFailed")));
    let other = json!({"catalog": {"manifestHash": "ab".repeat(32)}});
    order(&pod, "r1-catalog-5", other);
    assert_eq!(ended(&pod, "r1-catalog-5")["cause"], "RestoreFailed");
    assert!(told_cql(&pod, "").is_empty(), "nothing is changed");
    let state = files(&pod.path("data/.palladion/transfers"));
    assert!(!state.iter().any(|path| path.ends_with("restore.cql")), "{state:?}");
}

fn tables_are_created() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    created(&pod, &manifest);
    let statements = told_cql(&pod, "CREATE");
    assert_eq!(statements.len(), 2, "{statements:#?}");
    assert!(statements[0].starts_with("CREATE KEYSPACE copy "), "{statements:?}");
    assert!(statements[1].starts_with("CREATE TABLE copy.users "), "{statements:?}");
    assert!(statements[1].contains(&format!("gc_grace_seconds = {GRACE}")), "{statements:?}");
    // Again: there is nothing to do.
    done(&pod, "r1-schema-2", schema_of(&manifest));
    assert_eq!(told_cql(&pod, "").len(), 2, "{:#?}", told_cql(&pod, ""));
    let own = json!([
        {"table": "copy.users", "gcGraceSeconds": 864_000},
        {"table": "copy.gone", "gcGraceSeconds": 1},
    ]);
    let indexes = json!({
        "manifestHash": manifest, "tables": [{"from": "shop", "to": "copy"}],
        "created": ["copy.users"],
    });
    let settle = |meanwhile: u64| json!({"settle": {"gcGraceSeconds": meanwhile, "own": own, "indexes": indexes}});
    // Somebody has changed it.
    done(&pod, "r1-settle-1", settle(GRACE + 1));
    assert!(told_cql(&pod, "ALTER").is_empty());
    done(&pod, "r1-settle-2", settle(GRACE));
    done(&pod, "r1-settle-3", settle(GRACE));
    assert_eq!(told_cql(&pod, "ALTER"), ["ALTER TABLE copy.users WITH gc_grace_seconds = 864000"]);
}

fn a_statement_is_refused() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    let refused = pod.path("tmp").join(REFUSED);
    fs::write(&refused, "CREATE TABLE\nno more tables are allowed").unwrap();
    order(&pod, "r1-schema-1", schema_of(&manifest));
    let status = ended(&pod, "r1-schema-1");
    assert_eq!((&status["state"], &status["cause"]), (&json!("Failed"), &json!("RestoreFailed")));
    let message = status["message"].as_str().unwrap();
    assert!(message.contains("table copy.users: no more tables are allowed"), "{message}");
    // What was created before stays, and is no obstacle.
    fs::remove_file(&refused).unwrap();
    done(&pod, "r2-schema-1", schema_of(&manifest));
}

fn a_table_is_truncated() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    let work =
        |truncate: Value| json!({"schema": {"manifestHash": manifest, "truncate": truncate}});
    done(&pod, "r1-schema-1", work(json!([])));
    assert!(told_cql(&pod, "TRUNCATE").is_empty());
    order(&pod, "r1-schema-2", work(json!(["shop.users"])));
    let status = ended(&pod, "r1-schema-2");
    assert_eq!(status["state"], "Done", "{status:#}");
    assert_eq!(told_cql(&pod, "TRUNCATE"), ["TRUNCATE TABLE shop.users"]);
    let snapshots: Vec<String> =
        pod.told().into_iter().filter(|line| line.contains("restore-r1-schema-2")).collect();
    assert_eq!(snapshots.len(), 1, "{snapshots:?}");
    assert!(snapshots[0].contains("shop.users"), "{snapshots:?}");
    assert_eq!(kept(&pod, "restore-r1-schema-2"), 1, "nobody but a person clears it");
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(told_cql(&pod, "TRUNCATE").len(), 1, "an order that has ended is not begun again");
}

/// As while a member is down, until the file is removed.
fn truncation_is_refused(pod: &Pod) -> PathBuf {
    let refused = pod.path("tmp").join(REFUSED);
    fs::write(&refused, "TRUNCATE\nUnable to complete the operation against some hosts\n4099")
        .unwrap();
    refused
}

fn a_truncation_is_tried_again() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    let refused = truncation_is_refused(&pod);
    let work = json!({"schema": {"manifestHash": manifest, "truncate": ["shop.users"]}});
    order(&pod, "r1-schema-1", work);
    let waits = |s: &Value| s["transfer"]["state"] == "Waiting";
    let status = pod.wait_for("that it waits", waits)["transfer"].clone();
    assert_eq!(status["cause"], "ServerDown", "{status}");
    assert!(status["message"].as_str().unwrap().contains("against some hosts"), "{status}");
    let agent = pod.agent().unwrap();
    signal(agent, "KILL");
    eventually("more tries", || tries(&pod) >= 3);
    fs::remove_file(&refused).unwrap();
    assert_eq!(ended(&pod, "r1-schema-1")["state"], "Done");
    assert_eq!(kept(&pod, "restore-r1-schema-1"), 1, "of all tries: {:?}", pod.told());
}

fn tries(pod: &Pod) -> usize {
    told_cql(pod, "TRUNCATE").len()
}

fn an_interrupted_snapshot_is_cleared() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    truncation_is_refused(&pod);
    let work = json!({"schema": {"manifestHash": manifest, "truncate": ["shop.users"]}});
    order(&pod, "r1-schema-1", work.clone());
    pod.wait_for("that it waits", |s: &Value| s["transfer"]["state"] == "Waiting");
    let note = pod.path("data/.palladion/transfers/schema-r1-schema-1.json");
    let noted = || -> Value {
        let text = fs::read_to_string(&note).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    // As if the agent had ended before the server had said that it is whole.
    let interrupt = |tag: &str| {
        let mut of = noted();
        (of["snapshot"], of["taking"]) = (Value::Null, json!(tag));
        fs::write(&note, of.to_string()).unwrap();
    };
    let left = folder(&pod, "restore-r1-schema-1-5");
    fs::create_dir_all(&left).unwrap();
    signal(pod.agent().unwrap(), "KILL");
    interrupt("restore-r1-schema-1-5");
    eventually("the end of what was interrupted", || !left.exists());
    assert!(pod.told().contains(&"clear [\"restore-r1-schema-1-5\",[]]".to_string()));
    eventually("the next one", || noted()["snapshot"].is_string());
    // And once its restore is over.
    fs::create_dir_all(&left).unwrap();
    interrupt("restore-r1-schema-1-5");
    pod.api.change_spec("m-0", json!({ "transfer": null }));
    eventually("the end of what a restore has left", || !left.exists());
    assert!(kept(&pod, "restore-r1-schema-1") > 0, "a whole one is a person's");
}

/// Snapshots before truncations of this transfer.
fn kept(pod: &Pod, tag: &str) -> usize {
    let snapshots = folder(pod, tag);
    let snapshots = fs::read_dir(snapshots.parent().unwrap()).into_iter().flatten().flatten();
    snapshots.filter(|entry| entry.file_name().to_string_lossy().starts_with(tag)).count()
}

fn another_rings_backup() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    // As if the ring's own were another one.
    let note = pod.path("data/.palladion/repository.json");
    fs::write(&note, r#"{"repositoryID": "repository-9"}"#).unwrap();
    signal(pod.agent().unwrap(), "KILL");
    let catalog = json!({"catalog": {"manifestHash": manifest}});
    done(&pod, "r1-catalog-1", catalog.clone());
    order(&pod, "prepare-9", json!({"prepare": {}}));
    assert_eq!(ended(&pod, "prepare-9")["cause"], "RepositoryForeign");
    let mut foreign = catalog;
    foreign["repository"] = json!({"id": "repository-2", "sealed": false});
    order(&pod, "r1-catalog-2", foreign);
    let status = ended(&pod, "r1-catalog-2");
    assert_eq!(
        (&status["state"], &status["cause"]),
        (&json!("Failed"), &json!("RepositoryForeign"))
    );
    assert!(fs::read_to_string(&note).unwrap().contains("repository-9"), "nothing else is noted");
}
