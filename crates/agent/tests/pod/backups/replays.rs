//! A ring that begins with a backup goes on to a point in time: the server is started once more
//! for it, and replays what was archived, whoever ends meanwhile.

use super::super::cases::Case;
use super::super::fake_replay::{ENDS, UNDRAINED};
use super::super::processes::signal;
use super::rings::{Rings, own_hash};
use super::*;
use palladion_agent_transfer::tokens::hash;
use palladion_backup::archive::bytes_name;
use palladion_backup::archive::entry::{self, Brings, Entry, Part};
use palladion_backup::catalog;
use palladion_backup::hash::Hash;
use palladion_backup::names::HostId;

pub const ALL: &[Case] = &[
    ("what_was_archived_since_a_backup_is_replayed_up_to_a_time", it_is_replayed),
    ("a_replay_goes_on_whoever_is_killed", whoever_is_killed),
    ("a_server_that_was_not_drained_is_started_plain", undrained),
];

/// Ten minutes after the backup, and when the archive ends.
const TO: &str = "2026-11-28T00:10:00Z";
const LENGTH: usize = 5000;

fn seconds(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().unwrap().as_second()
}

/// Write two segments, the second one in two parts and not to its end. What a server is to be
/// given: the name of each, its length, and its hash.
fn archived(rings: &Rings) -> Vec<String> {
    let random = System::new().unwrap();
    let store = Directory::open(&rings.old.path("store"), &random).unwrap();
    let vault = Vault::open(&store, None::<Keys>, &random).unwrap();
    let (ring, _) = catalog::one(&vault, &BackupId::parse("b1").unwrap()).unwrap();
    let host = HostId::parse(rings.source().as_str().unwrap()).unwrap();
    let bytes = |segment: usize| -> Vec<u8> {
        (0..LENGTH).map(|at| ((at * 7 + segment) % 251) as u8).collect()
    };
    let begin = seconds("2026-11-27T23:50:00Z");
    let parts = [(1, 0, LENGTH), (2, 0, 1000), (2, 1000, 1800)];
    let mut all = vec![(begin, None)];
    all.extend(parts.iter().enumerate().map(|(at, part)| (begin + 60 * at as i64, Some(*part))));
    all.push((seconds(TO), None));
    let mut previous = None;
    for (at, (until, part)) in all.into_iter().enumerate() {
        let number = at as u64 + 1;
        let brings = match part {
            None if number == 1 => Brings::Opening,
            None => Brings::Rest,
            Some((segment, from, to)) => {
                let plain = &bytes(segment)[from..to];
                let object = bytes_name(&host, number, "00ff");
                vault.write(&object, plain).unwrap();
                Brings::Bytes(Part {
                    segment: segment as i64,
                    file: format!("CommitLog-7-{segment}.log"),
                    file_bytes: LENGTH as u64,
                    run: "run-1".into(),
                    from: from as u64,
                    to: to as u64,
                    object,
                    sha256: Hash::of(plain),
                    stored_bytes: plain.len() as u64,
                })
            }
        };
        let entry = Entry {
            repository: "repository-1".into(),
            host: host.clone(),
            number,
            previous,
            until,
            since: until - 20,
            found: until,
            loss: 60,
            schema: ring.schema.clone(),
            tokens_hash: own_hash(),
            ring: hash([format!("1 {host}").as_str(), &format!("2 {host}")].into_iter()),
            version: "5.0.5".into(),
            brings,
        };
        previous = Some(entry::write(&vault, &entry).unwrap().1);
    }
    let mut second = bytes(2);
    second[1800..].fill(0);
    let said = |segment: usize, bytes: &[u8]| {
        format!("recover CommitLog-7-{segment}.log {} {}", bytes.len(), Hash::of(bytes))
    };
    vec![said(1, &bytes(1)), said(2, &second)]
}

fn replay(rings: &Rings) -> Value {
    json!({"replay": {
        "manifestHash": rings.manifest, "source": rings.source(), "to": TO,
        "tables": ["shop.users"],
    }})
}

fn recovered(pod: &Pod) -> Vec<String> {
    pod.told().into_iter().filter(|line| line.starts_with("recover ")).collect()
}

fn starts(pod: &Pod) -> usize {
    pod.api.status("m-0")["startHistory"].as_array().map_or(0, Vec::len)
}

fn conf(pod: &Pod, name: &str) -> String {
    fs::read_to_string(pod.path(&format!("run/{name}"))).unwrap_or_default()
}

fn it_is_replayed() {
    let rings = Rings::new();
    let expected = archived(&rings);
    let catalog = |to: &str| json!({"catalog": {"wholeRing": true, "to": to}});
    let found = rings.done("r1-catalog-1", catalog(TO));
    let journal = &found["cataloged"]["journals"][0];
    assert_eq!(journal["hostID"], rings.source());
    assert_eq!((&journal["segments"], &journal["bytes"]), (&json!(2), &json!(LENGTH + 1800)));
    assert!(journal["missing"].is_null(), "{journal}");
    let later = rings.done("r1-catalog-2", catalog("2026-11-28T00:11:01Z"));
    let missing = later["cataloged"]["journals"][0]["missing"].as_str().unwrap().to_string();
    assert!(missing.contains(&format!("ends at {TO}")), "{missing}");
    let rings = rings.begun();
    let new = &rings.new;
    assert_eq!(starts(new), 1);
    assert!(!conf(new, "jolokia-policy.xml").contains("type=Commitlog"));
    let replayed = rings.done("r1-replay-1", replay(&rings));
    let result = json!({"segments": 2, "bytes": LENGTH + 1800});
    assert_eq!(replayed["replayed"], result);
    assert_eq!(recovered(new), expected);
    assert_eq!(starts(new), 2, "{}", new.log());
    assert!(rings.is_closed());
    let told = new.told();
    let millis = seconds(TO) * 1000;
    assert!(told.contains(&format!("replays shop.users up to {millis}")), "{told:#?}");
    assert!(conf(new, "jolokia-policy.xml").contains("type=Commitlog"));
    let left = files(&new.path("data/.palladion"));
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("CommitLog")), "{left:?}");
    // What is not whole is given to no server.
    let object = files(&rings.old.path("store/commitlog"));
    let object = object.iter().find(|path| path.to_string_lossy().contains("003~")).unwrap();
    let mut bytes = fs::read(object).unwrap();
    bytes[10] ^= 1;
    fs::write(object, bytes).unwrap();
    rings.order("r1-replay-2", replay(&rings));
    let failed = ended(new, "r1-replay-2");
    assert_eq!(failed["cause"], "RepositoryDamaged", "{failed:#}");
    assert_eq!(recovered(new).len(), 2);
    rings.done("r1-open-1", json!({"open": {}}));
    eventually("readiness", || new.get("/readyz").0 == 200);
    assert_eq!(conf(new, "conf/commitlog_archiving.properties"), "");
    assert!(!conf(new, "jolokia-policy.xml").contains("type=Commitlog"));
}

/// The server ends at a segment, comes back plain, and is started once more for the replay; the
/// agent that sees to it is killed, too.
fn whoever_is_killed() {
    let rings = Rings::new();
    let expected = archived(&rings);
    let rings = rings.begun();
    let new = &rings.new;
    fs::write(new.path("tmp").join(ENDS), "1").unwrap();
    rings.order("r1-replay-1", replay(&rings));
    eventually("that a server ends", || {
        fs::read_to_string(new.path("tmp").join(ENDS)).is_ok_and(|left| left == "0")
    });
    signal(new.agent().unwrap(), "KILL");
    let status = ended(new, "r1-replay-1");
    assert_eq!(status["state"], "Done", "{status:#}\n{}", new.log());
    let first = expected[0].clone();
    let twice: Vec<String> = std::iter::once(first).chain(expected).collect();
    assert_eq!(recovered(new), twice, "what was not noted once more\n{}", new.log());
    let begun = new.told().into_iter().filter(|line| line.starts_with("replays ")).count();
    // An agent that ends between a drain and its start forgets it: then there is one more plain start.
    assert!(begun == 2 && (4..=5).contains(&starts(new)), "{begun} {}: {}", starts(new), new.log());
    assert!(rings.is_closed());
}

/// The server answers a drain that has failed as one that went well: its log may have what the
/// time of the replay would leave out.
fn undrained() {
    let rings = Rings::new();
    let expected = archived(&rings);
    let rings = rings.begun();
    let new = &rings.new;
    fs::write(new.path("tmp").join(UNDRAINED), "1").unwrap();
    let before = starts(new);
    rings.order("r1-replay-1", replay(&rings));
    eventually("a plain start", || starts(new) > before);
    assert!(!new.told().iter().any(|line| line.starts_with("replays ")), "{:#?}", new.told());
    let status = ended(new, "r1-replay-1");
    assert_eq!(status["state"], "Done", "{status:#}\n{}", new.log());
    assert_eq!(recovered(new), expected);
    let begun = new.told().into_iter().filter(|line| line.starts_with("replays ")).count();
    assert_eq!((begun, starts(new)), (1, before + 2), "{}", new.log());
}
