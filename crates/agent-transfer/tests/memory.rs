//! What the child holds in memory: a few pieces, however long the files are.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "../../store/tests/support/mod.rs"]
mod objects;
mod support;

use objects::s3::{ID, S3, SECRET};
use palladion_agent_transfer::tell::Done;
use serde_json::json;
use support::{BACKUP, Member, repository, run};

const TAG: &str = "palladion-b1-1";
const MOST: u64 = 64 * 1024 * 1024;

#[test]
fn a_long_file_is_sent_sealed_in_64_mebibytes_of_memory() {
    let (s3, folder) = (S3::new(), tempfile::tempdir().unwrap());
    for (file, text) in [
        ("credentials/accessKeyId", ID.to_string()),
        ("credentials/secretAccessKey", SECRET.to_string()),
        ("keys/one", "ab".repeat(32)),
        ("keys/current", "one".to_string()),
    ] {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let store = json!({
        "at": "s3://bucket/demo", "endpoint": s3.endpoint(),
        "addressing": "Path", "transport": "Plain",
    });
    let base = json!({
        "repository": repository("Sealed"), "store": store,
        "credentials": folder.path().join("credentials"), "keys": folder.path().join("keys"),
    });
    let member = Member::new(folder.path(), 1, base);
    member.write("users", "1", 100_000_000);
    member.write("orders", "1", 500);
    member.take_snapshot(TAG);
    run(&member.prepare()).done();
    let ended = run(&member.upload(BACKUP, TAG, &member.describe()));
    let Done::Uploaded { peak_bytes, .. } = ended.done() else { panic!("{ended:?}") };
    println!("{} MiB for {:?}", peak_bytes / 1024 / 1024, ended.progress);
    assert!(ended.progress.sent_bytes > 100_000_000);
    assert!((1_000_000..=MOST).contains(&peak_bytes), "{peak_bytes} bytes");
}
