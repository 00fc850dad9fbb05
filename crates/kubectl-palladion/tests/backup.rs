//! `palladion backup` on a real directory, from the list to the last deletion.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "../../backup/tests/support/mod.rs"]
mod support;

use palladion_backup::store::Store;
use palladion_backup::store::memory::Seeded;
use palladion_backup::vault::{Sealing, Vault};
use palladion_store::directory::Directory;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};
use support::*;

struct Typed {
    code: i32,
    text: String,
}

/// A directory with a repository, and the keys if it is sealed.
struct Place {
    root: tempfile::TempDir,
    sealing: Sealing,
}

impl Place {
    fn new(sealing: Sealing) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("store")).unwrap();
        std::fs::create_dir(root.path().join("keys")).unwrap();
        std::fs::write(root.path().join("keys/one"), "ab".repeat(32)).unwrap();
        std::fs::write(root.path().join("keys/current"), "one\n").unwrap();
        let place = Self { root, sealing };
        let random = Seeded::new(0);
        let store = Directory::open(&place.store(), &random).unwrap();
        Vault::create(&store, place.keys(), &random, repository(sealing)).unwrap();
        place
    }

    fn store(&self) -> PathBuf {
        self.root.path().join("store")
    }

    fn path(&self, name: &str) -> String {
        self.root.path().join(name).display().to_string()
    }

    fn keys(&self) -> Option<palladion_backup::seal::Keys> {
        (self.sealing == Sealing::Sealed).then(|| keys("ab"))
    }

    fn back_up(&self, seed: u64, text: &str, sstables: &[u32]) {
        let random = Seeded::new(seed);
        let store = Directory::open(&self.store(), &random).unwrap();
        let vault = Vault::open(&store, self.keys(), &random).unwrap();
        back_up(&vault, text, sstables);
    }

    /// Every object is so many days older than it was.
    fn age(&self, days: u64) {
        let random = Seeded::new(0);
        let store = Directory::open(&self.store(), &random).unwrap();
        for meta in store.list("").unwrap() {
            let file = std::fs::File::options().write(true).open(self.store().join(&meta.name));
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(meta.modified as u64);
            file.unwrap().set_modified(time - Duration::from_secs(days * 86400)).unwrap();
        }
    }

    fn typed(&self, line: &str) -> Typed {
        let (store, keys) = (self.path("store"), self.path("keys"));
        let keys = (self.sealing == Sealing::Sealed).then(|| ["--keys".to_string(), keys]);
        let output: Output = Command::new(env!("CARGO_BIN_EXE_kubectl-palladion"))
            .arg("backup")
            .args(line.split(' '))
            .args(["--store".to_string(), store].into_iter().chain(keys.into_iter().flatten()))
            .env("KUBECONFIG", "/nonexistent")
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        Typed { code: output.status.code().unwrap(), text: String::from_utf8(text).unwrap() }
    }

    fn objects(&self) -> Vec<String> {
        let random = Seeded::new(0);
        let store = Directory::open(&self.store(), &random).unwrap();
        store.list("").unwrap().into_iter().map(|meta| meta.name).collect()
    }
}

#[track_caller]
fn expect(typed: &Typed, code: i32, words: &[&str]) {
    assert_eq!(typed.code, code, "{}", typed.text);
    for word in words {
        assert!(typed.text.contains(word), "no `{word}` in:\n{}", typed.text);
    }
}

#[test]
fn from_the_list_to_the_last_deletion() {
    for sealing in [Sealing::Plain, Sealing::Sealed] {
        let place = Place::new(sealing);
        expect(&place.typed("list"), 0, &["no backups found"]);
        place.back_up(1, "a", &[1]);
        place.back_up(2, "b", &[2]);
        expect(&place.typed("list"), 0, &["BACKUP", "DATA", "STORED", "complete", "a ", "b "]);
        let both = ["data       6 B", "manifest   ", "stored     "];
        expect(&place.typed("show a"), 0, &both);
        let stored = if sealing == Sealing::Plain { "stored     6 B" } else { "stored     150 B" };
        expect(&place.typed("show a"), 0, &[stored]);
        expect(&place.typed("show x"), 3, &["there is no backup `x`"]);
        expect(&place.typed("verify a --read"), 0, &["5 objects are there", "3 of them were read"]);

        let into = place.path("into");
        expect(&place.typed(&format!("fetch a --into {into}")), 0, &["3 files of backup a"]);
        let table = format!("{into}/{}/k1/t-5f3c2b1a0000400080000000000000aa", host(1));
        let data = std::fs::read(Path::new(&table).join("nb-1-big-Data.db")).unwrap();
        assert_eq!(data, Files::small(1, &[1]).0["nb-1-big-Data.db"]);
        expect(&place.typed(&format!("fetch a --into {into}")), 0, &["3 were there already"]);
        expect(&place.typed(&format!("fetch b --into {into}")), 1, &["another backup (a)"]);

        place.age(3);
        expect(
            &place.typed("expire a b"),
            5,
            &["0 complete backups would be left, and 1 must stay"],
        );
        let before = place.objects();
        expect(&place.typed("expire a --dry-run"), 0, &["entry 1 condemns 1 backups", "dry run"]);
        expect(&place.typed("expire a"), 2, &["add --yes"]);
        assert_eq!(place.objects(), before);
        expect(&place.typed("expire a --yes"), 0, &["entry 1 written", "backups that stay: b"]);
        expect(&place.typed("list"), 0, &["condemned by entry 1"]);
        expect(&place.typed("show a"), 1, &["condemned by entry 1"]);
        let again = format!("fetch a --into {}", place.path("again"));
        expect(&place.typed(&again), 5, &["backup a is condemned by entry 1"]);
        expect(&place.typed("sweep --yes"), 0, &["can be swept in 24 h", "nothing to delete"]);

        place.age(1);
        let before = place.objects();
        expect(
            &place.typed("sweep --dry-run --names"),
            0,
            &["  backups/a/outcome.json", "dry run"],
        );
        assert_eq!(place.objects(), before);
        expect(&place.typed("sweep --yes"), 0, &["6 objects of 1 entries deleted"]);
        assert!(!place.objects().iter().any(|name| name.starts_with("backups/a/")));
        expect(&place.typed("verify b --read"), 0, &["backup b is complete"]);
        expect(&place.typed("sweep --yes"), 0, &["nothing to delete"]);
    }
}

#[test]
fn what_is_damaged_is_named_and_the_exit_code_says_so() {
    let place = Place::new(Sealing::Plain);
    place.back_up(1, "a", &[1]);
    let object = place.objects().into_iter().find(|name| name.contains("/pack~")).unwrap();
    let path = place.store().join(&object);
    std::fs::write(&path, "x y").unwrap();
    expect(&place.typed("verify a"), 0, &["1 of them were read"]);
    expect(&place.typed("show a"), 0, &["state      complete"]);
    let found = place.typed("verify a --read");
    expect(&found, 1, &[&object, "k1.t", "1 of 5 objects", "noted in the repository (objects: 1)"]);
    // From now on everybody knows it, without reading it.
    expect(&place.typed("list"), 0, &["damaged now (objects: 1)", &object]);
    expect(&place.typed("show a"), 1, &["damaged now (objects: 1)"]);
    let known = place.typed("verify a");
    expect(&known, 1, &["it was found damaged before"]);
    assert!(!known.text.contains("noted in the repository"), "once: {}", known.text);
    let fetch = format!("fetch a --into {}", place.path("into"));
    expect(&place.typed(&fetch), 1, &["nb-1-big-Data.db", "1 files do not match"]);
    std::fs::write(place.store().join("backups/a/outcome.json"), "{").unwrap();
    expect(&place.typed("list"), 0, &["unknown: it cannot be read", "note: "]);
}

#[test]
fn a_sealed_repository_needs_its_keys_and_one_object_is_unsealed() {
    let mut place = Place::new(Sealing::Sealed);
    place.back_up(1, "a", &[1]);
    let file = place.path("outcome.json");
    let unseal = format!("unseal backups/a/outcome.json --to {file}");
    expect(&place.typed(&unseal), 0, &["written to"]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("\"phase\":\"Complete\""));
    expect(&place.typed(&unseal), 1, &["File exists"]);
    let before = place.objects();
    place.sealing = Sealing::Plain;
    for line in ["list", "expire --yes", "sweep --yes", "verify a"] {
        expect(&place.typed(line), 2, &["the repository is sealed", "--keys"]);
    }
    assert_eq!(place.objects(), before);
    let empty = tempfile::tempdir().unwrap();
    place.root = empty;
    std::fs::create_dir(place.store()).unwrap();
    expect(&place.typed("list"), 3, &["its volume is not mounted"]);
}
