//! The archive of a commit log: what is whole in it is sent, by whichever agent runs, and no
//! segment is lost that the server deletes.

use super::{Case, Path, PathBuf, Pod, System, Vault, a_pod_with, done, eventually, fs, json};
use crate::processes::signal;
use palladion_backup::archive::entry::{Brings, Entry, read};
use palladion_backup::archive::scan::testing::Segment;
use palladion_backup::names::HostId;
use palladion_store::directory::Directory;
use serde_json::Value;
use std::process::Command;

/// All, in order.
pub const ALL: &[Case] = &[
    ("a_commit_log_is_archived_while_agents_come_and_go", while_agents_come_and_go),
    ("a_truncation_and_a_schema_are_seen_before_the_bytes_behind_them", truncated),
];

fn server() -> Value {
    json!({
        "mode": "cassandra", "version": "5.0.5", "ring": "r", "datacenter": "dc1", "rack": "a",
        "numTokens": 16, "archive": "Linked",
    })
}

fn archiving() -> (Pod, Segment) {
    let pod = a_pod_with(Some(server()));
    let segment = Segment::new(1_764_000_000_001, 65_536, "{}");
    put(&pod, &segment);
    put(&pod, &Segment::new(1_764_000_000_002, 65_536, "{}"));
    let order = json!({
        "repository": {"id": "repository-1", "sealed": false},
        "store": {"at": pod.path("store")}, "maxLossSeconds": 3, "window": 0,
    });
    pod.api.replace_in_spec("m-0", "archive", order);
    pod.wait_for("an archive that waits", |s| s["archive"]["state"] == "Waiting");
    done(&pod, "prepare-1", json!({"prepare": {}}));
    pod.wait_for("an archive", |s| s["archive"]["since"].is_string());
    (pod, segment)
}

fn put(pod: &Pod, segment: &Segment) {
    let folder = pod.path("data/commitlog");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name(segment));
    let mut file = fs::File::options().create(true).write(true).truncate(false).open(path).unwrap();
    std::io::Write::write_all(&mut file, &segment.bytes).unwrap();
}

fn name(segment: &Segment) -> String {
    format!("CommitLog-7-{}.log", segment.number)
}

/// As the server does with a segment that is full.
fn fill(pod: &Pod, segment: &Segment) {
    let properties = pod.path("run/conf/commitlog_archiving.properties");
    let text = fs::read_to_string(properties).unwrap();
    let command = text.trim().strip_prefix("archive_command=").unwrap();
    let path = pod.path("data/commitlog").join(name(segment));
    let filled = command.replace("%name", &name(segment));
    let filled = filled.replace("%path", path.to_str().unwrap());
    let words: Vec<&str> = filled.split(' ').collect();
    assert!(Command::new(words[0]).args(&words[1..]).status().unwrap().success(), "{filled}");
}

fn links(pod: &Pod) -> Vec<PathBuf> {
    super::files(&pod.path("data/.palladion/commitlog"))
}

fn journal(pod: &Pod) -> Vec<Entry> {
    let random = System::new().unwrap();
    let store = Directory::open(Path::new(&pod.path("store")), &random).unwrap();
    let vault = Vault::open(&store, None, &random).unwrap();
    let host = HostId::parse(pod.api.status("m-0")["hostID"].as_str().unwrap()).unwrap();
    (1..).map_while(|number| read(&vault, &host, number).unwrap()).map(|(entry, _)| entry).collect()
}

fn words(pod: &Pod) -> String {
    let word = |entry: Entry| match entry.brings {
        Brings::Opening => "opening".to_string(),
        Brings::Bytes(part) => format!("{}:{}-{}", part.segment % 1000, part.from, part.to),
        Brings::Rest => "rest".to_string(),
        Brings::Gap { why } => format!("gap ({why})"),
    };
    journal(pod).into_iter().map(word).collect::<Vec<_>>().join(", ")
}

fn while_agents_come_and_go() {
    let (pod, mut first) = archiving();
    first.section(100);
    put(&pod, &first);
    eventually("the first bytes", || words(&pod) == "opening, 1:0-128");
    signal(pod.agent().unwrap(), "KILL");
    first.section(200);
    put(&pod, &first);
    eventually("those that came meanwhile", || words(&pod) == "opening, 1:0-128, 1:128-336");
    fill(&pod, &first);
    assert_eq!(links(&pod).len(), 1);
    fs::remove_file(pod.path("data/commitlog").join(name(&first))).unwrap();
    let mut second = Segment::new(first.number + 1, 65_536, "{}");
    second.section(50);
    put(&pod, &second);
    eventually("the next segment", || words(&pod).ends_with("1:128-336, 2:0-78"));
    eventually("no link of what is sent", || links(&pod).is_empty());
    let status = pod.wait_for("it", |s| s["archive"]["state"] == "Current");
    assert!(status["archive"]["gap"].is_null(), "{status:#}");
}

fn truncated() {
    let (pod, mut first) = archiving();
    first.section(100);
    put(&pod, &first);
    eventually("the first bytes", || words(&pod) == "opening, 1:0-128");
    let at = |segment: i64| format!("0x{segment:016x}{:08x}{:016x}", 128, 1_764_000_000_000_u64);
    let truncate = |own: i64, table: i64| {
        let all = json!({ "own": at(own), "t": at(table) });
        fs::write(pod.path("tmp/truncated.json"), all.to_string()).unwrap();
    };
    truncate(first.number, first.number);
    let why = "a table was truncated";
    pod.wait_for("the end of the window", |s| s["archive"]["gap"]["why"] == why);
    let ended = format!("opening, 1:0-128, gap ({why})");
    // A restore would bring back what the segment holds from before.
    pod.wait_for("why it waits", |s| {
        let message = s["archive"]["message"].as_str().unwrap_or_default();
        s["archive"]["state"] == "Waiting" && message.contains(&first.number.to_string())
    });
    assert_eq!(words(&pod), ended);
    let mut second = Segment::new(first.number + 1, 65_536, "{}");
    second.section(50);
    put(&pod, &second);
    fill(&pod, &first);
    eventually("another", || words(&pod) == format!("{ended}, opening, 2:0-78"));
    // A table of the server's own is truncated at each start.
    truncate(second.number, first.number);
    second.section(10);
    put(&pod, &second);
    eventually("what comes then", || words(&pod).ends_with("opening, 2:0-78, 2:78-96"));
    let schema = |entry: &Entry| entry.schema.sha256.clone();
    let all = journal(&pod);
    assert_eq!(schema(&all[0]), schema(all.last().unwrap()));
}
