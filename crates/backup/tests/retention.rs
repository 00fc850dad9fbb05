//! Retention in two phases, and who wakes up in between: a finisher, another
//! expiry, a reader, a second sweep.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::chain::{Chain, append, entry_name};
use palladion_backup::coverage::{Coverage, Replicas};
use palladion_backup::finish;
use palladion_backup::manifest::ring::{LeftOut, read_unchecked};
use palladion_backup::names::BACKUPS;
use palladion_backup::pins::Pin;
use palladion_backup::store::memory::{Frozen, Memory, Seeded};
use palladion_backup::store::{Created, Failure, Meta, Store, Undeleted};
use palladion_backup::vault::{Sealing, Vault};
use palladion_backup::verify::Depth;
use palladion_backup::words::notice::Notice;
use palladion_backup::words::trouble::Wrong;
use palladion_backup::{
    DAY, HOUR, Trouble, catalog::Catalog, catalog::State, expire as mark, sweep,
};
use std::collections::BTreeSet;
use support::*;

fn swept(vault: &Vault<'_>) -> sweep::Swept {
    sweep::carry_out(vault, &sweep::plan(vault).unwrap()).unwrap()
}

fn sstables(memory: &Memory) -> usize {
    memory.names().iter().filter(|name| name.starts_with("sstables/")).count()
}

#[test]
fn an_expired_backup_goes_and_what_the_others_name_stays() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1, 2]);
    memory.advance(DAY);
    back_up(&vault, "b", &[1, 3]);
    memory.advance(3 * DAY);
    let before = sstables(&memory);
    expire(&vault, &["a"], 1).unwrap();
    assert_eq!(sstables(&memory), before, "the first phase deletes nothing");
    let plan = sweep::plan(&vault).unwrap();
    assert_eq!((plan.objects(), plan.notices.len()), (0, 1), "too young: {plan:?}");
    memory.advance(DAY);
    let swept = swept(&vault);
    assert_eq!(swept.entries, [1]);
    assert_eq!(sstables(&memory), 4, "those of b");
    let read = palladion_backup::verify::Depth::Read;
    let report = palladion_backup::verify::verify(&vault, &id("b"), read).unwrap();
    assert_eq!((report.damaged.len(), report.read), (0, 5));
    // At rest nothing is written and nothing is left to do.
    let names = memory.names();
    assert!(expire(&vault, &[], 1).unwrap().is_empty());
    assert_eq!(sweep::plan(&vault).unwrap().objects(), 0);
    assert_eq!(memory.names(), names);
}

#[test]
fn a_finisher_that_wakes_after_its_backup_was_given_up_learns_it() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    let mut sending = Sending::new(&vault, "late").unwrap();
    for number in [1, 2] {
        sending.send(&vault, number, &Files::small(number, &[1]), None).unwrap();
    }
    // A real finisher, frozen before each of its requests in turn.
    for at in 0..40 {
        let copy = Memory::at(START);
        for name in memory.names() {
            copy.put_if_absent(&name, &memory.bytes(&name).unwrap()).unwrap();
        }
        let mut plan = None;
        let frozen = Frozen::new(&copy, at, || {
            let (random, store) = (Seeded::new(2), &copy);
            let other = open(store, &random);
            copy.advance(10 * DAY);
            plan = Some(expire(&other, &[], 1).unwrap());
            copy.advance(2 * DAY);
            swept(&other);
        });
        let told = sending.finish(&open(&frozen, &random));
        drop(frozen);
        let Some(plan) = plan else { return assert!(at > 10, "frozen only {at} times") };
        let outcome = copy.bytes(&id("late").outcome()).unwrap();
        match told {
            // It was done before it froze.
            Ok(_) => assert!(plan.fails.is_empty(), "at {at}: told Complete of {outcome:?}"),
            Err(_) => assert_eq!(plan.fails, [id("late")], "at {at}"),
        }
    }
    panic!("the finisher never came to its end");
}

#[test]
fn a_finisher_whose_complete_backup_was_swept_meanwhile_is_not_told_complete() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "keep", &[9]);
    let sending = back_up(&vault, "a", &[1]);
    assert!(sending.finish(&vault).is_ok(), "asked again it is told the same");
    memory.advance(3 * DAY);
    expire(&vault, &["a"], 1).unwrap();
    let told = sending.finish(&vault);
    assert_eq!(told, Err(Trouble::Condemned { id: "a".into(), entry: 1 }));
    memory.advance(2 * DAY);
    assert!(swept(&vault).objects > 0);
    assert_eq!(memory.bytes(&id("a").outcome()), None);
    let told = sending.finish(&vault);
    assert_eq!(told, Err(Trouble::Condemned { id: "a".into(), entry: 1 }));
    assert_eq!(memory.bytes(&id("a").outcome()), None, "and nothing was written");
}

#[test]
fn of_two_expiries_at_the_same_time_the_second_looks_again() {
    for at in 0..60 {
        let (memory, random) = (memory(), Seeded::new(1));
        let vault = open(&memory, &random);
        back_up(&vault, "a", &[1]);
        back_up(&vault, "b", &[2]);
        memory.advance(3 * DAY);
        let second = std::cell::Cell::new(None);
        let frozen = Frozen::new(&memory, at, || {
            let random = Seeded::new(2);
            second.set(Some(expire(&open(&memory, &random), &["b"], 1).is_ok()));
        });
        let other = Seeded::new(3);
        let first = expire(&open(&frozen, &other), &["a"], 1);
        let left = Catalog::read(&vault).unwrap();
        let left = left.backups.values().filter(|backup| backup.is_kept_complete()).count();
        assert_eq!(left, 1, "at {at}: {first:?}");
        match second.get() {
            None => return assert!(first.is_ok() && at > 10, "at {at}: {first:?}"),
            Some(is_second) => assert_ne!(first.is_ok(), is_second, "at {at}: {first:?}"),
        }
    }
    panic!("the expiry never came to its end");
}

#[test]
fn the_last_complete_backups_stay() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1]);
    back_up(&vault, "b", &[2]);
    memory.advance(3 * DAY);
    let few = |left, keep| Err(Trouble::KeepsTooFew { left, keep });
    assert_eq!(expire(&vault, &["a", "b"], 0).map(drop), few(0, 1), "0 is 1");
    assert_eq!(expire(&vault, &["a"], 2).map(drop), few(1, 2));
    // One whose manifest is gone is none that stays.
    memory.delete(&id("b").member(&host(1), 1)).unwrap();
    assert_eq!(expire(&vault, &["a"], 1).map(drop), few(0, 1));
    assert!(expire(&vault, &["b"], 1).is_ok());
}

#[test]
fn a_backup_that_is_read_is_not_condemned_and_a_pin_is_asked_for_again_before_each_deletion() {
    for at in 0..200 {
        let (memory, random) = (memory(), Seeded::new(1));
        let vault = open(&memory, &random);
        back_up(&vault, "a", &[1]);
        back_up(&vault, "b", &[2]);
        memory.advance(3 * DAY);
        let pin = Pin::write(&vault, &id("a"), "reader", 0).unwrap();
        let refused = expire(&vault, &["a"], 1).map(drop);
        assert_eq!(refused, Err(Trouble::Pinned { id: "a".into(), holder: "reader".into() }));
        pin.end(&vault);
        expire(&vault, &["a"], 1).unwrap();
        memory.advance(2 * DAY);
        // A reader that has begun before, and renews while the sweep is under way.
        let deleted = std::cell::Cell::new(None);
        let frozen = Frozen::new(&memory, at, || {
            deleted.set(Some(memory.deleted().len()));
            Pin::write(&vault, &id("a"), "reader", 1).unwrap();
        });
        let other = Seeded::new(3);
        let slow = open(&frozen, &other);
        let plan = sweep::plan(&slow).unwrap();
        let swept = sweep::carry_out(&slow, &plan).unwrap();
        match deleted.get() {
            None => return assert!(at > 20 && swept.objects > 0),
            Some(before) if swept.objects == 0 => {
                let held = |n: &Notice| matches!(n, Notice::PinnedStill { .. });
                let notices = [plan.notices, swept.notices].concat();
                assert!(notices.iter().any(held), "at {at}: {notices:?}");
                assert_eq!(memory.deleted().len(), before);
            }
            // The batch had begun.
            Some(_) => assert!(at > 20, "at {at}: deleted under a pin: {swept:?}"),
        }
    }
    panic!("the sweep never came to its end");
}

#[test]
fn one_entry_that_cannot_be_read_stops_no_list_and_no_fetch() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    for (at, name) in ["a", "b", "c", "d"].iter().enumerate() {
        back_up(&vault, name, &[at as u32]);
    }
    memory.advance(3 * DAY);
    expire(&vault, &["a"], 1).unwrap();
    expire(&vault, &["b"], 1).unwrap();
    memory.damage(&entry_name(1), |bytes| bytes.truncate(40));
    let catalog = Catalog::read(&vault).unwrap();
    let named =
        |n: &Notice| matches!(n, Notice::EntryUnread { name, .. } if *name == entry_name(1));
    assert!(catalog.notices().iter().any(named), "{:?}", catalog.notices());
    assert!(catalog.complete(&id("c")).is_ok());
    assert_eq!(catalog.backups[&id("b")].condemned, Some(2), "the rest goes on");
    // Nobody knows what it condemns, so nothing is added to it and nothing finished.
    assert!(matches!(expire(&vault, &["c"], 1), Err(Trouble::EntryUnread { .. })));
    memory.advance(2 * DAY);
    assert_eq!(swept(&vault).entries, [2], "what can be read is swept");
    assert!(memory.bytes(&id("a").outcome()).is_some(), "the other is not");
}

/// Says of one object that there is none, and lists it.
struct Hiding<'a>(&'a Memory, String);

impl Store for Hiding<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        self.0.put_if_absent(name, bytes)
    }
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        if name == self.1 { Ok(None) } else { self.0.get(name) }
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

/// Two expiries and a reader: the first had not seen the backup that names what it condemns, and the
/// second condemns that one in the moment in which it is pinned.
#[test]
fn what_a_reader_has_pinned_stays_although_another_entry_lists_it() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "keep", &[9]);
    back_up(&vault, "first", &[1, 2]);
    memory.advance(3 * DAY);
    let first = mark::plan(&vault, &mark::Order { backups: ids(&["first"]), keep: 1 }).unwrap();
    let mut sending = Sending::new(&vault, "again").unwrap();
    for number in [1, 2] {
        let name = id("first").member(&host(number), 1);
        let (before, _) = read_unchecked(&vault, &name).unwrap().unwrap();
        sending.send(&vault, number, &Files::small(number, &[1, 2]), Some(&before)).unwrap();
    }
    sending.finish(&vault).unwrap();
    mark::carry_out(&vault, &first).unwrap();
    let second = mark::plan(&vault, &mark::Order { backups: ids(&["again"]), keep: 1 }).unwrap();
    let pin = Pin::write(&vault, &id("again"), "restore", 0).unwrap();
    let names = second.objects.keys().cloned().collect();
    append(&vault, second.entry, second.backups.clone(), &names).unwrap();
    memory.advance(2 * DAY);
    let objects = sstables(&memory);
    let done = swept(&vault);
    assert_eq!((sstables(&memory), done.entries.len()), (objects, 0), "{done:?}");
    let named = |n: &Notice| matches!(n, Notice::NamedAgain { entry: 1, id, .. } if id == "again");
    let notices = sweep::plan(&vault).unwrap().notices;
    assert!(notices.iter().any(named), "{notices:?}");
    // Whoever has read to the end gives all of it free.
    pin.end(&vault);
    assert_eq!(swept(&vault).entries, [1, 2]);
    assert_eq!(sstables(&memory), 2, "those of the one that is kept");
}

#[test]
fn what_is_listed_and_answers_404_is_unknown_and_not_empty() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1]);
    back_up(&vault, "b", &[2]);
    memory.advance(30 * DAY);
    // An outcome: neither under way nor given up.
    let hiding = Hiding(&memory, id("a").outcome());
    let hidden = open(&hiding, &random);
    let catalog = Catalog::read(&hidden).unwrap();
    assert_eq!(catalog.backups[&id("a")].state, State::Unknown(Wrong::Gone));
    let plan = mark::plan(&hidden, &mark::Order { backups: ids(&[]), keep: 1 }).unwrap();
    assert!(plan.is_empty(), "{plan:?}");
    // A manifest: nothing of that member is condemned.
    let name = id("a").member(&host(1), 1);
    let hiding = Hiding(&memory, name);
    let hidden = open(&hiding, &random);
    let plan = mark::plan(&hidden, &mark::Order { backups: ids(&[]), keep: 1 }).unwrap();
    assert!(plan.is_empty(), "{plan:?}");
    let kept =
        |n: &Notice| matches!(n, Notice::HostKept { host: h, .. } if *h == host(1).to_string());
    assert!(plan.notices.iter().any(kept), "{:?}", plan.notices);
    // An entry: it condemns something, and nobody knows what.
    expire(&vault, &["a"], 1).unwrap();
    let hiding = Hiding(&memory, entry_name(1));
    let hidden = open(&hiding, &random);
    let chain = Chain::read(&hidden).unwrap();
    assert_eq!((chain.next(), chain.whole().is_err()), (2, true));
}

/// Does not answer for one object, or lists what is gone.
struct Silent<'a>(&'a Memory, String, Vec<Meta>);

impl Store for Silent<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        self.0.put_if_absent(name, bytes)
    }
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        if name == self.1 { Err(Failure("503".into())) } else { self.0.get(name) }
    }
    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        self.0.head(name)
    }
    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        let mut all = self.0.list(prefix)?;
        all.extend(self.2.iter().filter(|meta| meta.name.starts_with(prefix)).cloned());
        Ok(all)
    }
    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        self.0.delete(name)
    }
    fn now(&self) -> Result<i64, Failure> {
        self.0.now()
    }
}

#[test]
fn the_last_backup_stays_also_while_its_outcome_cannot_be_read() {
    let (memory, random) = (memory(), Seeded::new(1));
    back_up(&open(&memory, &random), "a", &[1]);
    memory.advance(3 * DAY);
    let silent = Silent(&memory, id("a").outcome(), Vec::new());
    let refused = expire(&open(&silent, &random), &["a"], 1).map(drop);
    assert_eq!(refused, Err(Trouble::KeepsTooFew { left: 0, keep: 1 }));
}

#[test]
fn what_a_list_still_shows_after_it_was_deleted_is_not_there() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    let mut sending = Sending::new(&vault, "a").unwrap();
    for number in [1, 2] {
        sending.send(&vault, number, &Files::small(number, &[1]), None).unwrap();
    }
    let gone = memory.list(&host(1).files()).unwrap();
    memory.delete(&gone[0].name).unwrap();
    let stale = Silent(&memory, String::new(), gone);
    let order = sending.order(&[1, 2], palladion_backup::verify::Depth::Sizes);
    let finished = palladion_backup::finish::finish(&open(&stale, &random), &order);
    assert!(matches!(finished, Err(Trouble::Object { wrong: Wrong::Absent, .. })), "{finished:?}");
}

#[test]
fn nothing_is_written_into_a_sealed_store_without_its_keys() {
    let memory = Memory::at(START);
    let random = Seeded::new(1);
    let sealed = repository(Sealing::Sealed);
    let vault = Vault::create(&memory, Some(keys("ab")), &random, sealed.clone()).unwrap();
    let mut sending = Sending::new(&vault, "abandoned").unwrap();
    sending.send(&vault, 1, &Files::small(1, &[1]), None).unwrap();
    memory.advance(30 * DAY);
    let names = memory.names();
    let without = |keys| Vault::open(&memory, keys, &random).map(drop);
    assert_eq!(without(None), Err(Trouble::KeysMissing));
    let created = Vault::create(&memory, None, &random, repository(Sealing::Plain));
    assert_eq!(created.map(drop), Err(Trouble::KeysMissing));
    assert_eq!(memory.names(), names);
    // With its keys the outcome is sealed as everything else.
    expire(&vault, &[], 1).unwrap();
    let outcome = memory.bytes(&id("abandoned").outcome()).unwrap();
    assert_eq!(palladion_backup::seal::fingerprint(&outcome), Some(keys("ab").current()));
    // An unsealed outcome that somebody puts there is not believed.
    let plain = vault.read(&id("abandoned").outcome()).unwrap().unwrap();
    memory.damage(&id("abandoned").outcome(), |bytes| *bytes = plain);
    let state = palladion_backup::catalog::state(&vault, &id("abandoned"));
    assert!(matches!(state, State::Unknown(Wrong::Sealed { .. })), "{state:?}");
    // With another key nothing can be read, so nothing is condemned.
    let other = Vault::open(&memory, Some(keys("cd")), &random).unwrap();
    assert!(matches!(expire(&other, &[], 1), Err(Trouble::EntryUnread { .. })));
}

#[test]
fn a_sweep_deletes_at_most_what_its_plan_showed() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1]);
    back_up(&vault, "b", &[2]);
    back_up(&vault, "c", &[3]);
    memory.advance(3 * DAY);
    expire(&vault, &["a"], 1).unwrap();
    memory.advance(2 * DAY);
    let plan = sweep::plan(&vault).unwrap();
    // Until it is confirmed another entry becomes old enough, and a manifest comes.
    expire(&vault, &["b"], 1).unwrap();
    memory.advance(2 * DAY);
    memory.put_if_absent(&id("a").member(&host(2), 7), b"late").unwrap();
    sweep::carry_out(&vault, &plan).unwrap();
    let shown: BTreeSet<String> =
        plan.entries.iter().flat_map(|e| &e.objects).map(|(name, _)| name.clone()).collect();
    let bookkeeping = |name: &&String| !name.starts_with("condemned/");
    let deleted: BTreeSet<String> = memory.deleted().iter().filter(bookkeeping).cloned().collect();
    assert!(!deleted.is_empty() && deleted.is_subset(&shown), "{deleted:?} of {shown:?}");
    assert!(memory.bytes(&id("b").outcome()).is_some());
}

#[test]
fn a_sweep_that_broke_off_is_gone_on_with() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1, 2, 3]);
    back_up(&vault, "b", &[4]);
    memory.advance(3 * DAY);
    expire(&vault, &["a"], 1).unwrap();
    memory.advance(2 * DAY);
    let plan = sweep::plan(&vault).unwrap();
    for (name, _) in plan.entries[0].objects.iter().take(4) {
        memory.delete(name).unwrap();
    }
    let catalog = Catalog::read(&vault).unwrap();
    assert!(matches!(catalog.complete(&id("a")), Err(Trouble::Condemned { .. })));
    assert_eq!(swept(&vault).entries, [1]);
    assert_eq!(sstables(&memory), 2, "those of b");
}

#[test]
fn what_is_under_way_is_left_alone_for_a_day() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1]);
    memory.advance(3 * DAY);
    let mut sending = Sending::new(&vault, "b").unwrap();
    sending.send(&vault, 1, &Files::small(1, &[1]), None).unwrap();
    memory.advance(23 * HOUR);
    assert_eq!(
        expire(&vault, &[], 1).map(drop),
        Err(Trouble::UnderWay { id: "b".into(), hours: 23 })
    );
    memory.advance(HOUR);
    let plan = expire(&vault, &[], 1).unwrap();
    assert_eq!((plan.fails, plan.objects.len()), (vec![id("b")], 0), "its files count for a week");
    memory.advance(7 * DAY);
    let plan = expire(&vault, &[], 1).unwrap();
    assert_eq!((plan.fails.len(), plan.objects.len()), (0, 2), "a file and its schema");
    // What has failed goes without being named, and stays failed: that is on record for ever.
    assert_eq!(plan.backups, ids(&["b"]));
    memory.advance(2 * DAY);
    swept(&vault);
    let folders: BTreeSet<String> = vault.folders(BACKUPS).unwrap().into_iter().collect();
    assert_eq!(folders, BTreeSet::from(["a".to_string()]));
    assert!(matches!(sending.finish(&vault), Err(Trouble::Condemned { .. })));
    assert!(expire(&vault, &[], 1).unwrap().is_empty(), "at rest nothing is written");
}

/// Entries of journals name schemas that no manifest has, and restores read them from an old backup on.
#[test]
fn of_a_journal_nothing_is_condemned_nor_of_the_schemas_that_it_names() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up(&vault, "a", &[1]);
    let schema = palladion_backup::finish::write_schema(&vault, b"CREATE KEYSPACE later;").unwrap();
    memory.advance(3 * DAY);
    let unnamed = mark::plan(&vault, &mark::Order { backups: ids(&[]), keep: 1 }).unwrap().objects;
    assert!(unnamed.contains_key(&schema.object), "without a journal it goes: {unnamed:?}");
    vault.write("commitlog/00000000-0000-4000-8000-000000000001/000000000001.json", b"x").unwrap();
    vault.write("commitlog/00000000-0000-4000-8000-000000000001/000000000002~00", b"x").unwrap();
    memory.advance(3 * DAY);
    assert!(
        mark::plan(&vault, &mark::Order { backups: ids(&[]), keep: 1 }).unwrap().objects.is_empty()
    );
}

/// A whole backup of both members, of these keyspaces; `None`: its manifests do not say it.
fn back_up_of(vault: &Vault<'_>, text: &str, keyspaces: Option<&[&str]>) {
    let mut sending = Sending::new(vault, text).unwrap();
    sending.keyspaces = keyspaces.map(|all| all.iter().map(|name| name.to_string()).collect());
    for number in [1, 2] {
        let mut files = Files::small(number, &[1]);
        if keyspaces.is_some_and(|all| !all.contains(&"k1")) {
            files = Files::default();
        }
        sending.send(vault, number, &files, None).unwrap();
    }
    sending.finish(vault).unwrap();
}

#[test]
fn a_backup_of_other_keyspaces_takes_the_place_of_none() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up_of(&vault, "whole", Some(&KEYSPACES));
    back_up_of(&vault, "part", Some(&["system_auth"]));
    memory.advance(3 * DAY);
    let refused = expire(&vault, &["whole"], 1).map(drop);
    let Err(Trouble::KeepsTooFewOf { id, keyspaces, left, keep }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((&*id, &*keyspaces.to_string(), left, keep), ("whole", "k1", 0, 1));
    // The other way round it does.
    assert!(mark::plan(&vault, &mark::Order { backups: ids(&["part"]), keep: 1 }).is_ok());
    back_up_of(&vault, "next", Some(&KEYSPACES));
    memory.advance(3 * DAY);
    assert!(expire(&vault, &["whole", "part"], 1).is_ok());
}

#[test]
fn a_backup_without_a_member_takes_the_place_of_none_with_all() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up_of(&vault, "whole", Some(&KEYSPACES));
    let part = |text: &str| {
        let mut sending = Sending::new(&vault, text).unwrap();
        for number in [1, 2] {
            sending.send(&vault, number, &Files::small(number, &[1]), None).unwrap();
        }
        let hosts = [1, 2, 3].map(host).into();
        let range = Replicas { keyspace: "k1".into(), hosts };
        let out = LeftOut {
            host: host(3),
            datacenter: "dc1".into(),
            rack: "r1".into(),
            version: "5.0.5".into(),
            tokens: vec!["3".into()],
        };
        let order = finish::Order {
            coverage: Coverage::QuorumOfEachRange(vec![range]),
            left_out: vec![out],
            ..sending.order(&[], Depth::Sizes)
        };
        finish::finish(&vault, &order).unwrap();
    };
    part("part-1");
    part("part-2");
    memory.advance(3 * DAY);
    let refused = expire(&vault, &["whole"], 1).map(drop);
    assert_eq!(refused, Err(Trouble::KeepsTooFewOfAll { id: "whole".into(), left: 0, keep: 1 }));
    // Of another one without a member it does, and so does one with all.
    assert!(mark::plan(&vault, &mark::Order { backups: ids(&["part-1"]), keep: 2 }).is_ok());
    back_up_of(&vault, "next", Some(&KEYSPACES));
    memory.advance(3 * DAY);
    assert!(expire(&vault, &["whole", "part-1", "part-2"], 1).is_ok());
}

#[test]
fn of_a_backup_that_does_not_say_its_keyspaces_those_count_of_which_it_has_files() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    back_up_of(&vault, "a", None);
    back_up_of(&vault, "b", None);
    memory.advance(3 * DAY);
    assert!(mark::plan(&vault, &mark::Order { backups: ids(&["a"]), keep: 1 }).is_ok());
    // It has roles or not: nobody knows, so it takes no place of one that cannot be read.
    memory.delete(&id("a").member(&host(1), 1)).unwrap();
    let refused = expire(&vault, &["a"], 1).map(drop);
    let whole = Trouble::KeepsTooFewWhole { id: "a".into(), left: 0, keep: 1 };
    assert_eq!(refused, Err(whole));
    back_up_of(&vault, "c", Some(&KEYSPACES));
    memory.advance(3 * DAY);
    assert!(expire(&vault, &["a"], 1).is_ok());
}

#[test]
fn a_ring_has_the_keyspaces_that_all_its_members_have_taken() {
    let (memory, random) = (memory(), Seeded::new(1));
    let vault = open(&memory, &random);
    let of = |text: &str, each: [Option<&[&str]>; 2]| {
        let mut sending = Sending::new(&vault, text).unwrap();
        for (number, keyspaces) in (1..).zip(each) {
            sending.keyspaces = keyspaces.map(|all| all.iter().map(|n| n.to_string()).collect());
            sending.send(&vault, number, &Files::small(number, &[1]), None).unwrap();
        }
        sending.finish(&vault).unwrap();
        let (ring, _) = palladion_backup::catalog::one(&vault, &id(text)).unwrap();
        ring.keyspaces.map(|all| all.into_iter().collect::<Vec<_>>())
    };
    let (one, two): (&[&str], &[&str]) = (&["k1"], &["k1", "k2"]);
    assert_eq!(of("a", [Some(two), Some(two)]).unwrap(), ["k1", "k2"]);
    assert_eq!(of("b", [Some(two), Some(one)]).unwrap(), ["k1"]);
    assert_eq!(of("c", [Some(two), None]), None);
    assert_eq!(of("d", [None, Some(two)]), None);
}
