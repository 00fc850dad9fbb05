//! A commit log on a disk, archived into a store in memory look by look.

use super::note::{self, Note};
use super::*;
use crate::orders::archive::{Archive, SchemaSaid};
use crate::tell::Done;
use palladion_backup::archive::entry::{Brings, Entry, Part, read};
use palladion_backup::archive::scan::testing::Segment;
use palladion_backup::hash::Hash;
use palladion_backup::manifest::member::Schema;
use palladion_backup::repository::{FORMAT, Repository, Sealing};
use palladion_backup::store::memory::{Memory, Seeded};
use palladion_backup::vault::Vault;
use std::collections::BTreeMap;
use std::fs;

const HOST: &str = "5f3c2b1a-0000-4000-8000-00000000000a";
const LENGTH: usize = 4096;

struct Member {
    folder: tempfile::TempDir,
    memory: Memory,
    random: Seeded,
    places: Places,
    segments: BTreeMap<i64, Segment>,
    /// What the server says.
    truncated: BTreeMap<String, String>,
}

impl Member {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::of(folder.path(), &folder.path().join(".palladion"));
        fs::create_dir_all(&places.commitlog).unwrap();
        let (memory, random) = (Memory::at(1_800_000_000), Seeded::new(1));
        let (segments, truncated) = (BTreeMap::new(), BTreeMap::new());
        Self { folder, memory, random, places, segments, truncated }
    }

    fn vault(&self) -> Vault<'_> {
        let (ring, datacenter) = ("r".to_string(), "d".to_string());
        let id = "repository-1".to_string();
        let repository =
            Repository { format: FORMAT, id, ring, datacenter, sealing: Sealing::Plain };
        Vault::create(&self.memory, None, &self.random, repository).unwrap()
    }

    fn path(&self, number: i64) -> PathBuf {
        self.places.commitlog.join(format!("CommitLog-7-{number}.log"))
    }

    /// The server makes a segment.
    fn make(&mut self, number: i64) {
        self.segments.insert(number, Segment::new(number, LENGTH, "{}"));
        self.write(number, 0);
    }

    /// It writes a section.
    fn write(&mut self, number: i64, bytes: usize) {
        let segment = self.segments.get_mut(&number).unwrap();
        if bytes > 0 {
            segment.section(bytes);
        }
        let path = self.places.commitlog.join(format!("CommitLog-7-{number}.log"));
        // In place, as it is linked perhaps.
        let mut file =
            fs::OpenOptions::new().create(true).write(true).truncate(false).open(path).unwrap();
        std::io::Write::write_all(&mut file, &segment.bytes).unwrap();
    }

    /// It has filled one, and needs it no more.
    fn fill(&self, number: i64) {
        let path = self.path(number);
        link::link(&path, &self.places.links.join(path.file_name().unwrap())).unwrap();
    }

    fn delete(&self, number: i64) {
        fs::remove_file(self.path(number)).unwrap();
    }

    fn plan(&self, ends: Option<Ends>, now: i64) -> (look::Looked, Next) {
        let mut looked = look::look(&self.places, "repository-1", HOST).unwrap();
        looked.volume.truncated = look::truncated_in(&self.truncated, &[].into()).unwrap();
        let found =
            next(&looked.volume, (&looked.cursor, ends), (&looked.course, &looked.scanned), now);
        (looked, found)
    }

    fn carry_out(&self, looked: &look::Looked, found: Next, until: i64) -> Done {
        let schema = Schema { object: "schema/x".into(), sha256: Hash::of(b"x"), bytes: 1 };
        let order = Archive {
            repository: "repository-1".into(),
            host: HostId::parse(HOST).unwrap(),
            places: self.places.clone(),
            note: looked.note.clone(),
            steps: found.steps,
            is_all: found.is_all,
            sent: found.sent,
            until,
            since: looked.cursor.all,
            found: until + 1,
            loss: 60,
            schema: SchemaSaid::Known(schema),
            schema_version: "s1".into(),
            tokens_hash: "t".into(),
            ring: "ring".into(),
            version: "5.0.5".into(),
            truncated: self.truncated.clone(),
            broken: looked.volume.broken.clone(),
            window: 0,
        };
        work::archive(&self.vault(), &order).unwrap()
    }

    fn look(&self, ends: Option<Ends>, now: i64) {
        let (looked, found) = self.plan(ends, now);
        self.carry_out(&looked, found, now);
    }

    fn entries(&self) -> Vec<Entry> {
        let (vault, host) = (self.vault(), HostId::parse(HOST).unwrap());
        let read = |number| read(&vault, &host, number).unwrap();
        (1..).map_while(read).map(|(entry, _)| entry).collect()
    }

    fn words(&self) -> String {
        let word = |entry: Entry| match entry.brings {
            Brings::Opening => "opening".to_string(),
            Brings::Bytes(Part { segment, from, to, .. }) => format!("{segment}:{from}-{to}"),
            Brings::Rest => "rest".to_string(),
            Brings::Gap { why } => format!("gap ({why})"),
        };
        self.entries().into_iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// A segment put together of what is in the store.
    fn together(&self, number: i64) -> Vec<u8> {
        let vault = self.vault();
        let mut bytes = Vec::new();
        for entry in self.entries() {
            if let Brings::Bytes(part) = entry.brings
                && part.segment == number
            {
                assert_eq!(part.from, bytes.len() as u64);
                let read = vault.read(&part.object).unwrap().unwrap();
                assert_eq!(Hash::of(&read), part.sha256);
                bytes.extend(read);
            }
        }
        bytes.resize(LENGTH, 0);
        bytes
    }

    fn note(&self) -> Note {
        note::read(&self.places, "repository-1", HOST).unwrap().unwrap()
    }

    fn links(&self) -> Vec<i64> {
        link::waiting(&self.places).unwrap().into_keys().collect()
    }
}

fn running() -> Member {
    let mut member = Member::new();
    note::begin(&member.places, "run-1").unwrap();
    note::limit(&member.places, None).unwrap();
    member.make(100);
    member.make(101);
    member.write(100, 50);
    member
}

#[test]
fn a_server_is_followed_from_segment_to_segment_and_nothing_is_sent_twice() {
    let mut member = running();
    member.look(None, 10);
    member.write(100, 30);
    member.look(None, 20);
    member.look(None, 30);
    assert_eq!(member.words(), "opening, 100:0-78, 100:78-116", "at rest nothing is written");
    member.write(100, 10);
    member.fill(100);
    member.make(102);
    member.write(101, 20);
    let expected = member.segments[&100].bytes.clone();
    member.look(None, 40);
    assert_eq!(member.words(), "opening, 100:0-78, 100:78-116, 100:116-134, 101:0-48");
    assert_eq!((member.together(100) == expected, member.links()), (true, vec![]));
    // What the server deletes then is missed by nobody.
    member.delete(100);
    member.write(101, 5);
    member.look(None, 50);
    assert!(member.words().ends_with("101:0-48, 101:48-61"));
    member.look(None, 350);
    member.look(None, 360);
    assert!(member.words().ends_with("101:48-61, rest"));
    assert_eq!(member.note().cursor.until, 350);
}

/// The server links a full segment beside all else, and takes writes in the next one meanwhile.
#[test]
fn while_a_full_segment_is_not_linked_no_entry_speaks_of_now() {
    let mut member = running();
    member.look(None, 10);
    member.write(100, 30);
    member.write(101, 20);
    member.look(None, 400);
    assert_eq!((member.note().cursor.until, member.words().matches("rest").count()), (10, 0));
    member.look(None, 800);
    assert_eq!((member.note().cursor.until, member.words().matches("rest").count()), (10, 0));
    member.fill(100);
    member.look(None, 801);
    assert!(member.words().ends_with("100:78-116, 101:0-48"), "{}", member.words());
    assert_eq!(member.note().cursor.until, 801);
}

#[test]
fn a_link_that_is_made_when_all_was_sent_goes_and_the_next_segment_follows() {
    let mut member = running();
    member.look(None, 10);
    member.fill(100);
    member.look(None, 20);
    assert_eq!((member.links(), member.note().ended), (vec![], true));
    member.delete(100);
    // At rest, and through it, it stays known that the one that is gone was sent.
    member.look(None, 320);
    assert!(member.words().ends_with("rest"));
    member.write(101, 9);
    member.look(None, 330);
    assert!(member.words().ends_with("rest, 101:0-37"), "{}", member.words());
}

#[test]
fn a_start_of_the_server_goes_on_with_its_left_over_segment() {
    let mut member = running();
    member.look(None, 10);
    member.write(100, 40);
    // Killed; the next start links what is left, replays it and deletes it.
    note::begin(&member.places, "run-2").unwrap();
    member.fill(100);
    member.fill(101);
    member.delete(100);
    member.delete(101);
    member.make(900);
    member.make(901);
    member.write(900, 7);
    member.look(None, 20);
    assert_eq!(member.words(), "opening, 100:0-78, 100:78-126, 900:0-35");
    assert!(member.links().is_empty());
    let runs = member.entries().into_iter().filter_map(|entry| match entry.brings {
        Brings::Bytes(part) => Some(part.run),
        Brings::Opening | Brings::Rest | Brings::Gap { .. } => None,
    });
    assert_eq!(runs.collect::<Vec<_>>(), ["run-1", "run-1", "run-2"]);
}

#[test]
fn what_was_dropped_or_never_linked_ends_the_window_and_another_opens() {
    let mut member = running();
    member.look(None, 10);
    // Without the archive: a segment is gone.
    member.write(100, 40);
    member.delete(100);
    member.make(102);
    member.write(101, 1);
    member.look(None, 20);
    member.look(None, 30);
    let missing = Ends::Missing { segment: 100 };
    assert_eq!(member.words(), format!("opening, 100:0-78, gap ({missing}), opening, 101:0-29"));
    let cursor = member.note().cursor;
    assert_eq!((cursor.since, cursor.gap.map(|gap| gap.0), cursor.gaps), (Some(30), Some(10), 1));
    // By a note of the agent, too, which counts once.
    note::breaks(&member.places, "off").unwrap();
    member.look(None, 60);
    member.look(None, 70);
    member.look(None, 80);
    let words = member.words();
    assert!(words.ends_with("opening, 101:0-29, gap (off), opening, 101:0-29"), "{words}");
}

/// As the server writes it: a segment, a place in it, and a time.
fn truncation(segment: i64) -> BTreeMap<String, String> {
    [("t".to_string(), format!("0x{segment:016x}{:08x}{:016x}", 70, 1_764_000_000_000_u64))].into()
}

/// A ring into which the journal is replayed knows of no truncation: rows would come back.
#[test]
fn no_window_begins_with_a_segment_that_holds_what_was_truncated() {
    let mut member = running();
    member.look(None, 10);
    member.truncated = truncation(100);
    member.look(Some(Ends::Truncated), 20);
    let ended = format!("opening, 100:0-78, gap ({})", Ends::Truncated);
    for now in [30, 400] {
        let (looked, found) = member.plan(None, now);
        assert_eq!((found.waits, found.steps.len()), (Some(100), 0));
        member.carry_out(&looked, found, now);
        member.write(100, 5);
    }
    assert_eq!(member.words(), ended);
    member.fill(100);
    member.write(101, 20);
    member.look(None, 410);
    assert_eq!(member.words(), format!("{ended}, opening, 101:0-48"));
    assert!(member.links().is_empty());
}

#[test]
fn the_first_window_begins_behind_every_truncation() {
    let mut member = running();
    member.truncated = truncation(100);
    member.look(None, 10);
    assert_eq!(member.words(), "");
    // A start of the member closes the segment.
    note::begin(&member.places, "run-2").unwrap();
    member.fill(100);
    member.fill(101);
    member.delete(100);
    member.delete(101);
    member.make(900);
    member.write(900, 7);
    member.look(None, 20);
    assert_eq!((member.words(), member.links()), ("opening, 900:0-35".into(), vec![]));
}

#[test]
fn where_a_truncation_stands_is_read_or_said_to_be_unknown() {
    let of = |all: &BTreeMap<String, String>| look::truncated_in(all, &["own".to_string()].into());
    assert_eq!(
        (of(&BTreeMap::new()), of(&truncation(1_764_000_000_123))),
        (Ok(0), Ok(1_764_000_000_123))
    );
    // A table without a place in the commit log.
    assert_eq!(of(&truncation(-1)), Ok(0));
    let own = [("own".to_string(), truncation(7)["t"].clone())].into();
    assert_eq!(of(&own), Ok(0));
    for other in ["", "0x01", "00000000000000070000004600000000000000000x"] {
        assert_eq!(of(&[("u".to_string(), other.to_string())].into()), Err("u".to_string()));
    }
}

#[test]
fn a_clock_that_is_set_back_ends_the_window_and_the_next_one_begins_now() {
    let mut member = running();
    member.look(None, 7_000);
    member.write(100, 30);
    // A correction is none.
    member.look(None, 6_950);
    assert_eq!(member.note().cursor.until, 7_000);
    member.write(100, 10);
    for now in [3_400, 3_401] {
        member.look(None, now);
    }
    let clock = Ends::Clock;
    let words = format!("opening, 100:0-78, 100:78-116, gap ({clock}), opening, 100:0-134");
    assert_eq!(member.words(), words);
    let cursor = member.note().cursor;
    assert_eq!((cursor.since, cursor.until), (Some(3_401), 3_401));
}

#[test]
fn a_crash_between_an_entry_and_its_note_sends_no_byte_twice() {
    let mut member = running();
    member.look(None, 10);
    let (before, plan) = member.plan(None, 15);
    drop((before, plan));
    member.write(100, 30);
    let (looked, found) = member.plan(None, 20);
    let noted = member.note();
    member.carry_out(&looked, found, 20);
    note::write(&member.places, &noted).unwrap();
    member.write(100, 10);
    member.look(None, 30);
    member.look(None, 40);
    assert_eq!(member.words(), "opening, 100:0-78, 100:78-116, 100:116-134");
    assert_eq!(member.together(100), member.segments[&100].bytes);
}

/// Between the entry and its note a table is truncated.
#[test]
fn an_entry_of_an_earlier_try_hides_no_truncation() {
    let mut member = running();
    member.look(None, 10);
    let noted = member.note();
    member.write(100, 30);
    member.look(None, 20);
    note::write(&member.places, &noted).unwrap();
    member.truncated = truncation(100);
    let ends = |member: &Member| {
        let is = look::is_truncated(&member.note().truncated, &member.truncated, &[].into());
        is.then_some(Ends::Truncated)
    };
    member.look(ends(&member), 30);
    assert_eq!(member.words(), "opening, 100:0-78, 100:78-116");
    assert_eq!(member.note().schema_version, "", "of which the entry speaks is not known");
    member.look(ends(&member), 40);
    let gap = Ends::Truncated;
    assert_eq!(member.words(), format!("opening, 100:0-78, 100:78-116, gap ({gap})"));
    assert_eq!(ends(&member), None);
}

/// The server ignores a link that fails at its start, replays the segment and deletes it.
#[test]
fn a_left_over_segment_that_is_lost_at_a_start_ends_the_window() {
    let mut member = running();
    member.look(None, 10);
    member.fill(100);
    member.make(102);
    member.look(None, 20);
    member.write(101, 40);
    note::begin(&member.places, "run-2").unwrap();
    for number in [100, 101, 102] {
        member.delete(number);
    }
    member.make(900);
    member.write(900, 7);
    member.look(None, 30);
    let missing = Ends::Missing { segment: 102 };
    assert_eq!(member.words(), format!("opening, 100:0-78, gap ({missing})"));
}

#[test]
fn a_segment_that_was_made_in_advance_is_sent_to_its_end_by_none() {
    let mut member = running();
    member.look(None, 10);
    note::begin(&member.places, "run-2").unwrap();
    member.fill(100);
    member.fill(101);
    member.delete(100);
    member.delete(101);
    member.make(900);
    member.look(None, 20);
    assert_eq!(member.links(), [] as [i64; 0]);
    member.write(900, 7);
    member.look(None, 30);
    assert_eq!(member.words(), "opening, 100:0-78, 900:0-35");
}

#[test]
fn what_broke_before_a_window_opens_does_not_end_it() {
    let member = running();
    member.look(None, 10);
    note::breaks(&member.places, "off").unwrap();
    member.look(None, 20);
    note::breaks(&member.places, "off").unwrap();
    member.look(None, 30);
    member.look(None, 40);
    assert_eq!(member.words(), "opening, 100:0-78, gap (off), opening, 100:0-78");
}

#[test]
fn another_volume_goes_on_behind_the_journal_in_a_new_window() {
    let mut member = running();
    member.look(None, 10);
    fs::remove_dir_all(&member.places.notes).unwrap();
    note::limit(&member.places, None).unwrap();
    member.write(100, 5);
    for now in [20, 30, 40] {
        member.look(None, now);
    }
    let lost = Ends::LostNote;
    assert_eq!(member.words(), format!("opening, 100:0-78, gap ({lost}), opening, 100:0-91"));
    assert!(member.folder.path().exists());
}

#[test]
fn tables_of_the_server_are_truncated_at_each_start_and_end_nothing() {
    let map = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
        all.iter().map(|(table, at)| ((*table).to_string(), (*at).to_string())).collect()
    };
    let local = ["own".to_string()].into();
    let noted = map(&[("own", "1"), ("t", "1")]);
    let is = |now: &[(&str, &str)]| look::is_truncated(&noted, &map(now), &local);
    assert!(!is(&[("own", "2"), ("t", "1")]) && !is(&[]), "a dropped table truncates nothing");
    assert!(is(&[("t", "2")]) && is(&[("t", "1"), ("u", "1")]));
}

#[test]
fn a_segment_is_known_by_its_name() {
    assert_eq!(number("CommitLog-7-1764000000123.log"), Some(1_764_000_000_123));
    for other in ["CommitLog-7-1764000000123_cdc.idx", "limit", "CommitLog-7-x.log", ".part"] {
        assert_eq!(number(other), None, "{other}");
    }
}
