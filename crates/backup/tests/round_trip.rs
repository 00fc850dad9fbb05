//! What is taken comes back byte for byte, and what is damaged does not.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::coverage::{Coverage, Replicas};
use palladion_backup::fetch::{Filter, Sink, Target, fetch};
use palladion_backup::finish;
use palladion_backup::hash::Hash;
use palladion_backup::manifest::ring::{LeftOut, Window, read_unchecked};
use palladion_backup::seal::Keys;
use palladion_backup::store::Store;
use palladion_backup::store::memory::{Faulty, Memory, Seeded};
use palladion_backup::take::{self, Listed, Snapshot};
use palladion_backup::vault::{Sealing, Vault};
use palladion_backup::verify::{Depth, verify};
use palladion_backup::words::trouble::Wrong;
use palladion_backup::{DAY, Trouble, names};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use support::*;

type Tree = Rc<RefCell<BTreeMap<String, Vec<u8>>>>;

/// Files as they come back.
#[derive(Default)]
struct Folder(Tree);

struct Open(Tree, String, Vec<u8>);

impl Target for Folder {
    fn has(&self, path: &str, _: u64, sha256: &Hash) -> Result<bool, String> {
        Ok(self.0.borrow().get(path).is_some_and(|bytes| Hash::of(bytes) == *sha256))
    }
    fn begin(&self, path: &str) -> Result<Box<dyn Sink>, String> {
        Ok(Box::new(Open(self.0.clone(), path.to_string(), Vec::new())))
    }
}

impl Sink for Open {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.2.extend_from_slice(bytes);
        Ok(())
    }
    fn commit(self: Box<Self>) -> Result<(), String> {
        let Open(tree, path, bytes) = *self;
        tree.borrow_mut().insert(path, bytes);
        Ok(())
    }
}

fn sealings() -> [(Sealing, Option<Keys>); 2] {
    [(Sealing::Plain, None), (Sealing::Sealed, Some(keys("ab")))]
}

fn store(sealing: Sealing, keys: Option<Keys>) -> Memory {
    let memory = Memory::at(START);
    Vault::create(&memory, keys, &Seeded::new(0), repository(sealing)).unwrap();
    memory
}

/// Two members with files of different content.
fn taken(vault: &Vault<'_>, sstables: &[u32]) -> (Sending, BTreeMap<String, Vec<u8>>) {
    let mut sending = Sending::new(vault, "a").unwrap();
    let mut expected = BTreeMap::from([("schema.cql".into(), SCHEMA.as_bytes().to_vec())]);
    for number in [1, 2] {
        let files = Files::of(number, sstables);
        sending.send(vault, number, &files, None).unwrap();
        for (name, bytes) in files.0 {
            let table = "t-5f3c2b1a0000400080000000000000aa";
            expected.insert(format!("{}/k1/{table}/{name}", host(number)), bytes);
        }
    }
    (sending, expected)
}

#[test]
fn every_byte_and_name_comes_back() {
    for (sealing, keys) in sealings() {
        let memory = store(sealing, keys.clone());
        let random = Seeded::new(1);
        let vault = Vault::open(&memory, keys, &random).unwrap();
        let (sending, expected) = taken(&vault, &[1]);
        let folder = Folder::default();
        let early = fetch(&vault, (&id("a"), &Filter::default()), &folder).map(drop);
        assert!(matches!(early, Err(Trouble::NotComplete { .. })), "{early:?}");
        sending.finish(&vault).unwrap();
        let fetched = fetch(&vault, (&id("a"), &Filter::default()), &folder).unwrap();
        let found = folder.0.borrow();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, bytes) in &expected {
            assert!(found[name] == *bytes, "{name} has other bytes");
        }
        assert_eq!((fetched.files, fetched.damaged.len()), (expected.len() as u64, 0));
        assert!(!memory.names().iter().any(|name| name.starts_with(names::PINS)), "no pin is left");
        let is_plain = |name: &String| {
            let bytes = memory.bytes(name).unwrap();
            bytes.windows(9).any(|part| part == b"Index.db\"" || part == b"SPACE k1 ")
        };
        let plain = memory.names().iter().any(is_plain);
        assert_eq!(plain, sealing == Sealing::Plain, "what stands in the store in clear");
    }
}

#[test]
fn one_object_that_is_damaged_is_named_and_its_files_do_not_come_back() {
    for (sealing, keys) in sealings() {
        let memory = store(sealing, keys.clone());
        let random = Seeded::new(1);
        let vault = Vault::open(&memory, keys, &random).unwrap();
        let (sending, expected) = taken(&vault, &[1]);
        sending.finish(&vault).unwrap();
        let objects = memory.names().into_iter().filter(|name| name.starts_with(names::SSTABLES));
        for object in objects.collect::<Vec<_>>() {
            let whole = memory.bytes(&object).unwrap();
            let changes: [fn(&mut Vec<u8>); 2] = [|b| b[300] ^= 1, |b| b.truncate(b.len() - 1)];
            for change in changes {
                memory.damage(&object, change);
                let report = verify(&vault, &id("a"), Depth::Read).unwrap();
                let named: Vec<&str> = report.damaged.iter().map(|d| d.object.as_str()).collect();
                assert_eq!(named, [object.as_str()]);
                assert!(report.damaged[0].tables.contains("k1.t"));
                let folder = Folder::default();
                let fetched = fetch(&vault, (&id("a"), &Filter::default()), &folder).unwrap();
                let found = folder.0.borrow();
                assert!(!fetched.damaged.is_empty());
                assert_eq!(found.len() + fetched.damaged.len(), expected.len());
                assert!(found.iter().all(|(name, bytes)| expected[name] == *bytes));
                memory.damage(&object, |bytes| bytes.clone_from(&whole));
            }
            memory.delete(&object).unwrap();
            let report = verify(&vault, &id("a"), Depth::Sizes).unwrap();
            assert_eq!(report.damaged[0].wrong, Wrong::Absent);
            memory.put_if_absent(&object, &whole).unwrap();
        }
        assert!(verify(&vault, &id("a"), Depth::Read).unwrap().damaged.is_empty());
    }
}

#[test]
fn nothing_damaged_becomes_complete() {
    let memory = store(Sealing::Plain, None);
    let random = Seeded::new(1);
    let vault = open(&memory, &random);
    let (sending, _) = taken(&vault, &[1]);
    for object in memory.names().into_iter().filter(|name| !name.starts_with("repository")) {
        let whole = memory.bytes(&object).unwrap();
        memory.damage(&object, |bytes| bytes[10] ^= 1);
        assert!(sending.finish(&vault).is_err(), "{object} was changed");
        memory.delete(&object).unwrap();
        assert!(sending.finish(&vault).is_err(), "{object} is gone");
        memory.put_if_absent(&object, &whole).unwrap();
        // Noted once, it would be refused for that.
        for note in memory.list(names::DAMAGED).unwrap() {
            memory.delete(&note.name).unwrap();
        }
    }
    let mut other = sending.order(&[1, 2], Depth::Sizes);
    other.members.get_mut(&host(1)).unwrap().tokens = vec!["7".into()];
    let finished = palladion_backup::finish::finish(&vault, &other);
    assert!(matches!(finished, Err(Trouble::NotOfMember { .. })), "{finished:?}");
    let three = palladion_backup::finish::finish(&vault, &sending.order(&[1, 2, 3], Depth::Read));
    assert!(matches!(three, Err(Trouble::Uncovered { .. })), "{three:?}");
    assert!(sending.finish(&vault).is_ok());
}

/// Counts what is read.
struct Counting<'a>(&'a Files, Cell<u64>);

impl Snapshot for Counting<'_> {
    fn read(&self, file: &Listed, at: u64, bytes: u64) -> Result<Vec<u8>, String> {
        self.1.set(self.1.get() + bytes);
        self.0.read(file, at, bytes)
    }
}

#[test]
fn what_was_sent_before_is_neither_read_nor_sent_unless_it_is_gone_or_condemned() {
    let memory = store(Sealing::Plain, None);
    let random = Seeded::new(1);
    let vault = open(&memory, &random);
    let files = Files::of(1, &[1, 2]);
    let mut sending = Sending::new(&vault, "a").unwrap();
    sending.send(&vault, 1, &files, None).unwrap();
    sending.send(&vault, 2, &Files::of(2, &[1]), None).unwrap();
    sending.finish(&vault).unwrap();
    let (earlier, _) = read_unchecked(&vault, &id("a").member(&host(1), 1)).unwrap().unwrap();
    let again = |name: &str, files: &Files| {
        let member = member(&id(name), 1, sending.schema.clone());
        let order = take::Order { member, checkpoint: 1, piece_bytes: 400_000 };
        let counting = Counting(files, Cell::new(0));
        take::take(&vault, &order, (&files.listed(), &counting), Some(&earlier)).unwrap();
        counting.1.get()
    };
    assert_eq!(again("b", &files), 0);
    // A piece that is gone: its file alone is sent.
    let gone = earlier.files.iter().find(|f| f.name() == "nb-1-big-Data.db").unwrap();
    memory.delete(&gone.pieces[1].object).unwrap();
    assert_eq!(again("c", &files), gone.bytes);
    // A new SSTable alone is sent.
    let mut more = files.clone();
    more.0.extend(Files::small(1, &[5]).0);
    assert_eq!(again("d", &more), gone.bytes + more.0["nb-5-big-Data.db"].len() as u64);
    // What is condemned is not named again.
    memory.advance(3 * DAY);
    back_up(&vault, "e", &[7]);
    memory.advance(10 * DAY);
    expire(&vault, &["a"], 1).unwrap();
    let all: u64 = files.0.values().map(|bytes| bytes.len() as u64).sum();
    assert_eq!(again("f", &files), all);
}

#[test]
fn a_file_that_has_rotted_on_the_volume_fails_the_backup() {
    let memory = store(Sealing::Plain, None);
    let random = Seeded::new(1);
    let vault = open(&memory, &random);
    let files = Files::of(1, &[1]);
    let listed = files.listed();
    let mut rotten = files.clone();
    rotten.0.get_mut("nb-1-big-Data.db").unwrap()[700_000] ^= 1;
    let schema = palladion_backup::finish::write_schema(&vault, b"").unwrap();
    let member = member(&id("a"), 1, schema);
    let order = take::Order { member, checkpoint: 1, piece_bytes: 400_000 };
    let taken = take::take(&vault, &order, (&listed, &rotten), None);
    assert!(matches!(taken, Err(Trouble::Rotten { ref file, .. }) if file == "nb-1-big-Data.db"));
    assert_eq!(vault.read(&id("a").member(&host(1), 1)), Ok(None));
}

/// K1: whatever the store does, what is said to be complete is complete.
#[test]
fn no_fault_of_a_store_makes_a_false_complete() {
    let (mut complete, mut failed) = (0, 0);
    for seed in 0..1000 {
        let memory = store(Sealing::Plain, None);
        let faulty = Faulty::new(&memory, seed, 4 + seed % 200);
        let random = Seeded::new(seed);
        let Ok(vault) = Vault::open(&faulty, None, &random) else { continue };
        let finished = Sending::new(&vault, "a").and_then(|mut sending| {
            for number in [1, 2] {
                sending.send(&vault, number, &Files::small(number, &[1, 2]), None)?;
            }
            let order = sending.order(&[1, 2], Depth::Sizes);
            palladion_backup::finish::finish(&vault, &order)
        });
        let there = open(&memory, &random);
        let said = palladion_backup::catalog::state(&there, &id("a"));
        match (&finished, said) {
            (_, palladion_backup::catalog::State::Complete { .. }) => {
                complete += 1;
                let report = verify(&there, &id("a"), Depth::Read).unwrap();
                assert_eq!(report.damaged, [], "seed {seed}");
            }
            (Ok(_), said) => panic!("seed {seed}: told Complete, and the store has {said:?}"),
            (Err(_), _) => failed += 1,
        }
    }
    assert!(complete > 100 && failed > 100, "{complete} complete, {failed} failed");
}

#[test]
fn what_stands_under_a_name_before_is_compared() {
    let memory = store(Sealing::Plain, None);
    let random = Seeded::new(1);
    let vault = open(&memory, &random);
    memory.put_if_absent("schema/x", b"theirs").unwrap();
    let taken = Trouble::Taken { name: "schema/x".into() };
    assert_eq!(vault.write("schema/x", b"ours"), Err(taken.clone()));
    assert_eq!(vault.put_new("schema/x", b"ours"), Err(taken));
    assert_eq!(vault.write("schema/x", b"theirs"), Ok(()));
    assert_eq!(vault.put_new("schema/x", b"theirs"), Ok(()));
}

#[test]
fn another_repository_is_left_alone() {
    let memory = store(Sealing::Plain, None);
    let names = memory.names();
    let mut other = repository(Sealing::Plain);
    other.id = "repository-2".into();
    let created = Vault::create(&memory, None, &Seeded::new(1), other).map(drop);
    let (found, expected) = ("repository-1".to_string(), "repository-2".to_string());
    assert_eq!(created, Err(Trouble::Foreign { found, expected }));
    assert_eq!(memory.names(), names);
    let empty = Memory::at(START);
    let opened = Vault::open(&empty, None, &Seeded::new(1)).map(drop);
    assert_eq!(opened, Err(Trouble::NoRepository), "a volume that is not mounted is not empty");
}

#[test]
fn sizes_are_those_of_the_data_and_of_the_store() {
    for (sealing, keys) in sealings() {
        let memory = store(sealing, keys.clone());
        let random = Seeded::new(1);
        let vault = Vault::open(&memory, keys, &random).unwrap();
        let (sending, expected) = taken(&vault, &[1]);
        sending.finish(&vault).unwrap();
        let catalog = palladion_backup::catalog::Catalog::read(&vault).unwrap();
        let (ring, _) = catalog.complete(&id("a")).unwrap();
        let files = expected.iter().filter(|(name, _)| name.as_str() != "schema.cql");
        assert_eq!(ring.bytes(), files.map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
        let objects = memory.names().into_iter().filter(|name| name.starts_with(names::SSTABLES));
        let stored = objects.map(|name| memory.bytes(&name).unwrap().len() as u64).sum::<u64>();
        assert_eq!(ring.stored_bytes(), stored);
        assert_eq!(ring.stored_bytes() > ring.bytes(), sealing == Sealing::Sealed);
    }
}

/// One of a thousand, beginning with this one, is read when a backup of these members is finished.
fn finished(vault: &Vault<'_>, sending: &Sending, first: u64) -> Result<(), Trouble> {
    let ring: Vec<u8> = (1..=sending.sent.len() as u8).collect();
    let order = sending.order(&ring, Depth::Sample { of: 1000, first });
    palladion_backup::finish::finish(vault, &order).map(drop)
}

#[test]
fn a_sample_reads_of_every_member_whichever_is_the_first() {
    for (rotten, first) in [(1, 0), (1, 700), (2, 0), (2, 700), (3, 999)] {
        let memory = store(Sealing::Plain, None);
        let random = Seeded::new(1);
        let vault = open(&memory, &random);
        let mut sending = Sending::new(&vault, "a").unwrap();
        for number in [1, 2, 3] {
            let files = Files::small(number, &[1]);
            sending.send(&vault, number, &files, None).unwrap();
        }
        for object in memory.list(&host(rotten).files()).unwrap() {
            memory.damage(&object.name, |bytes| bytes[0] ^= 1);
        }
        let said = finished(&vault, &sending, first);
        assert!(
            matches!(&said, Err(Trouble::Object { wrong: Wrong::Hash, .. })),
            "member {rotten}, beginning with {first}: {said:?}"
        );
    }
}

#[test]
fn a_sample_reads_some_of_what_was_taken_over() {
    let memory = store(Sealing::Plain, None);
    let random = Seeded::new(1);
    let vault = open(&memory, &random);
    let old: Vec<u32> = (1..=20).collect();
    back_up(&vault, "a", &old);
    memory.advance(DAY);
    let mut sending = Sending::new(&vault, "b").unwrap();
    sending.window = Window { from: START + DAY, to: START + DAY + 60 };
    for number in [1, 2] {
        let (before, _) =
            read_unchecked(&vault, &id("a").member(&host(number), 1)).unwrap().unwrap();
        let mut files = Files::small(number, &old);
        files.0.extend(Files::small(number, &[21]).0);
        sending.send(&vault, number, &files, Some(&before)).unwrap();
    }
    finished(&vault, &sending, 999).unwrap();
    let read = verify(&vault, &id("b"), Depth::Sample { of: 1000, first: 999 }).unwrap().read;
    // The schema, one of each member, and those.
    assert_eq!(read, 1 + 2 + palladion_backup::verify::REUSED);
    // Of a backup of which all is new none is read beside the sample.
    let read = verify(&vault, &id("a"), Depth::Sample { of: 1000, first: 999 }).unwrap().read;
    assert_eq!(read, 1 + 2);
    // Each of them is read by one backup or another.
    let rotten = &memory.list(&host(2).files()).unwrap()[7].name;
    memory.damage(rotten, |bytes| bytes[0] ^= 1);
    let seen = |first: &u64| {
        let depth = Depth::Sample { of: 1000, first: 900 + first };
        !verify(&vault, &id("b"), depth).unwrap().damaged.is_empty()
    };
    let times = (0..40).filter(seen).count();
    assert!((5..40).contains(&times), "{times} of 40");
}

#[test]
fn a_backup_without_a_member_says_so_and_is_complete_only_by_a_majority_of_each_range() {
    let memory = store(Sealing::Plain, None);
    let random = Seeded::new(5);
    let vault = Vault::open(&memory, None, &random).unwrap();
    let mut sending = Sending::new(&vault, "part").unwrap();
    for number in [1, 2] {
        sending.send(&vault, number, &Files::small(number, &[1]), None).unwrap();
    }
    let replicas = |keyspace: &str, numbers: &[u8]| Replicas {
        keyspace: keyspace.into(),
        hosts: numbers.iter().map(|number| host(*number)).collect(),
    };
    let left_out = LeftOut {
        host: host(3),
        datacenter: "dc1".into(),
        rack: "c".into(),
        version: "5.0.5".into(),
        tokens: vec!["3".into()],
    };
    let order = |ranges: Vec<Replicas>| finish::Order {
        coverage: Coverage::QuorumOfEachRange(ranges),
        left_out: vec![left_out.clone()],
        ..sending.order(&[1, 2], Depth::Read)
    };
    let short = order(vec![replicas("shop", &[1, 2, 3]), replicas("logs", &[3])]);
    let why = finish::finish(&vault, &short).unwrap_err().to_string();
    assert!(why.contains("keyspace logs"), "{why}");
    finish::finish(&vault, &order(vec![replicas("shop", &[1, 2, 3])])).unwrap();
    let (ring, hash) = palladion_backup::catalog::one(&vault, &sending.id).unwrap();
    assert_eq!((ring.members.len(), &ring.left_out), (2, &vec![left_out.clone()]));
    let looked = palladion_backup::verify::verify(&vault, &sending.id, Depth::Sizes).unwrap();
    let [notice] = &looked.notices[..] else { panic!("{looked:?}") };
    assert!(notice.to_string().contains(host(3).as_str()), "{notice}");
    let folder = Folder::default();
    let fetched = fetch(&vault, (&sending.id, &Filter::default()), &folder).unwrap();
    assert_eq!(fetched.notices, looked.notices);
    // Another member finishes it once more, when another version runs and the place is taken.
    let by = |tokens: &str| {
        let out = LeftOut { host: host(4), version: "5.0.6".into(), ..left_out.clone() };
        let out = LeftOut { tokens: vec![tokens.into()], ..out };
        let order = order(vec![replicas("shop", &[1, 2, 3])]);
        finish::finish(&vault, &finish::Order { left_out: vec![out], ..order })
    };
    assert_eq!(by("3").unwrap(), hash);
    assert!(matches!(by("4"), Err(Trouble::OtherOutcome { .. })), "it leaves out another place");
    // One that leaves nobody out is read by versions that do not know of it.
    let whole = back_up(&vault, "whole", &[1]);
    let plain = vault.read(&whole.id.outcome()).unwrap().unwrap();
    assert!(!String::from_utf8(plain).unwrap().contains("leftOut"));
}
