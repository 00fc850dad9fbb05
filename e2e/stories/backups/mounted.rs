//! Backups that go to a volume which all members mount, not to a store of objects: taken, read
//! by whoever has the volume, and brought back; and while a Node cannot mount it, the ring says
//! why a member does not come back.

use std::fs;
use std::os::unix::fs::chown;
use std::path::PathBuf;

use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::{Ring, a_ring, bed, wait_for};
use serde_json::Value;

use super::{SOON, taken};

const MOUNTED: &str = "mounted";
const CLAIM: &str = "backups";
const TABLE: &str = "kept.words";
const ROWS: u32 = 200;
/// The user of the official images.
const CASSANDRA: u32 = 999;
/// The member that starts again without the volume.
const RESTARTED: &str = "mounted-dc1-b-0";

/// A directory that all Nodes of this machine see, as those of a cluster see a file server's.
fn shared() -> PathBuf {
    bed().cluster.site().data_dir().join("shared-by-all-nodes")
}

fn manifest() -> String {
    let backup = "backup: {store: {volume: {claimName: backups}}}";
    let ring = a_ring().racks(&[("a", 1), ("b", 1)]).line(backup).manifest(MOUNTED);
    format!(
        "apiVersion: v1
kind: PersistentVolume
metadata: {{name: {MOUNTED}-shared}}
spec:
  accessModes: [ReadWriteMany]
  capacity: {{storage: 5Gi}}
  persistentVolumeReclaimPolicy: Retain
  storageClassName: \"\"
  claimRef: {{namespace: {MOUNTED}, name: {CLAIM}}}
  hostPath: {{path: {}, type: Directory}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {CLAIM}}}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: \"\"
  volumeName: {MOUNTED}-shared
  resources: {{requests: {{storage: 5Gi}}}}
---
{ring}",
        shared().display()
    )
}

pub fn go_to_a_volume() {
    let directory = shared();
    fs::create_dir_all(&directory).expect("a directory");
    chown(&directory, Some(CASSANDRA), Some(CASSANDRA)).expect("it is the server's");
    let ring = Ring::create_from(bed(), MOUNTED, &manifest(), 2).expect("a ring");
    ring.wait_settled().expect("settled");
    written(&ring);
    let before = rows(&ring);
    assert_eq!(before.len(), ROWS as usize);
    taken::create_in(MOUNTED, "whole", "");
    let first = taken::complete_in(MOUNTED, "whole");
    assert!(taken::figure(&first, "sentBytes") > 0, "{}", first["status"]);
    let id = text(&first, "/status/id");
    let listed = repository("list");
    assert!(listed.contains(id), "{listed}");
    repository(&format!("verify {id} --read"));
    taken::create_in(MOUNTED, "again", ", keyspaces: [kept]");
    let again = taken::complete_in(MOUNTED, "again");
    assert_eq!(taken::figure(&again, "sentBytes"), 0, "nothing is new: {}", again["status"]);
    ring.cql(&[&format!("TRUNCATE {TABLE}")]).expect("thrown away");
    assert!(rows(&ring).is_empty(), "a check that cannot fail");
    restored(id);
    assert_eq!(rows(&ring), before, "all rows are back");
    is_reported_while_it_cannot_be_mounted(&ring, &directory);
    assert_eq!(rows(&ring), before, "all rows are there");
    bed().remove_namespace(MOUNTED).expect("removed");
    bed().kubectl(&format!("delete pv {MOUNTED}-shared")).expect("removed");
    fs::remove_dir_all(&directory).expect("removed");
}

fn written(ring: &Ring<'_>) {
    ring.cql(&[
        "CREATE KEYSPACE IF NOT EXISTS kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
        &format!("CREATE TABLE IF NOT EXISTS {TABLE} (id int PRIMARY KEY, word text)"),
    ])
    .expect("a table");
    let insert = |id: u32| format!("INSERT INTO {TABLE} (id, word) VALUES ({id}, 'word {id}')");
    let all: Vec<String> = (0..ROWS).map(insert).collect();
    ring.cql(&all.iter().map(String::as_str).collect::<Vec<_>>()).expect("rows");
}

fn rows(ring: &Ring<'_>) -> Vec<String> {
    let mut rows = ring.cql(&[&format!("SELECT id, word FROM {TABLE}")]).expect("an answer");
    rows.sort();
    rows
}

/// The command line on the directory, as somebody who has the volume and no Kubernetes.
fn repository(words: &str) -> String {
    let line = format!("backup {words} --store {}", shared().display());
    let typed = bed().palladion(&line).expect("the tool runs");
    assert_eq!(typed.code, 0, "{words}: {}{}", typed.out, typed.said);
    typed.out
}

fn restored(id: &str) {
    let restore = format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraRestore
metadata: {{name: back}}
spec: {{cluster: {MOUNTED}, mode: Tables, source: {{backup: whole}}, tables: [{{from: kept}}]}}
"
    );
    bed().apply(MOUNTED, &restore).expect("the restore is accepted");
    let mut last = Value::Null;
    wait_for(&format!("the restore of {id} to end"), SOON, || {
        last = bed().get(MOUNTED, "cassandrarestore", "back")?.unwrap_or_default();
        Ok(last["status"]["endedAt"].is_string().then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(text(&last, "/status/phase"), "Complete", "{}", last["status"]);
}

/// The file server is away, and a pod is deleted: its member does not come back, `Degraded` says
/// why, and it comes back when the volume does.
fn is_reported_while_it_cannot_be_mounted(ring: &Ring<'_>, directory: &PathBuf) {
    let away = directory.with_extension("away");
    fs::rename(directory, &away).expect("away");
    bed().kubectl(&format!("delete pod {RESTARTED} -n {MOUNTED} --wait=false")).expect("deleted");
    let said = ring.wait_told("Degraded", Reason::WaitingForVolumes, RESTARTED, SOON * 2);
    fs::rename(&away, directory).expect("it is back");
    said.expect("reported");
    ring.wait_ready(2).expect("it comes back by itself");
    ring.wait_settled().expect("settled");
}
