//! A child that is killed at any of its requests, before or after the store has
//! carried it out, and is begun again: nothing is lost and little is sent twice.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "../../store/tests/support/mod.rs"]
mod objects;
mod support;

use objects::fault::{Kill, When};
use objects::s3::{ID, S3, SECRET};
use palladion_agent_transfer::tell::Done;
use palladion_backup::store::memory::Seeded;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use support::{BACKUP, Ended, Member, Running, bytes, repository, run, tree};

const TAG: &str = "palladion-b1-1";
const PIECE: u64 = 300_000;

fn member(folder: &Path, s3: &S3, number: u8) -> Member {
    let credentials = folder.join("credentials");
    std::fs::create_dir_all(&credentials).unwrap();
    std::fs::write(credentials.join("accessKeyId"), ID).unwrap();
    std::fs::write(credentials.join("secretAccessKey"), SECRET).unwrap();
    let store = json!({
        "at": "s3://bucket/demo", "endpoint": s3.endpoint(),
        "addressing": "Path", "transport": "Plain",
    });
    let base =
        json!({"repository": repository("Plain"), "store": store, "credentials": credentials});
    let member = Member::new(folder, number, base);
    member.write("users", "1", 1_300_000);
    member.write("users", "2", 40_000);
    member.write("orders", "1", 7000);
    member.take_snapshot(TAG);
    member
}

fn prepared(member: &Member) -> Value {
    assert_eq!(run(&member.prepare()).done(), Done::Prepared);
    let mut upload = member.upload(BACKUP, TAG, &member.describe());
    upload["work"]["pieceBytes"] = json!(PIECE);
    upload
}

/// Run it, and kill it at a request; how it ended.
fn killed(s3: &S3, settings: &Value, left: u64, when: When) -> Ended {
    let mut running = Running::new();
    s3.faults.kill(Kill { left, when, pid: running.pid() });
    running.tell(settings);
    let ended = running.end();
    s3.faults.killed();
    ended
}

#[track_caller]
fn comes_back(folder: &Path, member: &Member, ended: &Ended) {
    let finish = member.finish(BACKUP, &[(member.number, ended)]);
    assert!(matches!(run(&finish).done(), Done::Finished { .. }));
    member.comes_back(BACKUP, &folder.join("into"));
}

#[test]
fn killed_once_at_each_request_it_goes_on_behind_what_was_noted() {
    let requests = {
        let (s3, folder) = (S3::new(), tempfile::tempdir().unwrap());
        let settings = prepared(&member(folder.path(), &s3, 1));
        let all = |s3: &S3| ["GET", "HEAD", "PUT"].map(|of| s3.faults.requests(of)).iter().sum();
        let before: u64 = all(&s3);
        run(&settings).done();
        all(&s3) - before
    };
    assert!(requests > 20, "{requests}");
    let mut kills = 0;
    for left in 0..requests {
        let when = if left.is_multiple_of(2) { When::Before } else { When::After };
        let (s3, folder) = (S3::new(), tempfile::tempdir().unwrap());
        let member = member(folder.path(), &s3, 1);
        let settings = prepared(&member);
        let first = killed(&s3, &settings, left, when);
        kills += u64::from(first.code.is_none());
        let second = run(&settings);
        second.done();
        assert_eq!(member.left(TAG), 0);
        let sent = first.progress.sent_bytes.max(second.progress.sent_bytes);
        assert!(sent < 1_600_000, "request {left}: {sent}");
        // One piece at most is sent twice: the store has each of the others once.
        let data = tree(&s3.bucket().join("demo/sstables"));
        let whole: usize = data.values().map(Vec::len).sum();
        let once: usize = member.live().values().map(Vec::len).sum();
        assert!(
            whole >= once && whole <= once + PIECE as usize,
            "request {left}: {whole} of {once}"
        );
        if left % 5 == 0 {
            comes_back(folder.path(), &member, &second);
        }
    }
    assert!(kills >= requests - 2, "{kills} of {requests} were killed");
    println!("{kills} kills at {requests} requests");
}

#[test]
fn killed_again_and_again_it_comes_to_an_end() {
    let (mut kills, seeds) = (0, 6);
    for seed in 0..seeds {
        let (s3, folder, random) = (S3::new(), tempfile::tempdir().unwrap(), Seeded::new(seed));
        let member = member(folder.path(), &s3, 2);
        let settings = prepared(&member);
        let ended = loop {
            let when = if random.next().is_multiple_of(2) { When::Before } else { When::After };
            let ended = killed(&s3, &settings, 6 + random.next() % 12, when);
            if ended.code.is_some() {
                break ended;
            }
            kills += 1;
        };
        ended.done();
        comes_back(folder.path(), &member, &ended);
    }
    println!("{kills} kills in {seeds} backups");
    assert!(kills > seeds * 2, "{kills}");
}

#[test]
fn a_line_of_the_journal_that_was_cut_off_is_left_out_and_one_that_rotted_refused() {
    let (s3, folder) = (S3::new(), tempfile::tempdir().unwrap());
    let member = member(folder.path(), &s3, 1);
    let settings = prepared(&member);
    assert_eq!(killed(&s3, &settings, 15, When::After).code, None);
    let journal = member.state().join("b1-1.journal");
    let whole = std::fs::read(&journal).unwrap();
    let mut open = std::fs::File::options().append(true).open(&journal).unwrap();
    open.write_all(b"{\"taken\":[{\"keyspace\":\"sh").unwrap();
    // Where it is not cut off but changed, it is not known what was removed as sent.
    let mut rotten = whole.clone();
    let middle = whole.len() / 2;
    rotten[middle..middle + 40].copy_from_slice(&bytes(1, 40));
    let torn = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, rotten).unwrap();
    let (cause, said) = run(&settings).stopped();
    assert!(cause == "BackupFailed" && said.contains("abort the backup"), "{said}");
    std::fs::write(&journal, torn).unwrap();
    let ended = run(&settings);
    ended.done();
    comes_back(folder.path(), &member, &ended);
}

#[test]
fn a_snapshot_that_is_cleared_meanwhile_fails_the_member_and_nothing_is_listed_anew() {
    let (s3, folder) = (S3::new(), tempfile::tempdir().unwrap());
    let member = member(folder.path(), &s3, 1);
    let settings = prepared(&member);
    assert_eq!(killed(&s3, &settings, 12, When::After).code, None);
    // What `clearSnapshot` does, and a second snapshot of the same tag after it.
    let live = member.live();
    for table in ["users", "orders"] {
        std::fs::remove_dir_all(member.snapshot(table, TAG)).unwrap();
    }
    let (cause, said) = run(&settings).stopped();
    assert_eq!(cause, "BackupFailed");
    assert!(said.contains("somebody has cleared the snapshot"), "{said}");
    // Files written anew, whose inodes are others than those that were listed.
    for table in ["users", "orders"] {
        let snapshot = member.snapshot(table, TAG);
        for entry in std::fs::read_dir(snapshot.ancestors().nth(2).unwrap()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let copy = std::fs::read(&path).unwrap();
                std::fs::remove_file(&path).unwrap();
                std::fs::write(&path, copy).unwrap();
            }
        }
    }
    member.take_snapshot(TAG);
    assert_eq!(member.live(), live);
    let (cause, said) = run(&settings).stopped();
    assert_eq!(cause, "BackupFailed");
    assert!(said.contains("no longer the file that was listed"), "{said}");
    let outcome = s3.bucket().join("demo/backups/b1/outcome.json");
    assert!(!outcome.exists());
}
