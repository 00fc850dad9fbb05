//! SSTables of a backup become files of the server: each once, whole, and by nobody's start.

use super::super::cases::Case;
use super::super::fake_backup::{OTHER, TOKEN};
use super::super::fake_load::{HELD, JOINING, NOTHING};
use super::super::harness::exists;
use super::super::processes::signal;
use super::loads::{journal, load, loaded, taken};
use super::restores::{backed_up, created};
use super::*;

pub const ALL: &[Case] = &[
    ("every_sstable_becomes_one_of_the_server_once", all_are_placed),
    ("nothing_is_placed_on_other_tokens", other_tokens),
    ("what_the_server_does_not_take_is_not_taken_as_placed", what_is_not_taken),
    ("what_an_earlier_try_has_left_is_cleared_and_placed_again", left_overs),
    ("a_call_that_outlasts_its_agent_leaves_no_half", a_killed_agent),
    ("roles_are_streamed_and_no_other_table", roles),
    ("no_server_is_started_with_files_that_it_has_not_taken", a_killed_server),
];

const FOLDER: &str = "data/data/copy/users-5f3c2b1a000040008000000000000def";
const NOTE: &str = "data/.palladion/placed.json";

fn a_copy(pod: &Pod) -> String {
    let manifest = backed_up(pod);
    created(pod, &manifest);
    assert!(pod.path(FOLDER).is_dir());
    manifest
}

fn place(pod: &Pod, manifest: &str) {
    load(
        pod,
        "r1-load-1",
        manifest,
        json!({"load": {
            "manifestHash": manifest, "source": pod.api.status("m-0")["hostID"], "way": "Place",
            "tables": [{"from": "shop", "to": "copy"}],
        }}),
    );
}

/// Names of SSTables that are there.
fn there(pod: &Pod) -> Vec<String> {
    let names = files(&pod.path(FOLDER)).into_iter();
    let names = names.map(|path| path.file_name().unwrap().to_str().unwrap().to_string());
    names.filter_map(|name| name.strip_suffix("-Data.db").map(str::to_string)).collect()
}

#[track_caller]
fn all_are_there(pod: &Pod) {
    let status = ended(pod, "r1-load-1");
    assert_eq!(status["state"], "Done", "{status:#}\n{}", pod.log());
    assert_eq!(status["loaded"]["sstables"], SSTABLES, "{status}");
    let loaded = loaded(pod);
    let missing: Vec<String> =
        taken(pod).into_iter().filter(|hash| !loaded.contains_key(hash)).collect();
    assert_eq!((loaded.len(), missing), (SSTABLES, vec![]));
    let placed: Vec<String> =
        there(pod).into_iter().filter(|name| name.starts_with("nb-15")).collect();
    assert!(placed.is_empty() && !pod.path(NOTE).exists(), "{placed:?}");
    // Each with all its files.
    for sstable in there(pod) {
        for component in ["Index.db", "Statistics.db", "Digest.crc32"] {
            assert!(pod.path(FOLDER).join(format!("{sstable}-{component}")).exists());
        }
    }
    let opened: Vec<String> =
        pod.told().into_iter().filter(|line| line.starts_with("opened ")).collect();
    assert!(opened.is_empty(), "{opened:?}");
    eventually("the end of what was fetched", || !pod.path("data/.palladion/restore").exists());
}

fn calls(pod: &Pod) -> usize {
    pod.told().iter().filter(|line| *line == "take copy.users").count()
}

fn all_are_placed() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    // Nothing is streamed, so nobody has to be up or at rest.
    fs::write(pod.path("tmp").join(OTHER), "5f3c2b1a-0000-4000-8000-ffffffffffff").unwrap();
    fs::write(pod.path("tmp").join(JOINING), "10.96.0.99:7000").unwrap();
    place(&pod, &manifest);
    all_are_there(&pod);
    assert!(loaded(&pod).values().all(|times| *times == 1));
    assert_eq!((there(&pod).len(), calls(&pod)), (SSTABLES, 3), "one call a batch");
}

fn other_tokens() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    fs::write(pod.path("tmp").join(TOKEN), "4").unwrap();
    place(&pod, &manifest);
    let status = ended(&pod, "r1-load-1");
    assert_eq!((&status["state"], &status["cause"]), (&json!("Failed"), &json!("RestoreFailed")));
    let message = status["message"].as_str().unwrap();
    assert!(message.contains("are not those of the member of the backup"), "{message}");
    assert!(there(&pod).is_empty() && calls(&pod) == 0 && !pod.path(NOTE).exists());
}

fn what_is_not_taken() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    fs::write(pod.path("tmp").join(NOTHING), "").unwrap();
    place(&pod, &manifest);
    let waits = |s: &Value| s["transfer"]["state"] == "Waiting";
    let status = pod.wait_for("that it waits", waits)["transfer"].clone();
    assert_eq!(status["cause"], "LoadFailed", "{status}");
    let message = status["message"].as_str().unwrap();
    assert!(message.contains("has left out nb-1500000000-big of table copy.users"), "{message}");
    assert!(journal(&pod).is_null(), "nothing is noted as loaded");
    fs::remove_file(pod.path("tmp").join(NOTHING)).unwrap();
    all_are_there(&pod);
}

/// As an agent leaves it that was killed amid its links, and one that was killed after them.
fn left_overs() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    let put = |name: &str| fs::write(pod.path(FOLDER).join(name), "left over").unwrap();
    for name in ["nb-1500000000-big-Data.db", "nb-1500000000-big-Index.db"] {
        put(name);
    }
    for name in ["Statistics.db", "Digest.crc32"] {
        put(&format!("nb-1500000000-big-{name}"));
    }
    // No call goes well beside this one.
    put("nb-1500000001-big-Index.db");
    let placed = |sstable: &str| json!({"keyspace": "copy", "table": "users", "folder": pod.path(FOLDER), "sstable": sstable});
    let note = json!([placed("nb-1500000000-big"), placed("nb-1500000001-big")]);
    fs::write(pod.path(NOTE), note.to_string()).unwrap();
    place(&pod, &manifest);
    let status = ended(&pod, "r1-load-1");
    assert_eq!(status["state"], "Done", "{status:#}\n{}", pod.log());
    let loaded = loaded(&pod);
    assert!(taken(&pod).iter().all(|hash| loaded.get(hash) == Some(&1)), "{loaded:?}");
    // What was whole may have been in the server's hands already.
    assert_eq!(loaded.len(), SSTABLES + 1);
    assert!(!files(&pod.path(FOLDER)).iter().any(|path| path.to_str().unwrap().contains("-15000")));
    assert!(!pod.path(NOTE).exists());
}

fn a_killed_agent() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    fs::write(pod.path("tmp").join(HELD), "").unwrap();
    place(&pod, &manifest);
    eventually("a call", || calls(&pod) == 1);
    assert_eq!(there(&pod).len(), 2, "a batch is linked");
    let agent = pod.agent().unwrap();
    signal(agent, "KILL");
    eventually("its end", || !exists(agent));
    eventually("a call of the next one", || calls(&pod) == 2);
    fs::remove_file(pod.path("tmp").join(HELD)).unwrap();
    all_are_there(&pod);
    let times: Vec<usize> = loaded(&pod).into_values().collect();
    assert_eq!(times.iter().sum::<usize>(), SSTABLES + 2, "the first batch twice: {times:?}");
    assert_eq!(there(&pod).len(), SSTABLES + 2);
}

fn roles() {
    let pod = a_pod();
    let id = "5f3c2b1a000040008000000000000";
    for (table, number) in [("roles", 1), ("network_permissions", 2)] {
        // The ring of this server has no table for the second one.
        write(&pod.path(&format!("data/data/system_auth/{table}-{id}00{number}")), number);
    }
    let manifest = backed_up(&pod);
    load(
        &pod,
        "r1-load-1",
        &manifest,
        json!({"load": {
            "manifestHash": manifest, "source": pod.api.status("m-0")["hostID"], "way": "Roles",
        }}),
    );
    let status = ended(&pod, "r1-load-1");
    assert_eq!(status["state"], "Done", "{status:#}\n{}", pod.log());
    assert_eq!(status["loaded"]["sstables"], 1, "{status}");
    let loaded: Vec<String> =
        pod.told().into_iter().filter(|line| line.starts_with("loaded ")).collect();
    assert_eq!(loaded.len(), 1, "{loaded:?}");
    assert!(loaded[0].starts_with("loaded system_auth.roles "), "{loaded:?}");
}

fn a_killed_server() {
    let pod = a_pod();
    let manifest = a_copy(&pod);
    fs::write(pod.path("tmp").join(HELD), "").unwrap();
    place(&pod, &manifest);
    eventually("a call", || calls(&pod) == 1);
    assert!(pod.path(NOTE).exists() && there(&pod).len() == 2);
    let server = pod.server().unwrap();
    signal(server, "KILL");
    eventually("another server", || pod.server().is_some_and(|now| now != server));
    fs::remove_file(pod.path("tmp").join(HELD)).unwrap();
    all_are_there(&pod);
    assert!(loaded(&pod).values().all(|times| *times == 1), "{:?}", pod.told());
}
