//! What a transfer refuses before the first byte, and what ends it: each with the
//! cause that the operator sorts it by and the next step for people.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_agent_transfer::tell::Done;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{BACKUP, Member, Running, repository, run, tree};

const TAG: &str = "palladion-b1-1";

fn member(folder: &Path, sealing: &str) -> Member {
    let (store, keys) = (folder.join("store"), folder.join("keys"));
    std::fs::create_dir_all(&store).unwrap();
    std::fs::create_dir_all(&keys).unwrap();
    let base = json!({"repository": repository(sealing), "store": {"at": store}, "keys": keys});
    let member = Member::new(folder, 1, base);
    member.write("users", "1", 1_200_000);
    member.write("orders", "1", 500);
    member.take_snapshot(TAG);
    member
}

fn key(folder: &Path, name: &str, byte: &str) {
    std::fs::write(folder.join("keys").join(name), byte.repeat(32)).unwrap();
    std::fs::write(folder.join("keys/current"), name).unwrap();
}

#[track_caller]
fn refused(settings: &Value, cause: &str, words: &str) {
    let (found, said) = run(settings).stopped();
    assert_eq!(found, cause, "{said}");
    assert!(said.contains(words), "{said}");
}

fn upload(member: &Member) -> Value {
    assert_eq!(run(&member.prepare()).done(), Done::Prepared);
    member.upload(BACKUP, TAG, &member.describe())
}

#[test]
fn another_rings_repository_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let mut upload = upload(&member);
    let store = folder.path().join("store");
    let before = tree(&store);
    let mut prepare = member.prepare();
    for settings in [&mut upload, &mut prepare] {
        // A namesake: the same ring and datacenter, and another ID.
        settings["repository"]["repositoryID"] = json!("repository-2");
        refused(settings, "RepositoryForeign", "repository-1, not repository-2");
    }
    assert!(tree(&store) == before, "something was written");
    assert_eq!(member.left(TAG), 18, "no file of the snapshot is gone");
}

#[test]
fn without_its_key_nothing_is_sent_and_with_it_the_transfer_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Sealed");
    refused(&member.prepare(), "EncryptionKeyMissing", "add the key to its Secret");
    assert_eq!(tree(&folder.path().join("store")).len(), 0);
    key(folder.path(), "one", "ab");
    let upload = upload(&member);
    std::fs::remove_file(folder.path().join("keys/one")).unwrap();
    refused(&upload, "EncryptionKeyMissing", "there is no such file");
    key(folder.path(), "one", "ab");
    let ended = run(&upload);
    ended.done();
    run(&member.finish(BACKUP, &[(1, &ended)])).done();
    // Rotated, and the old key thrown away that the backup needs.
    std::fs::remove_file(folder.path().join("keys/one")).unwrap();
    key(folder.path(), "two", "cd");
    refused(&member.prepare(), "EncryptionKeyMissing", "backup b1 is sealed with key");
    key(folder.path(), "one", "ab");
    assert_eq!(run(&member.prepare()).done(), Done::Prepared);
}

#[test]
fn a_volume_that_is_too_full_keeps_its_room_for_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let mut upload = upload(&member);
    let mut prepare = member.prepare();
    for settings in [&mut prepare, &mut upload] {
        settings["work"]["leastFree"] = json!(101);
        refused(settings, "NotEnoughSpace", "a backup needs 101 %");
    }
    assert!(!folder.path().join("store/sstables").exists(), "something was sent");
    assert_eq!(member.left(TAG), 18);
}

/// One SSTable may take hours, and compactions keep its snapshot growing meanwhile.
#[test]
fn a_volume_that_fills_while_an_sstable_is_sent_is_noticed_before_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let mut upload = upload(&member);
    // Where the journal is kept says how full the volume is, and of what is no volume nothing is free.
    let (place, real) = (folder.path().join("place"), folder.path().join("real"));
    std::fs::create_dir_all(&real).unwrap();
    std::os::unix::fs::symlink(&real, &place).unwrap();
    upload["work"]["state"] = json!(place);
    upload["work"]["leastFree"] = json!(1);
    upload["work"]["pieceBytes"] = json!(100_000);
    upload["bytesPerSecond"] = json!(200_000);
    let mut running = Running::new();
    running.tell(&upload);
    let begun = Instant::now();
    while sent_of("users", folder.path()) < 3 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let full = folder.path().join("full");
    std::os::unix::fs::symlink("/proc", &full).unwrap();
    std::fs::rename(&full, &place).unwrap();
    let (cause, said) = running.end().stopped();
    assert_eq!(cause, "NotEnoughSpace", "{said}");
    assert!(said.starts_with("0 % of the volume is free"), "{said}");
    assert!(sent_of("users", folder.path()) < 12, "all of the SSTable is sent");
    assert!(member.snapshot("users", TAG).join("nb-1-big-Data.db").exists());
}

#[test]
fn a_file_that_has_rotted_is_named_and_not_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let data = member.snapshot("users", TAG).join("nb-1-big-Data.db");
    let about = std::fs::metadata(&data).unwrap();
    let mut bytes = std::fs::read(&data).unwrap();
    bytes[600_000] ^= 1;
    std::fs::write(&data, bytes).unwrap();
    // A bit that flips on the disk changes no time.
    let file = std::fs::File::options().write(true).open(&data).unwrap();
    file.set_modified(about.modified().unwrap()).unwrap();
    refused(&upload(&member), "BackupFailed", "nb-1-big-Data.db does not match its Digest.crc32");
    assert!(data.exists());
}

#[test]
fn a_snapshot_that_is_not_what_the_server_says_is_refused_before_the_first_byte() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let upload = upload(&member);
    let users = member.snapshot("users", TAG);
    let (data, aside) = (users.join("nb-1-big-Data.db"), folder.path().join("aside"));
    std::fs::rename(&data, &aside).unwrap();
    refused(&upload, "BackupFailed", "names nb-1-big-Data.db, which is not there");
    std::fs::rename(&aside, &data).unwrap();
    std::fs::copy(&data, users.join("nb-9-big-Data.db")).unwrap();
    refused(&upload, "BackupFailed", "has nb-9-big-Data.db, which its manifest.json does not name");
    std::fs::remove_file(users.join("nb-9-big-Data.db")).unwrap();
    std::fs::write(users.join("core"), "").unwrap();
    refused(&upload, "BackupFailed", "is no component of an SSTable");
    std::fs::remove_file(users.join("core")).unwrap();
    let mut other = upload.clone();
    other["work"]["tag"] = json!("palladion-never-taken");
    refused(&other, "BackupFailed", "there is no snapshot palladion-never-taken");
    for tag in ["", "palladion-", "users-own", "palladion-a/../b"] {
        other["work"]["tag"] = json!(tag);
        refused(&other, "Refused", "cannot read the settings");
    }
    assert!(!folder.path().join("store/sstables").exists(), "something was sent");
    run(&upload).done();
}

#[test]
fn a_snapshot_that_somebody_has_cleared_in_part_is_not_taken_for_whole() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let mut upload = upload(&member);
    let data: Vec<std::path::PathBuf> =
        serde_json::from_value(upload["work"]["data"].clone()).unwrap();
    let tag = palladion_agent_transfer::settings::Tag::try_from(TAG.to_string()).unwrap();
    let whole = palladion_agent_transfer::snapshot::fingerprint(&data, &tag).unwrap();
    upload["work"]["tables"] = json!(whole);
    // A whole table, as `nodetool clearsnapshot` of its keyspace leaves it.
    std::fs::remove_dir_all(member.snapshot("orders", TAG)).unwrap();
    refused(&upload, "BackupFailed", "lacks tables that it had");
    let other = member.snapshot("users", TAG);
    assert!(std::fs::read_dir(&other).unwrap().count() > 0, "nothing was sent or removed");
}

/// As `nodetool clearsnapshot` leaves an SSTable while the child lists it: file by file.
#[test]
fn half_of_an_sstable_is_not_taken_for_whole() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let upload = upload(&member);
    let users = member.snapshot("users", TAG);
    let without = |gone: &[&str]| {
        let part = |name: &&str| users.join(format!("nb-1-big-{name}"));
        let aside = |name: &&str| folder.path().join(name);
        gone.iter().for_each(|name| std::fs::rename(part(name), aside(name)).unwrap());
        refused(&upload, "BackupFailed", "somebody has cleared a part of it");
        gone.iter().for_each(|name| std::fs::rename(aside(name), part(name)).unwrap());
        // What was listed is listed once.
        std::fs::remove_dir_all(member.state()).unwrap();
    };
    for gone in ["CRC.db", "Digest.crc32", "Filter.db", "Index.db", "Statistics.db", "Summary.db"] {
        without(&[gone]);
    }
    without(&["TOC.txt", "CRC.db"]);
    assert!(!folder.path().join("store/sstables").exists() || sent_of("users", folder.path()) == 0);
    run(&upload).done();
}

/// Objects of a table in the store.
fn sent_of(table: &str, folder: &Path) -> usize {
    let id = if table == "users" { "0000000000aa/" } else { "0000000000bb/" };
    tree(&folder.join("store")).keys().filter(|name| name.contains(id)).count()
}

#[test]
fn it_is_no_faster_than_it_may_be_and_a_new_rate_counts_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let member = member(folder.path(), "Plain");
    let mut upload = upload(&member);
    upload["bytesPerSecond"] = json!(600_000);
    let begun = Instant::now();
    let ended = run(&upload);
    ended.done();
    let took = begun.elapsed();
    assert!(took > Duration::from_millis(1900), "1.2 MB in {took:?}");
    assert!(ended.progress.throttled_milliseconds > 1500, "{:?}", ended.progress);
    let tag = "palladion-b2-1";
    member.write("users", "2", 1_200_000);
    member.take_snapshot(tag);
    let mut slow = member.upload("b2", tag, &member.describe());
    slow["bytesPerSecond"] = json!(1000);
    let begun = Instant::now();
    let mut running = Running::new();
    running.tell(&slow);
    std::thread::sleep(Duration::from_millis(500));
    running.tell(&json!({"bytesPerSecond": null}));
    running.end().done();
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn it_ends_with_who_waits_for_it_and_stands_back_behind_the_database() {
    let child = env!("CARGO_BIN_EXE_palladion-agent-transfer");
    // In the background a shell gives no input of its own.
    let script = "\"$0\" <&3 & echo $!; wait";
    let (reader, writer) = std::io::pipe().unwrap();
    let mut parent = Command::new("bash")
        .args(["-c", &format!("exec 3<&0; {script}"), child])
        .stdin(Stdio::from(reader))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(parent.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let stat = format!("/proc/{}/stat", line.trim());
    let field = |at: usize| -> Option<String> {
        let text = std::fs::read_to_string(&stat).ok()?;
        let (_, rest) = text.rsplit_once(") ")?;
        rest.split(' ').nth(at).map(str::to_string)
    };
    let wait = |is_so: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !is_so() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        is_so()
    };
    // Behind `comm`: the state is first, the nice value the seventeenth.
    assert!(wait(&|| field(16).as_deref() == Some("10")), "{:?}", field(16));
    let about = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", line.trim()));
    // Where memory is short it goes first, and it takes no more than its share.
    assert!(wait(&|| about("oom_score_adj").is_ok_and(|score| score.trim() == "1000")));
    let limits = about("limits").unwrap();
    let of_data = limits.lines().find(|limit| limit.starts_with("Max data size")).unwrap();
    assert!(of_data.contains("536870912"), "{of_data}");
    // It waits for what it is told, which comes after it asked to end with its parent.
    assert!(wait(&|| field(0).as_deref() == Some("S")));
    std::thread::sleep(Duration::from_millis(200));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let is_gone = || field(0).is_none_or(|state| state == "Z" || state == "X");
    assert!(wait(&is_gone), "{:?}", field(0));
    drop(writer);
}
