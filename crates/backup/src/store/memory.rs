//! A store in memory, for tests: its clock stands until it is moved, faults are
//! drawn from a seed, and a caller can be frozen in the middle of its work.

use super::{Created, Failure, Meta, Store, Undeleted};
use crate::Random;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// A store that does all that it is asked for, at once.
#[derive(Debug, Default)]
pub struct Memory {
    objects: RefCell<BTreeMap<String, (Vec<u8>, i64)>>,
    clock: Cell<i64>,
    deleted: RefCell<Vec<(Meta, i64)>>,
}

impl Memory {
    /// Empty, at some time.
    pub fn at(now: i64) -> Self {
        let memory = Self::default();
        memory.clock.set(now);
        memory
    }

    /// Move the clock.
    pub fn advance(&self, seconds: i64) {
        self.clock.set(self.clock.get() + seconds);
    }

    /// The names of all objects.
    pub fn names(&self) -> BTreeSet<String> {
        self.objects.borrow().keys().cloned().collect()
    }

    /// The bytes of an object.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.objects.borrow().get(name).map(|(bytes, _)| bytes.clone())
    }

    /// Change an object behind everybody's back.
    pub fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut objects = self.objects.borrow_mut();
        let (bytes, _) = objects.get_mut(name).expect("there should be such an object");
        change(bytes);
    }

    /// What was deleted.
    pub fn deleted(&self) -> Vec<String> {
        self.deleted.borrow().iter().map(|(meta, _)| meta.name.clone()).collect()
    }
}

impl Store for Memory {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        let mut objects = self.objects.borrow_mut();
        if objects.contains_key(name) {
            return Ok(Created::Before);
        }
        objects.insert(name.to_string(), (bytes.to_vec(), self.clock.get()));
        Ok(Created::Now)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.bytes(name))
    }

    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        let objects = self.objects.borrow();
        Ok(objects.get(name).map(|(bytes, modified)| meta(name, bytes.len(), *modified)))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        let objects = self.objects.borrow();
        let all = objects.iter().filter(|(name, _)| name.starts_with(prefix));
        Ok(all.map(|(name, (bytes, modified))| meta(name, bytes.len(), *modified)).collect())
    }

    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        if let Some((bytes, modified)) = self.objects.borrow_mut().remove(name) {
            let meta = meta(name, bytes.len(), modified);
            self.deleted.borrow_mut().push((meta, self.clock.get()));
        }
        Ok(())
    }

    fn now(&self) -> Result<i64, Failure> {
        Ok(self.clock.get())
    }
}

fn meta(name: &str, bytes: usize, modified: i64) -> Meta {
    Meta { name: name.to_string(), bytes: bytes as u64, modified }
}

/// Numbers that look random, and are the same for the same seed.
#[derive(Debug)]
pub struct Seeded(Cell<u64>);

impl Seeded {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        let next = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Random for Seeded {
    fn bytes(&self) -> [u8; 32] {
        let mut all = [0; 32];
        for part in all.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes());
        }
        all
    }
}

/// How long a list lags behind.
pub const LAG: i64 = 3600;

/// A store that fails: of so many requests one, as the seed has it. A request
/// fails before or after it was carried out; a list shows what was deleted
/// within the last hour, and lacks what was written since.
pub struct Faulty<'a> {
    memory: &'a Memory,
    seed: Seeded,
    one_in: u64,
}

impl<'a> Faulty<'a> {
    /// Of `one_in` requests one fails; none if it is 0.
    pub fn new(memory: &'a Memory, seed: u64, one_in: u64) -> Self {
        Self { memory, seed: Seeded::new(seed), one_in }
    }

    fn fails(&self) -> bool {
        self.one_in > 0 && self.seed.next().is_multiple_of(self.one_in)
    }

    fn before(&self) -> Result<(), Failure> {
        if self.fails() { Err(Failure("503, before".into())) } else { Ok(()) }
    }

    fn after<T>(&self, answer: T) -> Result<T, Failure> {
        if self.fails() { Err(Failure("the answer was lost".into())) } else { Ok(answer) }
    }
}

impl Store for Faulty<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        self.before()?;
        // Torn: what some stores leave behind when a request breaks off.
        if self.fails() && name.starts_with("sstables/") {
            self.memory.put_if_absent(name, &bytes[..bytes.len() / 2])?;
            return Err(Failure("broken off".into()));
        }
        let created = self.memory.put_if_absent(name, bytes)?;
        self.after(created)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.before()?;
        self.memory.get(name)
    }

    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        self.before()?;
        self.memory.head(name)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        self.before()?;
        let now = self.memory.clock.get();
        let lags = self.fails();
        let mut all = self.memory.list(prefix)?;
        all.retain(|meta| !(lags && now - meta.modified < LAG));
        let there: BTreeSet<String> = all.iter().map(|meta| meta.name.clone()).collect();
        let deleted = self.memory.deleted.borrow();
        let still = deleted.iter().filter(|(meta, at)| {
            lags && now - at < LAG && meta.name.starts_with(prefix) && !there.contains(&meta.name)
        });
        all.extend(still.map(|(meta, _)| meta.clone()));
        all.sort();
        Ok(all)
    }

    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        self.before()?;
        self.memory.delete(name)?;
        Ok(self.after(())?)
    }

    fn now(&self) -> Result<i64, Failure> {
        self.memory.now()
    }
}

/// What happens while a caller is frozen.
type Meanwhile<'a> = Box<dyn FnOnce() + 'a>;

/// A store whose caller is frozen before one of its requests: everything else
/// happens meanwhile, and then it goes on as if nothing had been.
pub struct Frozen<'a> {
    store: &'a dyn Store,
    left: Cell<u32>,
    meanwhile: RefCell<Option<Meanwhile<'a>>>,
}

impl<'a> Frozen<'a> {
    /// Before the request after so many others.
    pub fn new(store: &'a dyn Store, after: u32, meanwhile: impl FnOnce() + 'a) -> Self {
        let meanwhile: Meanwhile<'a> = Box::new(meanwhile);
        Self { store, left: Cell::new(after), meanwhile: RefCell::new(Some(meanwhile)) }
    }

    fn request(&self) -> &dyn Store {
        match self.left.get() {
            0 => {
                let meanwhile = self.meanwhile.borrow_mut().take();
                if let Some(meanwhile) = meanwhile {
                    meanwhile();
                }
            }
            left => self.left.set(left - 1),
        }
        self.store
    }

    /// The caller has ended; what has not happened yet happens now.
    pub fn thaw(&self) {
        self.left.set(0);
        self.request();
    }
}

impl Store for Frozen<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        self.request().put_if_absent(name, bytes)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.request().get(name)
    }

    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        self.request().head(name)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        self.request().list(prefix)
    }

    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        self.request().delete(name)
    }

    fn now(&self) -> Result<i64, Failure> {
        self.request().now()
    }
}
