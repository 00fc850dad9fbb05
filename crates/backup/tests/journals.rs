//! A journal is read as far as each entry vouches for the one before it.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::archive::entry::{self, Brings, Entry, Part};
use palladion_backup::archive::{bytes_name, entry_name, read::read};
use palladion_backup::hash::Hash;
use palladion_backup::manifest::member::Schema;
use palladion_backup::manifest::ring::Window;
use palladion_backup::store::Store;
use palladion_backup::store::memory::{Memory, Seeded};
use palladion_backup::vault::Vault;
use support::{START, host, memory, open};

/// Entries that are so far apart.
const STEP: i64 = 60;

fn bytes(number: u64, from: u64, to: u64) -> Brings {
    Brings::Bytes(Part {
        segment: 1,
        file: "CommitLog-7-1.log".into(),
        file_bytes: 1000,
        run: "a".into(),
        from,
        to,
        object: bytes_name(&host(1), number, "00"),
        sha256: Hash::of(b""),
        stored_bytes: 0,
    })
}

/// A window of a hundred entries: the segment that the last ones go on with begins in the fifth.
fn written() -> Memory {
    let store = memory();
    let random = Seeded::new(1);
    let vault = open(&store, &random);
    let mut previous = None;
    for number in 1..=100 {
        let brings = match number {
            1 => Brings::Opening,
            5 => bytes(5, 0, 5),
            80 => bytes(80, 5, 80),
            90 => bytes(90, 80, 90),
            _ => Brings::Rest,
        };
        let entry = Entry {
            repository: "repository-1".into(),
            host: host(1),
            number,
            previous,
            until: START + STEP * i64::try_from(number).unwrap(),
            since: START + STEP * (i64::try_from(number).unwrap() - 1),
            found: START + STEP * i64::try_from(number).unwrap() + 1,
            loss: STEP,
            schema: Schema { object: "s".into(), sha256: Hash::of(b"s"), bytes: 1 },
            tokens_hash: "t".into(),
            ring: "ring".into(),
            version: "5.0.5".into(),
            brings,
        };
        previous = Some(entry::write(&vault, &entry).unwrap().1);
    }
    store
}

fn found(vault: &Vault<'_>, from: u64, to: u64) -> Vec<u64> {
    let at = |number: u64| START + STEP * i64::try_from(number).unwrap();
    let window = Window { from: at(from), to: at(from) + 5 };
    let all = read(vault, &host(1), (window, at(to))).unwrap();
    all.iter().map(|entry| entry.number).collect()
}

#[test]
fn what_a_restore_needs_is_read_and_no_more() {
    let (store, random) = (written(), Seeded::new(2));
    let vault = open(&store, &random);
    // Ten entries before, and the first one behind; the segment of the 80th begins in the fifth.
    assert_eq!(found(&vault, 70, 85), (5..=85).collect::<Vec<_>>());
    assert_eq!(found(&vault, 4, 6), (1..=6).collect::<Vec<_>>());
    assert_eq!(found(&vault, 95, 99), (5..=99).collect::<Vec<_>>(), "the 90th goes on with it");
    assert!(read(&vault, &host(2), (Window { from: 0, to: 1 }, 2)).unwrap().is_empty());
}

#[test]
fn it_ends_where_an_entry_is_lost_or_is_another_one() {
    let random = Seeded::new(3);
    for what in 0..3 {
        let store = written();
        let name = entry_name(&host(1), 82);
        let other = store.get(&entry_name(&host(1), 81)).unwrap().unwrap();
        store.delete(&name).unwrap();
        match what {
            0 => {}
            1 => drop(store.put_if_absent(&name, b"torn").unwrap()),
            _ => drop(store.put_if_absent(&name, &other).unwrap()),
        }
        let vault = open(&store, &random);
        assert_eq!(found(&vault, 70, 85), (5..=81).collect::<Vec<_>>(), "{what}");
    }
}
