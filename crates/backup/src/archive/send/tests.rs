//! Looks over a repository in memory.

use super::*;
use crate::archive::cursor::lost;
use crate::archive::entry::{Entry, read};
use crate::archive::{entry_name, journal};
use crate::manifest::member::Schema;
use crate::names::HostId;
use crate::repository::{FORMAT, Repository, Sealing};
use crate::store::Store;
use crate::store::memory::{Memory, Seeded};
use std::cell::RefCell;

const HOST: &str = "5f3c2b1a-0000-4000-8000-00000000000a";

struct Disk(RefCell<Vec<Cursor>>);

impl Segments for Disk {
    fn read(&self, segment: i64, from: u64, to: u64) -> Result<Read, String> {
        let length = usize::try_from(to - from).map_err(|error| error.to_string())?;
        let (file, run) = (format!("CommitLog-7-{segment}.log"), "r".to_string());
        Ok(Read { bytes: vec![7; length], file, file_bytes: 100, run })
    }

    fn note(&self, cursor: &Cursor, _sent: Sent) -> Result<(), String> {
        self.0.borrow_mut().push(cursor.clone());
        Ok(())
    }
}

fn of(until: i64) -> Of {
    let schema = Schema { object: "schema/x".into(), sha256: Hash::of(b"x"), bytes: 1 };
    Of {
        repository: "repository-1".into(),
        host: HostId::parse(HOST).unwrap(),
        until,
        since: until - 20,
        found: until + 1,
        loss: 60,
        schema,
        tokens_hash: "t".into(),
        ring: "ring".into(),
        version: "5.0.5".into(),
    }
}

fn repository() -> Repository {
    let (ring, datacenter) = ("r".to_string(), "d".to_string());
    let id = "repository-1".to_string();
    Repository { format: FORMAT, id, ring, datacenter, sealing: Sealing::Plain }
}

fn part(segment: i64, from: u64, to: u64) -> Step {
    Step::Part { segment, from, to }
}

fn entries(vault: &Vault<'_>) -> Vec<Entry> {
    let host = HostId::parse(HOST).unwrap();
    (1..).map_while(|number| read(vault, &host, number).unwrap()).map(|(entry, _)| entry).collect()
}

#[test]
fn entries_follow_each_other_and_the_last_alone_says_until_when() {
    let (memory, random) = (Memory::at(1_800_000_000), Seeded::new(1));
    let vault = Vault::create(&memory, None, &random, repository()).unwrap();
    let (disk, mut cursor) = (Disk(RefCell::default()), Cursor::default());
    let steps = [Step::Opening { segment: 10 }, part(10, 0, 50), part(10, 50, 60)];
    let sent = send(&vault, &mut cursor, (&of(100), &steps, true), &disk).unwrap();
    assert_eq!(sent, Sent::All);
    let later = [part(10, 60, 70), part(11, 0, 20)];
    send(&vault, &mut cursor, (&of(130), &later, true), &disk).unwrap();
    send(&vault, &mut cursor, (&of(150), &[part(11, 20, 30)], false), &disk).unwrap();
    let all = entries(&vault);
    assert_eq!(all.iter().map(|e| e.until).collect::<Vec<_>>(), [100, 100, 100, 100, 130, 130]);
    let mut before: Option<Part> = None;
    for (number, entry) in all.iter().enumerate() {
        let host = &entry.host;
        let previous = read(&vault, host, number as u64).unwrap().map(|(_, hash)| hash);
        assert_eq!(entry.previous, previous);
        if let Brings::Bytes(part) = &entry.brings {
            assert!(before.is_none_or(|before| part.follows(&before)), "{part:?}");
            let bytes = vault.read(&part.object).unwrap().unwrap();
            assert_eq!(Hash::of(&bytes), part.sha256);
            before = Some(part.clone());
        }
    }
    assert_eq!(disk.0.borrow().last(), Some(&cursor));
    assert_eq!(disk.0.borrow().len(), 6, "each is noted before the next");
}

#[test]
fn since_when_a_schema_has_held_is_known_across_windows() {
    let (memory, random) = (Memory::at(1_800_000_000), Seeded::new(1));
    let vault = Vault::create(&memory, None, &random, repository()).unwrap();
    let (disk, mut cursor) = (Disk(RefCell::default()), Cursor::default());
    let mut since = |of: Of, steps: &[Step]| {
        send(&vault, &mut cursor, (&of, steps, true), &disk).unwrap();
        cursor.schema_since
    };
    let opening = Step::Opening { segment: 10 };
    assert_eq!(since(of(100), std::slice::from_ref(&opening)), 101);
    assert_eq!(since(of(120), &[part(10, 0, 50), Step::Gap { why: "g".into() }]), 101);
    assert_eq!(since(of(140), &[opening]), 101);
    let mut altered = of(160);
    altered.schema.sha256 = Hash::of(b"y");
    assert_eq!(since(altered, &[Step::Rest]), 161);
}

#[test]
fn an_entry_of_an_earlier_try_counts_and_is_gone_on_behind() {
    let (memory, random) = (Memory::at(1_800_000_000), Seeded::new(1));
    let vault = Vault::create(&memory, None, &random, repository()).unwrap();
    let (disk, mut cursor) = (Disk(RefCell::default()), Cursor::default());
    send(&vault, &mut cursor, (&of(100), &[Step::Opening { segment: 10 }], true), &disk).unwrap();
    let before_crash = cursor.clone();
    send(&vault, &mut cursor, (&of(120), &[part(10, 0, 50)], true), &disk).unwrap();
    let mut again = before_crash.clone();
    let steps = [part(10, 0, 80), part(11, 0, 10)];
    let sent = send(&vault, &mut again, (&of(140), &steps, true), &disk).unwrap();
    // Had its look found all? Nobody knows.
    assert_eq!((cursor.all, again.all), (120, 100));
    assert_eq!((sent, &again), (Sent::Adopted, &Cursor { all: 100, ..cursor }));
    send(&vault, &mut again, (&of(140), &[part(10, 50, 80)], true), &disk).unwrap();
    assert_eq!(entries(&vault).len(), 3);
    // Of another journal: the note is of a volume that was set back, or of another ring's.
    let mut other = Cursor { hash: Some(Hash::of(b"other")), ..before_crash };
    assert!(send(&vault, &mut other, (&of(150), &[Step::Rest], true), &disk).is_err());
}

#[test]
fn a_journal_without_its_note_is_found_again_and_its_window_ends() {
    let (memory, random) = (Memory::at(1_800_000_000), Seeded::new(1));
    let vault = Vault::create(&memory, None, &random, repository()).unwrap();
    let host = HostId::parse(HOST).unwrap();
    assert_eq!(lost(&vault, &host).unwrap(), Cursor::default());
    let (disk, mut cursor) = (Disk(RefCell::default()), Cursor::default());
    let steps = [Step::Opening { segment: 10 }, part(10, 0, 50)];
    send(&vault, &mut cursor, (&of(100), &steps, true), &disk).unwrap();
    let mut found = lost(&vault, &host).unwrap();
    assert_eq!((found.number, &found.hash, found.since), (2, &cursor.hash, Some(100)));
    assert_eq!(found.at, None, "how far it is nobody knows");
    let gap = [Step::Gap { why: "lost".into() }];
    send(&vault, &mut found, (&of(200), &gap, false), &disk).unwrap();
    assert_eq!((found.since, found.gap.as_ref().map(|gap| gap.0)), (None, Some(100)));
    let again = lost(&vault, &host).unwrap();
    assert_eq!((again.number, again.since), (3, None));
    assert_eq!(memory.list(&journal(&host)).unwrap().len(), 4);
    assert_eq!(entry_name(&host, 3), memory.list(&journal(&host)).unwrap()[3].name);
}
