//! A member's part of a backup: from the first order to a backup that is read and loaded into
//! the ring, and what
//! becomes of it when agents, orders and specs go away meanwhile.

mod archived;
mod expired;
mod interrupted;
mod loads;
mod places;
mod replays;
mod restores;
mod rings;
mod snapshots;
mod whole;

use super::cases::Case;
use super::fake_cql::CQL;
use super::harness::{Pod, eventually};
use super::processes::child_of;
use palladion_backup::names::BackupId;
use palladion_backup::seal::Keys;
use palladion_backup::vault::Vault;
use palladion_backup::verify::{Depth, verify};
use palladion_store::directory::Directory;
use palladion_store::random::System;
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

/// All, in order.
pub fn all() -> impl Iterator<Item = &'static Case> {
    let backups = whole::ALL.iter().chain(interrupted::ALL).chain(snapshots::ALL);
    backups
        .chain(restores::ALL)
        .chain(loads::ALL)
        .chain(places::ALL)
        .chain(rings::ALL)
        .chain(replays::ALL)
        .chain(expired::ALL)
        .chain(archived::ALL)
}

const TAG: &str = "palladion-b1-1";
const TABLE: &str = "5f3c2b1a000040008000000000000abc";
/// Each is an object for its data and one for all else.
const SSTABLES: usize = 6;
const DATA_BYTES: usize = 2_000_000;

/// A full member with data of users, and a store.
fn a_pod() -> Pod {
    a_pod_with(None)
}

/// The same with this configuration of its server.
fn a_pod_with(server: Option<Value>) -> Pod {
    let mut pod = Pod::new();
    if let Some(server) = server {
        fs::write(pod.path("etc/server.json"), server.to_string()).unwrap();
    }
    fs::write(pod.path("tmp").join(CQL), pod.cql.to_string()).unwrap();
    fs::create_dir_all(pod.path("store")).unwrap();
    pod.start();
    pod.permit("Initialize", "n-found", "MustBeEmpty");
    pod.wait_for("a full member", |s| s["permit"]["state"] == "Done");
    for number in 1..=SSTABLES {
        write(&table(&pod), number);
    }
    pod
}

fn table(pod: &Pod) -> PathBuf {
    pod.path(&format!("data/data/shop/users-{TABLE}"))
}

fn write(table: &Path, number: usize) {
    fs::create_dir_all(table).unwrap();
    let mut word = number as u64 + 1;
    let mut next = || {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (word >> 33) as u8
    };
    let data: Vec<u8> = (0..DATA_BYTES).map(|_| next()).collect();
    let put = |component: &str, bytes: &[u8]| {
        fs::write(table.join(format!("nb-{number}-big-{component}")), bytes).unwrap();
    };
    let mut sum = palladion_backup::hash::Sum::default();
    sum.add(&data);
    put("Data.db", &data);
    put("Digest.crc32", sum.end().1.to_string().as_bytes());
    put("Index.db", b"index");
    put("Statistics.db", b"statistics");
    put("CRC.db", b"checksums");
}

/// Give the member an order.
fn order(pod: &Pod, id: &str, work: Value) {
    let status = pod.api.status("m-0");
    let mut order = json!({
        "id": id, "epoch": 1, "hostID": status["hostID"],
        "volumeID": status["volume"]["volumeID"], "backup": "b1",
        "repository": {"id": "repository-1", "sealed": false},
        "store": {"at": pod.path("store")},
    });
    for (key, value) in work.as_object().unwrap() {
        order[key] = value.clone();
    }
    pod.api.replace_in_spec("m-0", "transfer", order);
}

/// The status in which a transfer has ended.
fn ended(pod: &Pod, id: &str) -> Value {
    let is_final = |state: &Value| ["Done", "Failed", "Refused"].iter().any(|s| state == s);
    let ended = |s: &Value| s["transfer"]["id"] == id && is_final(&s["transfer"]["state"]);
    pod.wait_for(&format!("the end of {id}"), ended)["transfer"].clone()
}

fn done(pod: &Pod, id: &str, work: Value) -> Value {
    order(pod, id, work);
    let status = ended(pod, id);
    assert_eq!(status["state"], "Done", "{status:#}\n{}", pod.log());
    status
}

fn snapshot() -> Value {
    json!({"snapshot": {"tag": TAG, "ttlSeconds": 3600}})
}

fn folder(pod: &Pod, tag: &str) -> PathBuf {
    table(pod).join("snapshots").join(tag)
}

/// Prepared, snapshotted and described: what is uploaded next.
fn until_upload(pod: &Pod) -> Value {
    done(pod, "prepare-1", json!({"prepare": {}}));
    done(pod, "snapshot-1", snapshot());
    let described = done(pod, "describe-1", json!({"describe": {}}));
    json!({"upload": {"tag": TAG, "schema": described["schema"]}})
}

fn finish_of(pod: &Pod, uploaded: &Value) -> Value {
    let host = pod.api.status("m-0")["hostID"].clone();
    let sent = json!([{
        "hostID": host, "checkpoint": uploaded["checkpoint"], "sha256": uploaded["sha256"],
    }]);
    let (from, to) = ("2026-11-28T00:00:00Z", "2026-11-28T00:01:00Z");
    json!({"finish": {"from": from, "to": to, "members": sent, "readAll": true}})
}

/// What the core finds in the store.
fn verified(pod: &Pod, backup: &str) -> Result<u64, String> {
    let random = System::new().unwrap();
    let store = Directory::open(&pod.path("store"), &random).unwrap();
    let vault = Vault::open(&store, None::<Keys>, &random).unwrap();
    let id = BackupId::parse(backup).unwrap();
    let report = verify(&vault, &id, Depth::Read).map_err(|trouble| trouble.to_string())?;
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    Ok(report.objects)
}

/// Files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut all, mut open) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { open.push(path) } else { all.push(path) }
        }
    }
    all
}

/// The child that moves the bytes.
fn transfer_child(pod: &Pod) -> Option<u32> {
    child_of(pod.agent()?, "palladion-agent\0transfer")
}

/// The same, where there is one now and then: one of each batch.
fn next_transfer_child(pod: &Pod) -> u32 {
    let child = Cell::new(None);
    eventually("a child", || {
        child.set(transfer_child(pod));
        child.get().is_some()
    });
    child.get().unwrap()
}

/// A slow upload that has sent something.
fn begun_upload(pod: &Pod) -> (Value, u32) {
    let upload = until_upload(pod);
    let mut slow = upload.clone();
    slow["bytesPerSecond"] = json!(1_000_000);
    order(pod, "upload-1", slow);
    eventually("the first objects", || files(&pod.path("store/sstables")).len() >= 3);
    (upload, transfer_child(pod).unwrap())
}
