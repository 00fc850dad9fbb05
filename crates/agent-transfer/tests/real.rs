//! The child of the agent with stores of other projects: from a snapshot to files that come back,
//! and to a store that holds no more than it must.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "support/mod.rs"]
mod member;
#[path = "../../store/tests/support/servers/mod.rs"]
mod servers;
#[path = "../../store/tests/support/mod.rs"]
mod support;

use member::{BACKUP, Member, Running, back_up, host, repository, run, two};
use palladion_agent_transfer::tell::Done;
use palladion_api::backup::TransferPlace;
use palladion_api::cluster::BackupStore;
use palladion_backup::store::Store;
use palladion_backup::store::memory::Seeded;
use serde_json::{Value, json};
use servers::{ACCOUNT, Server};
use std::path::Path;
use support::fault::{Kill, When};
use support::s3::BUCKET;

with_each_server!(
    a_backup_comes_back_and_the_next_one_sends_what_is_new,
    what_expires_is_condemned_and_a_day_later_gone,
    a_child_that_is_killed_again_and_again_comes_to_an_end
);

const DAY: i64 = 86_400;
/// Children that are killed, each at another of its requests.
const SEEDS: u64 = 4;

/// What `spec.backup.store` of a cluster says, as its agent hands it on. That of Google and of
/// Azure has no other endpoint than the provider's.
fn place(server: &Server, prefix: &str) -> Value {
    let store = match server.kind {
        servers::Kind::Moto | servers::Kind::Versitygw => json!({"s3": {
            "bucket": BUCKET, "prefix": prefix, "endpoint": server.endpoint(),
            "addressing": "Path", "transport": "Plain",
        }}),
        servers::Kind::FakeGcs => json!({"gcs": {"bucket": BUCKET, "prefix": prefix}}),
        servers::Kind::Azurite => {
            json!({"azure": {"account": ACCOUNT, "container": BUCKET, "prefix": prefix}})
        }
    };
    let store: BackupStore = serde_json::from_value(store).unwrap();
    let mut place = serde_json::to_value(TransferPlace::of(&store).unwrap()).unwrap();
    place["endpoint"] = json!(server.endpoint());
    place["transport"] = json!("Plain");
    place
}

/// Settings of a ring with its repository there.
fn base(server: &Server, folder: &Path, sealing: &str) -> Value {
    let keys = folder.join("keys");
    std::fs::create_dir_all(&keys).unwrap();
    std::fs::write(keys.join("one"), "ab".repeat(32)).unwrap();
    std::fs::write(keys.join("current"), "one").unwrap();
    json!({
        "repository": repository(sealing), "store": place(server, &format!("rings/{sealing}")),
        "credentials": server.credentials(), "keys": (sealing == "Sealed").then_some(keys),
    })
}

#[track_caller]
fn is_whole(member: &Member, backup: &str) {
    let verify = json!({"kind": "Verify", "backup": backup, "depth": "Read"});
    match run(&member.settings(verify)).done() {
        Done::Verified { damaged, .. } => assert!(damaged.is_empty(), "{damaged:?}"),
        other => panic!("{other:?}"),
    }
}

fn a_backup_comes_back_and_the_next_one_sends_what_is_new(server: &Server) {
    for sealing in ["Plain", "Sealed"] {
        let folder = tempfile::tempdir().unwrap();
        let members = two(folder.path(), &base(server, folder.path(), sealing));
        let first = back_up(&members, BACKUP, "palladion-b1-1");
        assert!(first[0].progress.sent_bytes > 7_500_000, "{:?}", first[0].progress);
        for member in &members {
            member.comes_back(BACKUP, &folder.path().join(format!("first-{}", member.number)));
        }
        members[0].write("users", "4", 2_000_000);
        let second = back_up(&members, "b2", "palladion-b2-1");
        let (new, same) = (second[0].progress, second[1].progress);
        println!("{:?} {sealing}: {new:?}, {same:?}", server.kind);
        assert!((2_000_000..2_200_000).contains(&new.sent_bytes), "{new:?}");
        assert!(same.sent_bytes < 60_000 && same.reused_bytes > 7_500_000, "{same:?}");
        is_whole(&members[1], "b2");
        members[0].comes_back("b2", &folder.path().join("second"));
    }
}

/// What the store has of this kind of names.
fn names(server: &Server, prefix: &str) -> Vec<String> {
    let store = server.patient("rings/Plain");
    store.list(prefix).unwrap().into_iter().map(|meta| meta.name).collect()
}

fn what_expires_is_condemned_and_a_day_later_gone(server: &Server) {
    let folder = tempfile::tempdir().unwrap();
    let base = base(server, folder.path(), "Plain");
    let members = [1, 2].map(|number| Member::new(folder.path(), number, base.clone()));
    for (backup, generations) in [("a", ["1", "2"]), ("b", ["2", "3"]), ("c", ["3", "4"])] {
        for member in &members {
            let _ = std::fs::remove_dir_all(member.root.join("data/shop"));
            for generation in generations {
                member.write("users", generation, 5000);
            }
            member.write("orders", "1", 500);
        }
        back_up(&members, backup, &format!("palladion-{backup}-1"));
    }
    let before = names(server, "");
    server.age(4 * DAY);
    let expire = members[0].settings(json!({"kind": "Expire", "backups": ["a", "b"], "keep": 1}));
    let Done::Expired { expired } = run(&expire).done() else { panic!("another answer") };
    assert_eq!(expired.condemned, ["a", "b"], "{expired:?}");
    let there = names(server, "");
    assert!(before.iter().all(|name| there.contains(name)), "the first phase deletes nothing");
    let (_, said) = run(&members[0].fetch("a", &folder.path().join("into"))).stopped();
    assert!(said.contains("is condemned by entry 1"), "{said}");
    let sweep = members[0].settings(json!({"kind": "Sweep", "backups": ["a", "b"]}));
    let swept = || match run(&sweep).done() {
        Done::Swept { swept } => *swept,
        other => panic!("{other:?}"),
    };
    // The list of what is condemned was written a moment ago: it is not older than that.
    server.age(-4 * DAY);
    let young = swept();
    // Rounded up, and some stores have whole seconds alone.
    assert!(young.objects == 0 && matches!(young.again_in_hours, Some(24 | 25)), "{young:?}");
    server.age(DAY);
    let gone = swept();
    assert_eq!((gone.backups.as_slice(), gone.vetoed), (&["a", "b"].map(String::from)[..], None));
    assert!(gone.objects > 0 && names(server, "backups/a/").is_empty());
    let left = names(server, &format!("sstables/{}/", host(1)));
    let has =
        |sstable: &str| left.iter().any(|name| name.contains(sstable) && name.contains("aa/"));
    assert!(!has("/nb-1-big/") && !has("/nb-2-big/") && has("/nb-3-big/"), "{left:?}");
    for member in &members {
        is_whole(member, "c");
        member.comes_back("c", &folder.path().join(format!("into-{}", member.number)));
    }
    println!("{:?}: {} objects, then {}", server.kind, before.len(), names(server, "").len());
}

fn a_child_that_is_killed_again_and_again_comes_to_an_end(server: &Server) {
    let mut kills = 0;
    for seed in 0..SEEDS {
        let (folder, random) = (tempfile::tempdir().unwrap(), Seeded::new(seed));
        let mut base = base(server, folder.path(), "Plain");
        base["store"] = place(server, &format!("killed/{seed}"));
        let member = Member::new(folder.path(), 1, base);
        member.write("users", "1", 1_300_000);
        member.write("orders", "1", 7000);
        member.take_snapshot("palladion-b1-1");
        assert_eq!(run(&member.prepare()).done(), Done::Prepared);
        let mut upload = member.upload(BACKUP, "palladion-b1-1", &member.describe());
        upload["work"]["pieceBytes"] = json!(300_000);
        let ended = loop {
            let when = if random.next().is_multiple_of(2) { When::Before } else { When::After };
            let mut running = Running::new();
            server.faults.kill(Kill { left: 6 + random.next() % 12, when, pid: running.pid() });
            running.tell(&upload);
            let ended = running.end();
            server.faults.killed();
            if ended.code.is_some() {
                break ended;
            }
            kills += 1;
        };
        ended.done();
        let finish = member.finish(BACKUP, &[(1, &ended)]);
        assert!(matches!(run(&finish).done(), Done::Finished { .. }));
        member.comes_back(BACKUP, &folder.path().join("into"));
    }
    println!("{:?}: {kills} kills in {SEEDS} backups", server.kind);
    assert!(kills > SEEDS, "{kills}");
}
