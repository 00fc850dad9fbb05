//! A backup that goes on where a try before it has ended, and what it takes over
//! from earlier backups.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::catalog::{Catalog, State};
use palladion_backup::earlier::earlier;
use palladion_backup::finish::{fail, write_schema};
use palladion_backup::manifest::member::Piece;
use palladion_backup::pieces::{NoNotes, Notes};
use palladion_backup::prepare::prepare;
use palladion_backup::seal::Keys;
use palladion_backup::store::memory::{Memory, Seeded};
use palladion_backup::store::{Created, Failure, Meta, Store, Undeleted};
use palladion_backup::take::{self, Listed, Order, Taking};
use palladion_backup::vault::{Repository, Sealing, Vault};
use palladion_backup::words::trouble::Failed;
use palladion_backup::{DAY, Trouble, names};
use std::cell::RefCell;
use std::collections::BTreeMap;
use support::*;

/// A journal in memory; it ends a try after so many pieces.
struct Journal {
    noted: RefCell<BTreeMap<(String, u64), Piece>>,
    most: usize,
}

impl Notes for Journal {
    fn sent(&self, file: &Listed, at: u64) -> Option<Piece> {
        self.noted.borrow().get(&(file.name(), at)).cloned()
    }

    fn note(&self, file: &Listed, at: u64, piece: &Piece) -> Result<(), String> {
        let mut noted = self.noted.borrow_mut();
        noted.insert((file.name(), at), piece.clone());
        if noted.len() == self.most { Err("killed".into()) } else { Ok(()) }
    }
}

fn order(vault: &Vault<'_>, text: &str) -> Order {
    let schema = write_schema(vault, b"CREATE TABLE k1.t").unwrap();
    Order { member: member(&id(text), 1, schema), checkpoint: 1, piece_bytes: 300_000 }
}

#[test]
fn pieces_that_are_noted_are_not_sent_again() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    let (order, files) = (order(&vault, "a"), Files::of(1, &[1]));
    let taking = Taking::new(&vault, &order, &[]).unwrap();
    let mut journal = Journal { noted: RefCell::default(), most: 2 };
    let killed = taking.sstable(files.listed(), &files, &journal);
    assert!(matches!(killed, Err(Trouble::Unnoted { .. })), "{killed:?}");
    let before = memory.names();
    journal.most = usize::MAX;
    let taken = taking.sstable(files.listed(), &files, &journal).unwrap();
    let new = memory.names().difference(&before).count();
    assert_eq!(new, 3, "two of four pieces, and the pack");
    assert_eq!(taken.sent.len(), 4);
    let whole = taking.sstable(files.listed(), &files, &NoNotes).unwrap();
    let sums = |files: &[palladion_backup::manifest::member::File]| {
        files.iter().map(|file| (file.component.clone(), file.sha256.clone())).collect::<Vec<_>>()
    };
    assert_eq!(sums(&taken.files()), sums(&whole.files()));
}

#[test]
fn what_a_failed_backup_has_sent_is_taken_over_beside_the_last_complete_one() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1, 2]);
    memory.advance(DAY);
    let other = order(&vault, "b");
    let files = Files::small(1, &[3]);
    take::take(&vault, &other, (&files.listed(), &files), None).unwrap();
    let failed = fail(&vault, &id("b"), &Failed::Aborted).unwrap();
    assert!(matches!(failed, State::Failed(_)));
    memory.advance(DAY);
    let third = order(&vault, "c");
    let catalog = Catalog::read(&vault).unwrap();
    let before = earlier(&vault, &catalog, &host(1)).unwrap();
    assert_eq!(before.iter().map(|m| m.member.backup.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    let taking = Taking::new(&vault, &third, &before).unwrap();
    let sent = |number| {
        let files = Files::small(1, &[number]);
        taking.sstable(files.listed(), &files, &NoNotes).unwrap().sent.len()
    };
    assert_eq!([1, 2, 3, 4].map(sent), [0, 0, 0, 1], "only the fourth is new");
    // What the store has lost is sent again, whichever manifest names it.
    for name in memory.names().iter().filter(|name| name.starts_with(&host(1).files())) {
        memory.delete(name).unwrap();
    }
    let taking = Taking::new(&vault, &third, &before).unwrap();
    let files = Files::small(1, &[1]);
    assert_eq!(taking.sstable(files.listed(), &files, &NoNotes).unwrap().sent.len(), 1);
    assert_eq!(earlier(&vault, &catalog, &host(3)).unwrap(), []);
}

#[test]
fn an_outcome_that_is_there_before_an_abort_stays() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1]);
    let outcome = memory.bytes(&id("a").outcome());
    let ended = fail(&vault, &id("a"), &Failed::Aborted).unwrap();
    assert!(matches!(ended, State::Complete { .. }), "{ended:?}");
    assert_eq!(memory.bytes(&id("a").outcome()), outcome);
}

/// A store that overwrites what it should only create.
struct Overwriting<'a>(&'a Memory);

impl Store for Overwriting<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        self.0.delete(name).map_err(|_| Failure("it is not gone".into()))?;
        self.0.put_if_absent(name, bytes)
    }
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.0.get(name)
    }
    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        self.0.head(name)
    }
    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        self.0.list(prefix)
    }
    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        self.0.delete(name)
    }
    fn now(&self) -> Result<i64, Failure> {
        self.0.now()
    }
}

#[test]
fn a_store_that_overwrites_is_refused_and_takes_no_ring_its_marker() {
    let (memory, random) = (memory(), Seeded::new(1));
    let marker = memory.bytes(names::REPOSITORY);
    let store = Overwriting(&memory);
    let foreign = Repository { id: "other".into(), ..repository(Sealing::Plain) };
    let created = Vault::create(&store, None, &random, foreign).map(drop);
    assert!(matches!(created, Err(Trouble::Foreign { .. })), "{created:?}");
    let vault = Vault::create(&store, None, &random, repository(Sealing::Plain)).unwrap();
    assert_eq!(prepare(&vault).map(drop), Err(Trouble::Unsuited));
    assert_eq!(memory.bytes(names::REPOSITORY), marker);
    let vault = open(&memory, &random);
    assert!(prepare(&vault).is_ok());
}

#[test]
fn a_key_that_a_kept_backup_needs_is_missed_before_the_next_begins() {
    let (memory, random) = (Memory::at(START), Seeded::new(1));
    let vault =
        Vault::create(&memory, Some(keys("ab")), &random, repository(Sealing::Sealed)).unwrap();
    back_up(&vault, "a", &[1]);
    let other = Vault::open(&memory, Some(keys("cd")), &random).unwrap();
    let missed = prepare(&other).map(drop);
    let fingerprint = keys("ab").current().to_string();
    assert_eq!(missed, Err(Trouble::KeyOfBackup { id: "a".into(), fingerprint }));
    let parse = |byte: &str| palladion_backup::seal::Key::parse(&byte.repeat(32)).unwrap();
    let both = Keys::new(parse("cd"), [parse("ab")]);
    assert!(prepare(&Vault::open(&memory, Some(both), &random).unwrap()).is_ok());
}
