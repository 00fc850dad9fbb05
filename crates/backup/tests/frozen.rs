//! Whatever runs beside whatever, and whoever is frozen in the middle for
//! however long: nothing that a complete backup names is ever deleted, and the
//! backups that must stay do. Each process has a store that fails by a seed.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::catalog::{Catalog, State};
use palladion_backup::fetch::{Filter, Sink, Target, fetch};
use palladion_backup::hash::Hash;
use palladion_backup::manifest::ring::read_unchecked;
use palladion_backup::names::BackupId;
use palladion_backup::pins::COUNTS_FOR;
use palladion_backup::store::Store;
use palladion_backup::store::memory::{Faulty, Frozen, Memory, Seeded};
use palladion_backup::verify::{Depth, verify};
use palladion_backup::{HOUR, Trouble, expire as mark, sweep};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use support::*;

/// What one process does.
#[derive(Clone, Debug)]
enum Act {
    /// Take a backup of these SSTables and finish it.
    BackUp(u8),
    /// Send what one needs, and never finish.
    Abandon(u8),
    /// Condemn the backups of these numbers.
    Expire(u8),
    /// Delete what is condemned.
    Sweep,
    /// Read one of the backups, as a restore does: pinned first.
    Fetch(u8),
    /// Time goes by.
    Wait(u8),
}

/// An act, and how long its process is frozen, before which request.
#[derive(Clone, Debug)]
struct Step {
    act: Act,
    frozen: Option<(u32, usize)>,
    seed: u64,
}

struct World {
    memory: Memory,
    one_in: u64,
    count: Cell<u32>,
    /// Backups that were said to be complete.
    told: RefCell<BTreeSet<String>>,
    swept: Cell<u64>,
    /// What is being read, each with the time of its pin, and what must be there meanwhile.
    readers: RefCell<BTreeMap<u32, (i64, Vec<String>)>>,
    fetched: Cell<u64>,
}

/// Where a reader brings what it reads: from its first file on, it has found that it may.
struct Reading<'a>(&'a World, BackupId, u32);

impl Target for Reading<'_> {
    fn has(&self, _: &str, _: u64, _: &Hash) -> Result<bool, String> {
        self.0.begin_reading(&self.1, self.2);
        Ok(false)
    }
    fn begin(&self, _: &str) -> Result<Box<dyn Sink>, String> {
        Ok(Box::new(Nothing))
    }
}

struct Nothing;

impl Sink for Nothing {
    fn write(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
    fn commit(self: Box<Self>) -> Result<(), String> {
        Ok(())
    }
}

impl World {
    fn new(one_in: u64) -> Self {
        let (count, told, swept) = (Cell::new(0), RefCell::default(), Cell::new(0));
        let (readers, fetched) = (RefCell::default(), Cell::new(0));
        Self { memory: memory(), one_in, count, told, swept, readers, fetched }
    }

    /// The steps, each frozen while some of the following happen.
    fn run(&self, steps: &[Step]) {
        let Some((first, rest)) = steps.split_first() else { return };
        let faulty = Faulty::new(&self.memory, first.seed, self.one_in);
        let (at, within) = first.frozen.unwrap_or((0, 0));
        let (inner, outer) = rest.split_at(within.min(rest.len()));
        let frozen = Frozen::new(&faulty, at, || self.run(inner));
        let random = Seeded::new(first.seed ^ 0x5555);
        if let Ok(vault) = palladion_backup::vault::Vault::open(&frozen, None, &random) {
            // That it fails is not of interest, only what it leaves behind.
            let _ = self.act(&vault, &first.act);
        }
        frozen.thaw();
        drop(frozen);
        self.check();
        self.run(outer);
    }

    fn act(&self, vault: &palladion_backup::vault::Vault<'_>, act: &Act) -> Result<(), Trouble> {
        match act {
            Act::BackUp(bits) => {
                let sending = self.send(vault, *bits)?;
                let order = sending.order(&[1, 2], Depth::Sizes);
                palladion_backup::finish::finish(vault, &order)?;
                self.told.borrow_mut().insert(sending.id.to_string());
            }
            Act::Abandon(bits) => drop(self.send(vault, *bits)?),
            Act::Expire(bits) => {
                let catalog = Catalog::read(vault)?;
                let open = catalog.backups.iter().filter(|(_, b)| b.condemned.is_none());
                let named = open.enumerate().filter(|(at, _)| bits >> (at % 8) & 1 == 1);
                let backups = named.map(|(_, (id, _))| id.clone()).collect();
                let plan = mark::plan(vault, &mark::Order { backups, keep: 1 })?;
                mark::carry_out(vault, &plan)?;
            }
            Act::Sweep => {
                let plan = sweep::plan(vault)?;
                let swept = sweep::carry_out(vault, &plan)?;
                self.swept.set(self.swept.get() + swept.objects);
            }
            Act::Fetch(bits) => {
                let catalog = Catalog::read(vault)?;
                let all: Vec<_> =
                    catalog.backups.iter().filter(|(_, b)| b.is_kept_complete()).collect();
                let Some((id, _)) = all.get(usize::from(*bits) % all.len().max(1)) else {
                    return Ok(());
                };
                let number = self.count.get();
                self.count.set(number + 1);
                let reading = Reading(self, (*id).clone(), number);
                let fetched = fetch(vault, (id, &Filter::default()), &reading);
                self.readers.borrow_mut().remove(&number);
                self.fetched.set(self.fetched.get() + u64::from(fetched.is_ok()));
            }
            Act::Wait(hours) => self.memory.advance(i64::from(*hours) * HOUR),
        }
        Ok(())
    }

    /// Files by number, some of them as in the backup before, which are named again.
    fn send(
        &self,
        vault: &palladion_backup::vault::Vault<'_>,
        bits: u8,
    ) -> Result<Sending, Trouble> {
        let number = self.count.get();
        self.count.set(number + 1);
        let sstables: Vec<u32> = (0..4).filter(|bit| bits >> bit & 1 == 1).collect();
        let catalog = Catalog::read(vault)?;
        let mut sending = Sending::new(vault, &format!("b{number:03}"))?;
        for member in [1, 2] {
            let all = catalog.backups.values().filter(|backup| backup.condemned.is_none());
            let names = all.flat_map(|backup| &backup.checkpoints);
            let mut names = names.filter(|(of, _, _)| *of == host(member)).map(|(_, _, m)| &m.name);
            let earlier =
                names.next_back().and_then(|name| read_unchecked(vault, name).ok().flatten());
            let earlier = earlier.map(|(manifest, _)| manifest);
            sending.send(vault, member, &Files::small(member, &sstables), earlier.as_ref())?;
        }
        Ok(sending)
    }

    /// Its pin is the oldest that is there: others count for longer.
    fn begin_reading(&self, id: &BackupId, number: u32) {
        let pins = self.memory.list(&id.pins()).unwrap();
        let Some(since) = pins.iter().map(|pin| pin.modified).min() else { return };
        let random = Seeded::new(98);
        let vault = open(&self.memory, &random);
        let State::Complete { ring, .. } = palladion_backup::catalog::state(&vault, id) else {
            return;
        };
        let mut names = vec![id.outcome(), ring.schema.object.clone()];
        for member in &ring.members {
            names.push(member.manifest.clone());
            let manifest = palladion_backup::manifest::ring::read(&vault, &ring, member).unwrap();
            names.extend(manifest.objects().into_iter().map(str::to_string));
        }
        let mut readers = self.readers.borrow_mut();
        readers.entry(number).or_insert((since, names));
    }

    /// What must be true at any time.
    fn check(&self) {
        let random = Seeded::new(99);
        let vault = open(&self.memory, &random);
        let catalog = Catalog::read(&vault).unwrap();
        let kept = catalog.backups.iter().filter(|(_, backup)| backup.is_kept_complete());
        let kept: Vec<_> = kept.map(|(id, _)| id.clone()).collect();
        for id in &kept {
            let mut report = verify(&vault, id, Depth::Read).unwrap();
            // Condemned by an expiry that had slept: vetoed for as long as it is named.
            report.damaged.retain(|damage| {
                !matches!(damage.wrong, palladion_backup::words::trouble::Wrong::Condemned { .. })
            });
            assert_eq!(report.damaged, [], "{id} is complete, and kept");
        }
        let now = self.memory.now().unwrap();
        let read = self.readers.borrow();
        for (_, names) in read.values().filter(|(since, _)| now - since < COUNTS_FOR) {
            let gone: Vec<&String> =
                names.iter().filter(|name| self.memory.bytes(name).is_none()).collect();
            assert!(gone.is_empty(), "deleted under a reader: {gone:?}");
        }
        for told in self.told.borrow().iter() {
            let backup = catalog.backups.get(&id(told));
            let is_complete = backup.is_some_and(|b| matches!(b.state, State::Complete { .. }));
            let is_condemned = catalog.chain.of_backup(&id(told)).is_some();
            assert!(is_complete || is_condemned, "{told} was said to be complete: {backup:?}");
        }
        assert!(self.told.borrow().is_empty() || !kept.is_empty(), "no complete backup is left");
    }
}

fn step() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        4 => (1_u8..16).prop_map(Act::BackUp),
        1 => (1_u8..16).prop_map(Act::Abandon),
        4 => any::<u8>().prop_map(Act::Expire),
        4 => Just(Act::Sweep),
        2 => any::<u8>().prop_map(Act::Fetch),
        5 => (1_u8..80).prop_map(Act::Wait),
    ];
    let frozen = proptest::option::weighted(0.5, (0_u32..60, 1_usize..8));
    (act, frozen, any::<u64>()).prop_map(|(act, frozen, seed)| Step { act, frozen, seed })
}

fn rounds() -> u32 {
    std::env::var("PALLADION_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_a_complete_backup_names_is_ever_deleted(
        steps in proptest::collection::vec(step(), 4..40),
        one_in in prop_oneof![Just(0), 10_u64..60],
    ) {
        World::new(one_in).run(&steps);
    }
}

/// The test above can fail only if things are deleted in it at all.
#[test]
fn things_are_deleted_beside_what_is_frozen() {
    let step = |act, frozen| Step { act, frozen, seed: 7 };
    let world = World::new(0);
    world.run(&[
        step(Act::BackUp(3), None),
        step(Act::BackUp(6), Some((30, 3))),
        step(Act::Wait(60), None),
        step(Act::BackUp(12), None),
        step(Act::Wait(1), None),
        step(Act::Wait(79), None),
        step(Act::Wait(79), None),
        step(Act::Expire(1), None),
        step(Act::Wait(30), None),
        step(Act::Sweep, None),
    ]);
    assert!(world.swept.get() > 2, "{} were deleted", world.swept.get());
    assert_eq!(world.told.borrow().len(), 3);
}
