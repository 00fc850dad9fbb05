//! A store that counts what goes through it, says how far it is, and waits so as
//! not to be faster than it may.

use crate::tell::{Line, Progress, say};
use palladion_backup::store::{Created, Failure, Meta, Store, Undeleted};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// So often it says how far it is.
const SAYS: Duration = Duration::from_secs(1);
/// A wait is cut into such parts, so that a new rate counts soon.
const PART: Duration = Duration::from_millis(200);

/// Bytes a second; none is as fast as it goes.
#[derive(Clone, Debug)]
pub struct Rate(Arc<AtomicU64>);

impl Rate {
    /// A rate that may change.
    pub fn new(bytes_per_second: Option<u64>) -> Self {
        let rate = Self(Arc::default());
        rate.set(bytes_per_second);
        rate
    }

    /// From now on.
    pub fn set(&self, bytes_per_second: Option<u64>) {
        self.0.store(bytes_per_second.map_or(0, |rate| rate.max(1)), Ordering::Relaxed);
    }

    fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|rate| *rate > 0)
    }
}

/// See the module.
pub struct Metered<'a> {
    store: Box<dyn Store + 'a>,
    rate: Rate,
    progress: Cell<Progress>,
    said: RefCell<Instant>,
}

impl<'a> Metered<'a> {
    /// Around a store.
    pub fn new(store: Box<dyn Store + 'a>, rate: Rate) -> Self {
        let said = RefCell::new(Instant::now());
        Self { store, rate, progress: Cell::default(), said }
    }

    /// Count something, and say it if it is time.
    pub fn count(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = self.progress.get();
        change(&mut progress);
        self.progress.set(progress);
        let mut said = self.said.borrow_mut();
        if said.elapsed() >= SAYS {
            *said = Instant::now();
            say(&Line::Progress(progress));
        }
    }

    /// Say it now.
    pub fn tell(&self) {
        say(&Line::Progress(self.progress.get()));
    }

    /// So many bytes have gone since `begun`: wait until that is no faster than it may be.
    fn wait(&self, bytes: u64, begun: Instant) {
        while let Some(rate) = self.rate.get() {
            let needs = Duration::from_secs_f64(bytes as f64 / rate as f64);
            match needs.checked_sub(begun.elapsed()) {
                Some(left) if !left.is_zero() => self.pause(left.min(PART)),
                Some(_) | None => break,
            }
        }
    }

    /// Said while it lasts: whoever sets the rate learns by it that it is in the way.
    fn pause(&self, part: Duration) {
        let begun = Instant::now();
        std::thread::sleep(part);
        let waited = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.count(|progress| progress.throttled_milliseconds += waited);
    }
}

impl Store for Metered<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        let begun = Instant::now();
        let put = self.store.put_if_absent(name, bytes);
        let sent = bytes.len() as u64;
        self.count(|progress| progress.sent_bytes += sent);
        self.wait(sent, begun);
        put
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let begun = Instant::now();
        let got = self.store.get(name);
        if let Ok(Some(bytes)) = &got {
            let read = bytes.len() as u64;
            self.count(|progress| progress.read_bytes += read);
            self.wait(read, begun);
        }
        got
    }

    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        self.store.head(name)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        self.store.list(prefix)
    }

    fn after(&self, folder: &str, after: &str, most: usize) -> Result<Vec<Meta>, Failure> {
        self.store.after(folder, after, most)
    }

    fn folders(&self, folder: &str) -> Result<Vec<String>, Failure> {
        self.store.folders(folder)
    }

    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        self.store.delete(name)
    }

    fn now(&self) -> Result<i64, Failure> {
        self.store.now()
    }
}
