//! A backup that goes on where a try before it has ended, and what it takes over
//! from earlier backups.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::catalog::{Catalog, State};
use palladion_backup::earlier::earlier;
use palladion_backup::finish::{fail, write_schema};
use palladion_backup::manifest::member::Piece;
use palladion_backup::manifest::ring::Window;
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
    let schema = write_schema(vault, SCHEMA.as_bytes()).unwrap();
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

/// Keys of which the first one seals.
fn rotated(bytes: &[&str]) -> Keys {
    let mut all = bytes.iter().map(|b| palladion_backup::seal::Key::parse(&b.repeat(32)).unwrap());
    let current = all.next().unwrap();
    Keys::new(current, all)
}

fn sealed<'a>(memory: &'a Memory, random: &'a Seeded, bytes: &[&str]) -> Vault<'a> {
    Vault::open(memory, Some(rotated(bytes)), random).unwrap()
}

/// A backup of both members that takes over what the last one of each has sent.
fn next(vault: &Vault<'_>, text: &str) -> Result<(), Trouble> {
    let catalog = Catalog::read(vault)?;
    let mut sending = Sending::new(vault, text)?;
    let from = vault.now()?;
    sending.window = Window { from, to: from + 60 };
    for number in [1, 2] {
        let before = earlier(vault, &catalog, &host(number))?;
        let files = Files::small(number, &[1, 2]);
        sending.send(vault, number, &files, before.first())?;
    }
    sending.finish(vault).map(drop)
}

#[test]
fn a_key_that_objects_of_an_earlier_backup_need_is_missed_before_the_next_begins() {
    let (memory, random) = (Memory::at(START), Seeded::new(1));
    Vault::create(&memory, Some(keys("ab")), &random, repository(Sealing::Sealed)).unwrap();
    next(&sealed(&memory, &random, &["ab"]), "a").unwrap();
    memory.advance(3 * DAY);
    // Another key seals from now on: what was sent stays as it is, and is taken over.
    let both = sealed(&memory, &random, &["cd", "ab"]);
    let objects = memory.list(&host(1).files()).unwrap();
    next(&both, "b").unwrap();
    assert_eq!(memory.list(&host(1).files()).unwrap(), objects, "nothing was sent again");
    memory.advance(3 * DAY);
    expire(&both, &["a"], 1).unwrap();
    memory.advance(3 * DAY);
    let plan = palladion_backup::sweep::plan(&both).unwrap();
    palladion_backup::sweep::carry_out(&both, &plan).unwrap();
    assert!(prepare(&both).is_ok());
    // Of the backups that are left each was finished with the new one.
    let new = sealed(&memory, &random, &["cd"]);
    let fingerprint = keys("ab").current().to_string();
    let missed = prepare(&new).map(drop);
    assert_eq!(missed, Err(Trouble::KeyOfBackup { id: "b".into(), fingerprint }));
}

#[test]
fn what_a_missing_key_has_sealed_is_sent_again_with_the_present_one() {
    let (memory, random) = (Memory::at(START), Seeded::new(1));
    Vault::create(&memory, Some(keys("ab")), &random, repository(Sealing::Sealed)).unwrap();
    let old = sealed(&memory, &random, &["ab"]);
    next(&old, "a").unwrap();
    // Finished with the new key, and made of what the old one has sealed.
    memory.advance(DAY);
    next(&sealed(&memory, &random, &["cd", "ab"]), "b").unwrap();
    memory.advance(DAY);
    let new = sealed(&memory, &random, &["cd"]);
    next(&new, "c").unwrap();
    let read = palladion_backup::verify::Depth::Read;
    let report = palladion_backup::verify::verify(&new, &id("c"), read).unwrap();
    assert_eq!(report.damaged, [], "it can be restored without the old key");
    // Earlier versions did not note keys: of their objects it is not known who opens them.
    let catalog = Catalog::read(&new).unwrap();
    let mut before = earlier(&new, &catalog, &host(1)).unwrap();
    let order = order(&new, "d");
    let sent = |before: &[palladion_backup::manifest::member::MemberManifest]| {
        let files = Files::small(1, &[1, 2]);
        let taking = Taking::new(&new, &order, before).unwrap();
        let sstables = [0, 1].map(|at| vec![files.listed()[at].clone()]);
        sstables.map(|one| taking.sstable(one, &files, &NoNotes).unwrap().sent.len())
    };
    assert_eq!(sent(&before), [0, 0]);
    before[0].files[0].pieces[0].key = None;
    assert_eq!(sent(&before), [1, 0]);
}

#[test]
fn a_piece_that_is_noted_is_sent_again_once_its_key_is_missing() {
    let (memory, random) = (Memory::at(START), Seeded::new(1));
    Vault::create(&memory, Some(keys("ab")), &random, repository(Sealing::Sealed)).unwrap();
    let old = sealed(&memory, &random, &["ab"]);
    let (order, files) = (order(&old, "a"), Files::of(1, &[1]));
    let journal = Journal { noted: RefCell::default(), most: usize::MAX };
    let first = Taking::new(&old, &order, &[]).unwrap();
    first.sstable(files.listed(), &files, &journal).unwrap();
    let again = |bytes: &[&str]| {
        let vault = sealed(&memory, &random, bytes);
        let before = memory.names();
        let taking = Taking::new(&vault, &order, &[]).unwrap();
        taking.sstable(files.listed(), &files, &journal).unwrap();
        memory.names().difference(&before).count()
    };
    assert_eq!(again(&["cd", "ab"]), 1, "the pack, which is never noted");
    assert_eq!(again(&["cd"]), 5);
}
