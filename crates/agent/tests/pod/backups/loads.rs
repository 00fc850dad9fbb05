//! SSTables of a backup are loaded into the ring: all of them, each noted once it is loaded,
//! whatever goes away meanwhile.

use super::super::cases::Case;
use super::super::fake_backup::OTHER;
use super::super::fake_load::{HELD, JOINING, NOTHING};
use super::super::harness::exists;
use super::super::processes::signal;
use super::restores::{backed_up, created};
use super::*;
use palladion_backup::hash::Hash;
use std::collections::BTreeMap;
use std::time::Duration;

pub const ALL: &[Case] = &[
    ("a_load_brings_every_sstable_to_the_server_once", a_load_is_done),
    ("a_batch_whose_child_is_killed_is_fetched_again", a_batch_is_fetched_again),
    ("a_load_waits_for_a_ring_at_rest_and_goes_on", a_load_waits_for_the_ring),
    ("a_batch_is_loaded_again_when_the_ring_has_changed_meanwhile", a_batch_is_loaded_again),
    ("what_the_server_leaves_out_is_not_taken_as_loaded", what_is_left_out),
    ("a_load_goes_on_behind_what_is_noted_when_its_agent_is_killed", a_load_goes_on),
    ("a_load_that_is_withdrawn_leaves_nothing", a_load_that_is_withdrawn),
    ("a_table_that_is_not_there_is_named_and_nothing_is_loaded", no_table),
];

/// A backup, and the table that it is loaded into.
fn a_copy(pod: &Pod) -> String {
    let manifest = backed_up(pod);
    created(pod, &manifest);
    manifest
}

pub fn load(pod: &Pod, id: &str, manifest: &str, more: Value) {
    let work = json!({
        "manifestHash": manifest, "source": pod.api.status("m-0")["hostID"],
        "tables": [{"from": "shop", "to": "copy"}],
    });
    let mut all = json!({ "load": work });
    for (key, value) in more.as_object().unwrap() {
        all[key] = value.clone();
    }
    order(pod, id, all);
}

/// How often each SSTable was loaded.
pub fn loaded(pod: &Pod) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for line in pod.told() {
        if let Some(hash) = line.strip_prefix("loaded copy.users ") {
            *all.entry(hash.to_string()).or_default() += 1;
        }
    }
    all
}

/// All SSTables of the live table, in the order of the manifest.
pub fn taken(pod: &Pod) -> Vec<String> {
    let name = |number: usize| table(pod).join(format!("nb-{number}-big-Data.db"));
    (1..=SSTABLES).map(|n| Hash::of(&fs::read(name(n)).unwrap()).to_string()).collect()
}

#[track_caller]
fn all_are_loaded(pod: &Pod, id: &str) {
    let status = ended(pod, id);
    assert_eq!(status["state"], "Done", "{status:#}\n{}", pod.log());
    assert_eq!(status["loaded"]["sstables"], SSTABLES, "{status}");
    let loaded = loaded(pod);
    let missing: Vec<String> =
        taken(pod).into_iter().filter(|hash| !loaded.contains_key(hash)).collect();
    assert_eq!((loaded.len(), missing), (SSTABLES, vec![]));
    eventually("the end of what was fetched", || !pod.path("data/.palladion/restore").exists());
}

pub fn journal(pod: &Pod) -> Value {
    let text = fs::read_to_string(pod.path("data/.palladion/transfers/load-r1_load_1.json"));
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or_default())
}

fn fetched(pod: &Pod) -> usize {
    files(&pod.path("data/.palladion/restore")).len()
}

/// Slow enough to be caught at it.
const SLOW: u64 = 1_500_000;

fn a_load_is_done() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    load(&pod, "r1-load-1", &manifest, json!({}));
    all_are_loaded(&pod, "r1-load-1");
    assert!(loaded(&pod).values().all(|times| *times == 1));
    // Each by itself, so that it is known of each that it was sent.
    let calls = pod.told().iter().filter(|line| line.starts_with("load ")).count();
    assert_eq!(calls, SSTABLES);
    let status = pod.api.status("m-0")["transfer"]["loaded"].clone();
    assert!(status["bytes"].as_u64().unwrap() > (SSTABLES * DATA_BYTES) as u64, "{status}");
}

fn a_batch_is_fetched_again() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    load(&pod, "r1-load-1", &manifest, json!({ "bytesPerSecond": SLOW }));
    eventually("a first batch that is loaded", || journal(&pod)["done"] == 2);
    eventually("the next one on its way", || fetched(&pod) >= 1);
    let child = next_transfer_child(&pod);
    signal(child, "KILL");
    eventually("its end", || !exists(child));
    pod.wait_for("that it is told", |s| s["transfer"]["state"] == "Waiting");
    all_are_loaded(&pod, "r1-load-1");
    assert!(loaded(&pod).values().all(|times| *times == 1), "half a batch is not loaded");
}

fn a_load_waits_for_the_ring() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    fs::write(pod.path("tmp").join(OTHER), "5f3c2b1a-0000-4000-8000-ffffffffffff").unwrap();
    fs::write(pod.path("tmp").join(JOINING), "10.96.0.99:7000").unwrap();
    load(&pod, "r1-load-1", &manifest, json!({}));
    let waits = |s: &Value| s["transfer"]["state"] == "Waiting";
    let status = pod.wait_for("that it waits", waits)["transfer"].clone();
    assert_eq!(status["cause"], "RingUnsettled", "{status}");
    assert!(status["message"].as_str().unwrap().contains("10.96.0.99 joins"), "{status}");
    assert!(loaded(&pod).is_empty() && fetched(&pod) == 0);
    fs::remove_file(pod.path("tmp").join(JOINING)).unwrap();
    all_are_loaded(&pod, "r1-load-1");
}

fn a_batch_is_loaded_again() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    fs::write(pod.path("tmp").join(HELD), "").unwrap();
    load(&pod, "r1-load-1", &manifest, json!({}));
    let begun = || pod.told().iter().any(|line| line.starts_with("load "));
    eventually("a load that has begun", begun);
    // One that has joined meanwhile.
    fs::write(pod.path("tmp").join(OTHER), "5f3c2b1a-0000-4000-8000-ffffffffffff").unwrap();
    fs::remove_file(pod.path("tmp").join(HELD)).unwrap();
    all_are_loaded(&pod, "r1-load-1");
    let (taken, loaded) = (taken(&pod), loaded(&pod));
    let times: Vec<usize> = taken.iter().map(|hash| loaded[hash]).collect();
    assert_eq!(times.iter().sum::<usize>(), SSTABLES + 2, "the first batch twice: {times:?}");
}

fn what_is_left_out() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    fs::write(pod.path("tmp").join(NOTHING), "").unwrap();
    load(&pod, "r1-load-1", &manifest, json!({}));
    let waits = |s: &Value| s["transfer"]["state"] == "Waiting";
    let status = pod.wait_for("that it waits", waits)["transfer"].clone();
    assert_eq!(status["cause"], "LoadFailed", "{status}");
    let message = status["message"].as_str().unwrap();
    assert!(message.contains("left out SSTables of table copy.users"), "{message}");
    assert!(message.contains("sent 0 bytes"), "{message}");
    assert!(journal(&pod).is_null(), "nothing is noted");
    fs::remove_file(pod.path("tmp").join(NOTHING)).unwrap();
    all_are_loaded(&pod, "r1-load-1");
}

fn a_load_goes_on() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    // Progress is told each ten seconds: slower than that.
    load(&pod, "r1-load-1", &manifest, json!({ "bytesPerSecond": 700_000 }));
    eventually("a first batch that is loaded", || journal(&pod)["done"] == 2);
    let progress = |s: &Value| s["transfer"]["progress"].as_u64().is_some_and(|p| p >= 33);
    pod.wait_for("how far it is", progress);
    let child = next_transfer_child(&pod);
    signal(pod.agent().unwrap(), "KILL");
    eventually("the end of the child with its agent", || !exists(child));
    load(&pod, "r1-load-1", &manifest, json!({}));
    all_are_loaded(&pod, "r1-load-1");
    let loaded = loaded(&pod);
    let times: Vec<usize> = taken(&pod).iter().map(|hash| loaded[hash]).collect();
    assert_eq!(times, [1; SSTABLES], "what is noted is not loaded again: {}", pod.log());
}

fn a_load_that_is_withdrawn() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    load(&pod, "r1-load-1", &manifest, json!({ "bytesPerSecond": SLOW }));
    eventually("a first batch that is loaded", || journal(&pod)["done"] == 2);
    eventually("the next one on its way", || fetched(&pod) >= 1);
    let child = next_transfer_child(&pod);
    pod.api.change_spec("m-0", json!({ "transfer": null }));
    eventually("the end of the child", || !exists(child));
    eventually("the end of what it has fetched", || {
        !pod.path("data/.palladion/restore").exists() && journal(&pod).is_null()
    });
    pod.wait_for("nothing to tell", |s| s["transfer"].is_null());
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(transfer_child(&pod), None, "nothing is begun again");
}

fn no_table() {
    let pod = a_pod();
    let manifest = backed_up(&pod);
    load(&pod, "r1-load-1", &manifest, json!({}));
    let waits = |s: &Value| s["transfer"]["state"] == "Waiting";
    let status = pod.wait_for("that it waits", waits)["transfer"].clone();
    assert_eq!(status["cause"], "LoadFailed", "{status}");
    assert!(status["message"].as_str().unwrap().contains("no table copy.users"), "{status}");
    assert!(!pod.told().iter().any(|line| line.starts_with("load ")));
}
