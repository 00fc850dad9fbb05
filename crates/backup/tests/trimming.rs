//! What no backup needs of the journals goes with the backups that needed it, and whoever reads
//! one of those that stay finds all that was there before.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::archive::choose::{Segment, Uncovered, Wanted, choose};
use palladion_backup::archive::entry::{self, Brings, Entry, Part};
use palladion_backup::archive::{OfJournal, bytes_name, journal, of_journal, read::read, trim};
use palladion_backup::catalog::Catalog;
use palladion_backup::hash::Hash;
use palladion_backup::manifest::member::Schema;
use palladion_backup::manifest::ring::Window;
use palladion_backup::names::HostId;
use palladion_backup::store::memory::{Faulty, Memory, Seeded};
use palladion_backup::sweep;
use palladion_backup::vault::Vault;
use palladion_backup::{DAY, HOUR};
use std::collections::{BTreeMap, BTreeSet};
use support::*;

/// What a journal is made of, one entry after the other.
struct Journal<'v, 's> {
    vault: &'v Vault<'s>,
    host: HostId,
    number: u64,
    previous: Option<Hash>,
    segment: i64,
    at: u64,
}

impl<'v, 's> Journal<'v, 's> {
    fn of(vault: &'v Vault<'s>, host: HostId) -> Self {
        Self { vault, host, number: 0, previous: None, segment: 0, at: 0 }
    }

    fn write(&mut self, until: i64, brings: Brings) {
        self.number += 1;
        let entry = Entry {
            repository: "repository-1".into(),
            host: self.host.clone(),
            number: self.number,
            previous: self.previous.take(),
            until,
            since: until - 20,
            found: until + 1,
            loss: 60,
            schema: Schema { object: "s".into(), sha256: Hash::of(b"s"), bytes: 1 },
            tokens_hash: "t".into(),
            ring: "ring".into(),
            version: "5.0.5".into(),
            brings,
        };
        self.previous = Some(entry::write(self.vault, &entry).unwrap().1);
    }

    /// Bytes of the segment that is open, or of the next one.
    fn bytes(&mut self, until: i64, is_next: bool) {
        if is_next {
            (self.segment, self.at) = (self.segment + 1, 0);
        }
        let object = bytes_name(&self.host, self.number + 1, "00");
        self.vault.write(&object, b"bytes").unwrap();
        let part = Part {
            segment: self.segment,
            file: format!("CommitLog-7-{}.log", self.segment),
            file_bytes: 1000,
            run: "a".into(),
            from: self.at,
            to: self.at + 5,
            object,
            sha256: Hash::of(b"bytes"),
            stored_bytes: 5,
        };
        self.at += 5;
        self.write(until, Brings::Bytes(part));
    }
}

/// The numbers of entries and of bytes that are there.
fn numbers(memory: &Memory, host: &HostId) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let (mut entries, mut bytes) = (BTreeSet::new(), BTreeSet::new());
    for name in memory.names().iter().filter(|name| name.starts_with(&journal(host))) {
        match of_journal(name) {
            Some(OfJournal::Entry(_, number)) => entries.insert(number),
            Some(OfJournal::Bytes(_, number)) => bytes.insert(number),
            None => panic!("{name}"),
        };
    }
    (entries, bytes)
}

/// What a restore reads that begins with a backup of this time.
fn found(vault: &Vault<'_>, host: &HostId, from: i64, to: i64) -> Vec<Entry> {
    read(vault, host, (Window { from, to: from + 60 }, to)).unwrap()
}

/// Ten days, an entry each hour, a segment each four: the journal of one member.
fn ten_days(vault: &Vault<'_>, number: u8) {
    let mut journal = Journal::of(vault, host(number));
    journal.write(START, Brings::Opening);
    for hour in 1..=240 {
        match hour % 3 {
            0 => journal.write(START + hour * HOUR, Brings::Rest),
            _ => journal.bytes(START + hour * HOUR, hour % 4 == 1),
        }
    }
}

#[test]
fn a_journal_goes_as_far_as_the_oldest_backup_needs_none_of_it() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    ten_days(&vault, 1);
    back_up_at(&vault, "a", &[1], START + 2 * DAY);
    back_up_at(&vault, "b", &[2], START + 8 * DAY);
    memory.advance(10 * DAY);
    let all = numbers(&memory, &host(1));
    // Both are there: nothing before the first one that is more than a day older than it goes...
    let swept = sweep::carry_out(&vault, &sweep::plan(&vault).unwrap()).unwrap();
    let (entries, bytes) = numbers(&memory, &host(1));
    let least = *entries.first().unwrap();
    // 24 hours less ten minutes are 23 whole ones; the segment of then began in the 17th.
    assert_eq!(least, 1 + 17);
    assert_eq!(
        swept.journals.objects,
        (all.0.len() + all.1.len() - entries.len() - bytes.len()) as u64
    );
    // ... and nothing more while the first one is only condemned.
    expire(&vault, &["a"], 1).unwrap();
    let swept = sweep::carry_out(&vault, &sweep::plan(&vault).unwrap()).unwrap();
    assert_eq!((swept.journals.objects, numbers(&memory, &host(1)).0), (0, entries));
    memory.advance(DAY);
    let (a, b) = (START + 2 * DAY, START + 8 * DAY);
    let to = START + 9 * DAY;
    let of_b = found(&vault, &host(1), b, to);
    let swept = sweep::carry_out(&vault, &sweep::plan(&vault).unwrap()).unwrap();
    assert_eq!(swept.entries, [1]);
    let (entries, bytes) = numbers(&memory, &host(1));
    let first = *entries.first().unwrap();
    // Seven days less ten minutes are 167 whole hours; the segment of then began in the 161st.
    assert_eq!(first, 1 + 161, "{entries:?}");
    assert!(bytes.first().is_some_and(|number| *number >= first), "{bytes:?}");
    assert!(swept.journals.objects > 0 && swept.journals.bytes > 0);
    assert!(found(&vault, &host(1), b, to) == of_b);
    assert!(restored(&vault, a, a + HOUR).1.is_err(), "what only a needs is gone");
    // At rest nothing is written, and there is nothing to do.
    let names = memory.names();
    assert_eq!(sweep::plan(&vault).unwrap().journals, []);
    sweep::carry_out(&vault, &sweep::plan(&vault).unwrap()).unwrap();
    assert_eq!(memory.names(), names);
}

#[test]
fn of_a_member_that_left_long_ago_the_last_segment_is_left() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    ten_days(&vault, 7);
    back_up_at(&vault, "a", &[1], START + 100 * DAY);
    memory.advance(101 * DAY);
    sweep::carry_out(&vault, &sweep::plan(&vault).unwrap()).unwrap();
    let (entries, _) = numbers(&memory, &host(7));
    // Its last segment began in the 233rd hour.
    assert_eq!(entries, (1 + 233..=241).collect());
}

#[test]
fn while_it_is_not_known_when_the_oldest_begins_nothing_goes() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    ten_days(&vault, 1);
    memory.advance(10 * DAY);
    let surplus = || {
        let catalog = Catalog::read(&vault).unwrap();
        trim::surplus(&vault, &catalog, &BTreeSet::new()).unwrap()
    };
    assert_eq!(surplus(), [], "there is no backup");
    back_up_at(&vault, "b", &[1], START + 8 * DAY);
    assert_eq!(surplus().len(), 1);
    // One that is under way began at an unknown time.
    let mut open = Sending::new(&vault, "a").unwrap();
    open.send(&vault, 1, &Files::small(1, &[1]), None).unwrap();
    assert_eq!(surplus(), []);
    open.send(&vault, 2, &Files::small(2, &[1]), None).unwrap();
    open.window = Window { from: START + 2 * DAY, to: START + 3 * DAY };
    open.finish(&vault).unwrap();
    let [all] = surplus().try_into().unwrap();
    assert!(all.below < 30, "{all:?}");
    memory.damage(&id("a").outcome(), |bytes| bytes.truncate(9));
    assert_eq!(surplus(), []);
}

#[test]
fn an_entry_that_is_lost_or_a_segment_without_its_begin_keeps_what_is_there() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    let mut journal = Journal::of(&vault, host(1));
    journal.write(START, Brings::Opening);
    journal.at = 40;
    for hour in 1..=100 {
        journal.bytes(START + hour * HOUR, false);
    }
    back_up_at(&vault, "a", &[1], START + 80 * HOUR);
    let surplus = |memory: &Memory| {
        let vault = open(memory, &random);
        let catalog = Catalog::read(&vault).unwrap();
        trim::surplus(&vault, &catalog, &BTreeSet::new()).unwrap()
    };
    assert_eq!(surplus(&memory), [], "nobody knows where the segment begins");
}

#[test]
fn no_more_goes_at_once_than_is_said_and_the_rest_later() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    ten_days(&vault, 1);
    back_up_at(&vault, "b", &[1], START + 8 * DAY);
    let surplus = || {
        let catalog = Catalog::read(&vault).unwrap();
        trim::surplus(&vault, &catalog, &BTreeSet::new()).unwrap()
    };
    let [all] = surplus().try_into().unwrap();
    let cut = trim::trim(&vault, &all, 7).unwrap();
    assert_eq!((cut.objects, cut.is_cut), (7, true));
    assert_eq!(surplus(), std::slice::from_ref(&all), "it is known once more");
    let rest = trim::trim(&vault, &all, 10_000).unwrap();
    assert!(!rest.is_cut && rest.objects > 7);
    assert_eq!(*numbers(&memory, &host(1)).0.first().unwrap(), all.below);
}

/// A journal as it may be: segments that are long or short, rests, windows that end and open, and
/// where `turns_back` a clock that is set back by some hours now and then.
fn a_journal(vault: &Vault<'_>, random: &Seeded, turns_back: bool) -> i64 {
    let mut journal = Journal::of(vault, host(1));
    let mut now = START;
    journal.write(now, Brings::Opening);
    let mut is_open = false;
    for _ in 0..300 {
        now += i64::try_from(random.next() % 7200).unwrap();
        match random.next() % 20 {
            0 => {
                journal.write(now, Brings::Gap { why: "a test".into() });
                if turns_back && random.next().is_multiple_of(2) {
                    now -= 5 * HOUR;
                }
                journal.write(now, Brings::Opening);
                is_open = false;
            }
            1..=6 => journal.write(now, Brings::Rest),
            other => {
                journal.bytes(now, !is_open || other == 7);
                is_open = true;
            }
        }
    }
    now
}

/// The entries that a restore reads, and what it takes of them.
fn restored(vault: &Vault<'_>, from: i64, to: i64) -> (Vec<u64>, Result<Vec<Segment>, Uncovered>) {
    let entries = found(vault, &host(1), from, to);
    let window = Window { from, to: from + 60 };
    let wanted = Wanted { window, schema: Hash::of(b"s"), tokens_hash: "t".into(), ring: None, to };
    (entries.iter().map(|entry| entry.number).collect(), choose(&entries, &wanted))
}

#[test]
fn whatever_a_journal_is_like_those_that_stay_are_restored_as_before() {
    let (mut trimmed, mut whole, mut cases) = (0, 0, 0);
    for seed in 0..90 {
        let (memory, random) = (memory(), Seeded::new(seed));
        let vault = open(&memory, &random);
        let turns_back = seed % 2 == 0;
        let end = a_journal(&vault, &random, turns_back);
        let span = u64::try_from(end - START).unwrap();
        let mut times: Vec<i64> =
            (0..4).map(|_| START + i64::try_from(random.next() % span).unwrap()).collect();
        times.sort_unstable();
        back_up_at(&vault, "oldest", &[1], times[0]);
        let to = |from: i64| from + 3 * HOUR;
        let before: BTreeMap<i64, _> =
            times.iter().map(|from| (*from, restored(&vault, *from, to(*from)))).collect();
        let faulty = Faulty::new(&memory, seed, if seed % 3 == 0 { 9 } else { 0 });
        for _ in 0..20 {
            let Ok(vault) = Vault::open(&faulty, None, &random) else { continue };
            if let Ok(plan) = sweep::plan(&vault)
                && let Ok(swept) = sweep::carry_out(&vault, &plan)
            {
                trimmed += swept.journals.objects;
            }
        }
        for (from, (numbers, segments)) in before {
            let (read, chosen) = restored(&vault, from, to(from));
            whole += u32::from(chosen.is_ok());
            // Which entries a time means that came twice is for the restore: they are all there.
            let parts = segments.iter().flatten().flat_map(|segment| &segment.parts);
            let lost: Vec<&str> = parts.map(|part| part.object.as_str()).collect();
            let lost: Vec<&&str> =
                lost.iter().filter(|object| memory.bytes(object).is_none()).collect();
            assert!(lost.is_empty(), "seed {seed} at {from}: {lost:?}");
            if !turns_back {
                assert!(chosen == segments, "seed {seed} at {from}: others are taken");
                assert_eq!(read, numbers, "seed {seed} at {from}");
            }
            cases += 1;
        }
    }
    assert!(trimmed > 3000 && cases == 360, "{trimmed} objects in {cases} cases");
    assert!(whole > 100, "only {whole} of {cases} can be restored at all");
}
