//! `palladion backup` on a store of objects, over HTTP, with credentials from files.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "../../backup/tests/support/mod.rs"]
mod ring;
#[path = "../../store/tests/support/mod.rs"]
mod support;

use palladion_backup::store::memory::Seeded;
use palladion_backup::vault::{Sealing, Vault};
use ring::{Files, back_up, host, repository};
use std::path::Path;
use std::process::Command;
use support::s3::{ID, S3, SECRET};

struct Typed {
    code: i32,
    text: String,
}

fn typed(s3: &S3, credentials: Option<&Path>, line: &str) -> Typed {
    let endpoint = s3.endpoint();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-palladion"));
    command.arg("backup").args(line.split(' '));
    command.args(["--endpoint", &endpoint, "--transport", "plain", "--addressing", "path"]);
    command.env("KUBECONFIG", "/nonexistent").env_remove("PALLADION_BACKUP_CREDENTIALS");
    // Never looked at: a credential is sent to the store only that it was given for.
    command.env("AWS_ACCESS_KEY_ID", ID).env("AWS_SECRET_ACCESS_KEY", SECRET);
    if let Some(credentials) = credentials {
        command.env("PALLADION_BACKUP_CREDENTIALS", credentials);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    Typed { code: output.status.code().unwrap(), text }
}

#[track_caller]
fn expect(typed: &Typed, code: i32, words: &[&str]) {
    assert_eq!(typed.code, code, "{}", typed.text);
    for word in words {
        assert!(typed.text.contains(word), "no `{word}` in:\n{}", typed.text);
    }
}

#[test]
fn from_the_list_to_the_fetched_files() {
    let s3 = S3::new();
    let folder = tempfile::tempdir().unwrap();
    let credentials = folder.path().join("credentials");
    std::fs::create_dir(&credentials).unwrap();
    std::fs::write(credentials.join("accessKeyId"), ID).unwrap();
    std::fs::write(credentials.join("secretAccessKey"), SECRET).unwrap();
    let place = "--store s3://bucket/rings/demo";
    let type_ = |line: &str| typed(&s3, Some(&credentials), &format!("{line} {place}"));
    expect(&type_("list"), 3, &["this is not a repository of backups"]);
    {
        let (store, random) = (s3.open("s3://bucket/rings/demo"), Seeded::new(1));
        let vault = Vault::create(&store, None, &random, repository(Sealing::Plain)).unwrap();
        back_up(&vault, "a", &[1]);
    }
    expect(&type_("list"), 0, &["BACKUP", "complete"]);
    expect(&type_("verify a --read"), 0, &["5 objects are there", "3 of them were read"]);
    let into = folder.path().join("into");
    expect(&type_(&format!("fetch a --into {}", into.display())), 0, &["3 files of backup a"]);
    let table = into.join(format!("{}/k1/t-5f3c2b1a0000400080000000000000aa", host(1)));
    let data = std::fs::read(table.join("nb-1-big-Data.db")).unwrap();
    assert_eq!(data, Files::small(1, &[1]).0["nb-1-big-Data.db"]);
}

#[test]
fn credentials_come_from_their_files_and_from_nowhere_else() {
    let s3 = S3::new();
    let without = typed(&s3, None, "list --store s3://bucket/demo");
    expect(&without, 2, &["needs credentials", "--credentials"]);
    let folder = tempfile::tempdir().unwrap();
    let empty = typed(&s3, Some(folder.path()), "list --store s3://bucket/demo");
    expect(&empty, 1, &["no file accessKeyId"]);
    std::fs::write(folder.path().join("accessKeyId"), ID).unwrap();
    std::fs::write(folder.path().join("secretAccessKey"), "wrong").unwrap();
    let wrong = typed(&s3, Some(folder.path()), "list --store s3://bucket/demo");
    assert_ne!(wrong.code, 0);
    assert!(!wrong.text.contains("wrong") && !wrong.text.contains(SECRET), "{}", wrong.text);
    assert_eq!(s3.faults.requests("GET"), 1, "the first two have asked nothing");
    let gone = typed(&s3, Some(folder.path()), "list --store gs://bucket/demo");
    expect(&gone, 2, &["--addressing does not apply to gs://bucket/demo"]);
}
