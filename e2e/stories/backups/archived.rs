//! A ring whose commit logs are archived: each member is never behind by more than it may be, and
//! what is in the store follows, piece by piece, whoever is killed meanwhile.

use jiff::Timestamp;
use palladion_backup::archive::entry::{Brings, Entry, Part, read};
use palladion_backup::archive::segment;
use palladion_backup::hash::Hash;
use palladion_backup::names::HostId;
use palladion_backup::vault::Vault;
use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed, s3, wait_for};
use palladion_store::directory::Directory;
use palladion_store::random::System;
use palladion_testbed::faults::Victim;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{SOON, store, wanted_at};

const ARCHIVED: &str = "archived";
/// What may be lost.
const MOST: i64 = 20;
/// A member that is killed is back within this time, and archives again.
const AWAY: i64 = 120;
const TABLE: &str = "archived.rows";

fn ring() -> Ring<'static> {
    let backup = format!(
        "backup: {{store: {{s3: {{bucket: backups, prefix: rings/{ARCHIVED}, endpoint: \"{}\", addressing: Path, transport: Plain}}}}, archive: {{mode: CommitLog, maxLossSeconds: {MOST}}}}}",
        store().endpoint()
    );
    // Small segments, so that some are filled.
    let ring = wanted_at(Box::leak(backup.into_boxed_str()))
        .line("config: {commitlog_segment_size: 1MiB}");
    let manifest = format!(
        "{}\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {ARCHIVED}-backup}}\nstringData: {{accessKeyId: {}, secretAccessKey: {}}}\n",
        ring.manifest(ARCHIVED),
        s3::ID,
        s3::SECRET
    );
    let made = Ring::create_from(bed(), ARCHIVED, &manifest, ring.members()).expect("a ring");
    made.wait_settled().expect("settled");
    made
}

/// Write this many rows of four kilobytes, as many at a time as a command line takes.
fn write(ring: &Ring<'_>, from: u32, rows: u32) {
    let text = "x".repeat(4000);
    let row = |key: u32| format!("INSERT INTO {TABLE} (key, text) VALUES ({key}, '{key}{text}')");
    let rows: Vec<String> = (from..from + rows).map(row).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    for some in rows.chunks(20) {
        ring.cql(some).expect("written");
    }
}

/// How each member stands: until when it is archived, as it was reported.
fn stands(ring: &Ring<'_>) -> BTreeMap<String, Value> {
    let members = ring.members().expect("the members");
    let of = |member: &Value| {
        (text(member, "/metadata/name").to_string(), member["status"]["archive"].clone())
    };
    members.iter().map(of).collect()
}

fn hosts(ring: &Ring<'_>) -> Vec<HostId> {
    let ids = ring.host_ids().expect("IDs").into_iter();
    ids.filter_map(|(_, id)| HostId::parse(&id)).collect()
}

/// The journal of a member, entry by entry.
fn journal(host: &HostId) -> Vec<Entry> {
    let random = System::new().expect("randomness");
    let root = store().bucket().join("rings").join(ARCHIVED);
    let directory = Directory::open(&root, &random).expect("the store");
    let vault = Vault::open(&directory, None, &random).expect("the repository");
    let (mut all, mut previous): (Vec<Entry>, Option<Hash>) = (Vec::new(), None);
    for number in 1.. {
        let Some((entry, hash)) = read(&vault, host, number).expect("an entry") else { break };
        assert_eq!(entry.previous, previous, "entry {number} of {host} follows the one before");
        assert!(all.last().is_none_or(|last| last.until <= entry.until), "{entry:?}");
        previous = Some(hash);
        all.push(entry);
    }
    pieces(&vault, host, &all);
    all
}

/// All pieces follow, and what is put together of them ends at a whole marker.
fn pieces(vault: &Vault<'_>, host: &HostId, entries: &[Entry]) {
    let mut before: Option<Part> = None;
    let mut segments: BTreeMap<i64, (Vec<u8>, u64)> = BTreeMap::new();
    for entry in entries {
        match &entry.brings {
            Brings::Opening | Brings::Gap { .. } => before = None,
            Brings::Rest => {}
            Brings::Bytes(part) => {
                match &before {
                    Some(before) => assert!(part.follows(before), "{host}: {before:?} {part:?}"),
                    None => assert_eq!(part.from, 0, "{host}: {part:?}"),
                }
                let bytes = vault.read(&part.object).expect("read").expect("an object");
                assert_eq!(Hash::of(&bytes), part.sha256);
                let piece = segments.entry(part.segment).or_default();
                if part.from == 0 {
                    piece.0.clear();
                }
                assert_eq!(piece.0.len() as u64, part.from);
                piece.0.extend(bytes);
                piece.1 = part.file_bytes;
                before = Some(part.clone());
            }
        }
    }
    for (number, (mut bytes, length)) in segments {
        let end = bytes.len() as u64;
        bytes.resize(usize::try_from(length).expect("a length"), 0);
        let head = segment::head(&bytes).expect("a head");
        assert_eq!((head.segment, head.is_plain()), (number, true));
        let mut at = head.bytes;
        while let Some(next) =
            segment::next(number, at, &bytes[usize::try_from(at).expect("a place in it")..])
        {
            at = next;
        }
        assert_eq!(at, end, "segment {number} of {host} ends at a marker");
    }
}

/// Wait until all that was written by now is in the journal of each member.
fn caught_up(ring: &Ring<'_>, patience: i64) -> i64 {
    let (now, begun) = (Timestamp::now().as_second(), Instant::now());
    for host in hosts(ring) {
        let patience = Duration::from_secs(u64::try_from(patience).unwrap_or_default());
        // At rest nothing comes but every five minutes: so something is written.
        wait_for(&format!("the journal of {host} to reach now"), patience, || {
            ring.cql(&[&format!("INSERT INTO {TABLE} (key, text) VALUES (0, 'again')")])?;
            let entries = journal(&host);
            Ok(entries.last().is_some_and(|last| last.until >= now).then_some(()))
        })
        .unwrap_or_else(|why| panic!("{why:#}: {:?}", stands(ring)));
    }
    i64::try_from(begun.elapsed().as_secs()).unwrap_or(i64::MAX)
}

pub fn all_the_time() {
    let ring = ring();
    ring.cql(&[
        "CREATE KEYSPACE archived WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
        &format!("CREATE TABLE {TABLE} (key int PRIMARY KEY, text text)"),
    ])
    .expect("tables");
    // Nothing is archived before the ring's repository is known.
    let is_waiting = |status: &Value| status.is_null() || text(status, "/state") == "Waiting";
    assert!(stands(&ring).values().all(is_waiting), "{:?}", stands(&ring));
    take("base");
    wait_for("each member to archive", SOON, || {
        let all = stands(&ring);
        Ok(all.values().all(|status| status["since"].is_string()).then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {:?}", stands(&ring)));
    // Behind each opening by a minute.
    std::thread::sleep(Duration::from_secs(65));
    take("within");
    write(&ring, 1, 600);
    let took = caught_up(&ring, 2 * MOST + 20);
    assert!(took <= 2 * MOST, "{took} s");
    let mut last = Value::Null;
    wait_for("a point in time", SOON, || {
        write(&ring, 5000, 10);
        last = ring.cluster()?["status"]["pointInTime"].clone();
        Ok(last["until"].is_string().then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {last} {:?}", stands(&ring)));
    let within = bed().get(ARCHIVED, "cassandrabackup", "within").expect("get").expect("it");
    assert_eq!(last["backup"], within["status"]["id"]);
    // The agent goes, then the server, and what they were at goes on.
    let names = ring.member_names().expect("names");
    for (round, program) in ["palladion-agent", "java"].into_iter().enumerate() {
        write(&ring, 10_000 * (1 + u32::try_from(round).unwrap_or_default()), 40);
        let victim = Victim::Named(program.into());
        bed().cluster.kill(ARCHIVED, &names[0], "cassandra", &victim).expect("killed");
        ring.wait_ready(ring_size()).expect("ready");
        caught_up(&ring, AWAY);
    }
    for host in hosts(&ring) {
        let entries = journal(&host);
        let gaps: Vec<&Entry> =
            entries.iter().filter(|entry| matches!(entry.brings, Brings::Gap { .. })).collect();
        assert!(gaps.is_empty(), "{host}: {gaps:?}");
        let parts = entries.iter().filter(|entry| matches!(entry.brings, Brings::Bytes(_)));
        eprintln!("{host}: {} entries, {} of them with bytes", entries.len(), parts.count());
    }
    // A truncated table does not come back: the window ends.
    ring.cql(&[&format!("TRUNCATE {TABLE}")]).expect("truncated");
    let why = palladion_backup::words::trouble::Ends::Truncated.to_string();
    wait_for("each window to end", SOON, || {
        let all = stands(&ring);
        Ok(all.values().all(|status| text(status, "/gap/why") == why).then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {:?}", stands(&ring)));
    ring.wait_reason("Degraded", palladion_api::reasons::Reason::ArchiveGap, SOON).expect("told");
    bed().remove_namespace(ARCHIVED).expect("removed");
}

fn ring_size() -> u32 {
    3
}

fn take(name: &str) {
    let backup = format!(
        "apiVersion: palladion.dev/v1alpha1\nkind: CassandraBackup\nmetadata: {{name: {name}}}\nspec: {{cluster: {ARCHIVED}}}\n"
    );
    bed().apply(ARCHIVED, &backup).expect("accepted");
    let mut last = Value::Null;
    wait_for(&format!("backup {name}"), SOON, || {
        last = bed().get(ARCHIVED, "cassandrabackup", name)?.unwrap_or_default();
        Ok(last["status"]["endedAt"].is_string().then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(text(&last, "/status/phase"), "Complete", "{}", last["status"]);
}
