//! A client that writes all the time, now through one server and now through the next,
//! and notes what was acknowledged: none of it may be missing afterwards.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::{Client, Created, Ensemble};
use crate::bed::{bed, wait_for};
use crate::service::name_of_a_writer;

/// Then it goes on through the next server, in a session of its own.
const BEFORE_NEXT: usize = 100;
/// Between two nodes: some hundred a second, on a machine that does more than this.
const PAUSE: Duration = Duration::from_millis(3);
/// An ensemble whose servers have all been killed takes so long to acknowledge a write again.
const ACKNOWLEDGED_IN: Duration = Duration::from_secs(60);

/// Clients that write.
#[derive(Debug)]
pub struct Writing {
    /// Where the nodes are: nobody else has written there.
    folder: String,
    ports: Arc<Mutex<Vec<u16>>>,
    ends: Arc<AtomicBool>,
    noted: Arc<Mutex<Noted>>,
    began: Instant,
    threads: Vec<JoinHandle<()>>,
}

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    /// Nodes that a server said are there.
    pub acknowledged: BTreeSet<String>,
    /// The longest time without one.
    pub longest_gap: Duration,
    /// From the first to the last.
    pub took: Duration,
}

impl Written {
    /// Nodes in a second, pauses among them.
    pub fn per_second(&self) -> f64 {
        let count = u32::try_from(self.acknowledged.len()).unwrap_or(u32::MAX);
        f64::from(count) / self.took.as_secs_f64().max(1.0)
    }
}

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} nodes acknowledged in {:.1} s, none missing: {:.0} a second, the longest gap {:.2} s",
            self.acknowledged.len(),
            self.took.as_secs_f64(),
            self.per_second(),
            self.longest_gap.as_secs_f64()
        )
    }
}

/// What all sessions have written, and when the last node was acknowledged.
#[derive(Debug)]
struct Noted {
    written: Written,
    last: Instant,
    /// A node that was there before anybody had asked for it.
    unasked: Option<String>,
}

impl Noted {
    fn acknowledged(&mut self, name: String) {
        self.written.acknowledged.insert(name);
        self.written.longest_gap = self.written.longest_gap.max(self.last.elapsed());
        self.last = Instant::now();
    }
}

impl Writing {
    /// Begin, through all servers that are members of record now.
    ///
    /// # Errors
    /// They do not take the first node.
    pub fn begin(ensemble: &Ensemble) -> Result<Self> {
        Self::begin_in(ensemble, 1)
    }

    /// The same with so many sessions beside each other: one waits for the disk with each
    /// node that it writes.
    ///
    /// # Errors
    /// They do not take the first node.
    pub fn begin_in(ensemble: &Ensemble, sessions: usize) -> Result<Self> {
        let ports = forwarded(&ensemble.addresses())?;
        let first = *ports.first().context("no server is a member of record")?;
        let folder = format!("/written-{}", name_of_a_writer());
        ensure!(Client::open(first)?.create(&folder, "")? == Created::Now, "{folder} is there");
        let ports = Arc::new(Mutex::new(ports));
        let ends = Arc::new(AtomicBool::new(false));
        let began = Instant::now();
        let noted = Noted { written: Written::default(), last: began, unasked: None };
        let noted = Arc::new(Mutex::new(noted));
        let threads = (0..sessions).map(|session| {
            let (ports, ends) = (Arc::clone(&ports), Arc::clone(&ends));
            let (noted, folder) = (Arc::clone(&noted), folder.clone());
            thread::spawn(move || write((session, &folder), &ports, &ends, &noted))
        });
        let threads = threads.collect();
        Ok(Self { folder, ports, ends, noted, began, threads })
    }

    /// Go on through all servers that are members of record now.
    ///
    /// # Errors
    /// The testbed does not let one be reached.
    pub fn follow(&self, ensemble: &Ensemble) -> Result<()> {
        let ports = forwarded(&ensemble.addresses())?;
        *self.ports.lock().unwrap_or_else(PoisonError::into_inner) = ports;
        Ok(())
    }

    /// Wait until so many more nodes were acknowledged.
    ///
    /// # Errors
    /// They are not.
    pub fn wait_acknowledged(&self, more: usize) -> Result<()> {
        let count = || {
            let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.written.acknowledged.len()
        };
        let wanted = count() + more;
        wait_for(&format!("{more} nodes to be acknowledged"), ACKNOWLEDGED_IN, || {
            Ok((count() >= wanted).then_some(()))
        })
    }

    /// End, and look that each of the members of record has all that was acknowledged.
    ///
    /// # Errors
    /// Something is missing.
    pub fn end(self, ensemble: &Ensemble) -> Result<Written> {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().map_err(|_| anyhow!("a writer broke"))?;
        }
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = &noted.unasked {
            bail!("{node} was there before anybody had asked for it");
        }
        let took = noted.last.duration_since(self.began);
        let written = Written { took, ..std::mem::take(&mut noted.written) };
        for address in ensemble.addresses() {
            let port = bed().cluster.forward(address)?;
            let found = Client::open(port)?.children(&self.folder)?;
            let found: BTreeSet<String> = found.into_iter().collect();
            let lost: Vec<&String> = written.acknowledged.difference(&found).take(5).collect();
            ensure!(
                lost.is_empty(),
                "the server at {address} lacks nodes that were acknowledged: {lost:?}"
            );
        }
        Ok(written)
    }
}

fn forwarded(addresses: &[SocketAddrV4]) -> Result<Vec<u16>> {
    addresses.iter().map(|address| bed().cluster.forward(*address)).collect()
}

fn write(
    (session, folder): (usize, &str),
    ports: &Mutex<Vec<u16>>,
    ends: &AtomicBool,
    noted: &Mutex<Noted>,
) {
    let (mut number, mut turn) = (0_usize, session);
    // Whether the next node was asked for before, and nobody answered.
    let mut is_retry = false;
    while !ends.load(Ordering::Relaxed) {
        let all = ports.lock().unwrap_or_else(PoisonError::into_inner).clone();
        turn += 1;
        let Some(port) = all.get(turn % all.len().max(1)) else { break };
        // One that is leaving or starting grants no session, and the next one does.
        let Ok(mut client) = Client::open(*port) else {
            thread::sleep(PAUSE);
            continue;
        };
        for _ in 0..BEFORE_NEXT {
            if ends.load(Ordering::Relaxed) {
                break;
            }
            let name = format!("{session}-{number:07}");
            let Ok(created) = client.create(&format!("{folder}/{name}"), "") else {
                is_retry = true;
                break;
            };
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            match (created, is_retry) {
                (Created::Now, _) | (Created::Before, true) => noted.acknowledged(name),
                (Created::Before, false) => noted.unasked = Some(name),
            }
            drop(noted);
            (number, is_retry) = (number + 1, false);
            thread::sleep(PAUSE);
        }
        client.close();
    }
}
