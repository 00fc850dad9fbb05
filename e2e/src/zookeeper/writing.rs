//! A client that writes all the time, now through one server and now through the next,
//! and notes what was acknowledged: none of it may be missing afterwards.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use super::{Client, Ensemble};
use crate::bed::bed;

/// Where the nodes are.
const FOLDER: &str = "/written";
/// Then it goes on through the next server, in a session of its own.
const BEFORE_NEXT: usize = 100;
/// Between two nodes: some hundred a second, on a machine that does more than this.
const PAUSE: Duration = Duration::from_millis(3);

/// A client that writes.
#[derive(Debug)]
pub struct Writing {
    ports: Arc<Mutex<Vec<u16>>>,
    ends: Arc<AtomicBool>,
    thread: JoinHandle<Written>,
}

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    /// Nodes that a server said are there.
    pub acknowledged: BTreeSet<String>,
    /// The longest time without one.
    pub longest_gap: Duration,
}

impl Writing {
    /// Begin, through all servers that are members of record now.
    ///
    /// # Errors
    /// They do not take the first node.
    pub fn begin(ensemble: &Ensemble) -> Result<Self> {
        let ports = forwarded(&ensemble.addresses())?;
        let first = *ports.first().context("no server is a member of record")?;
        Client::open(first)?.create(FOLDER, "")?;
        let ports = Arc::new(Mutex::new(ports));
        let ends = Arc::new(AtomicBool::new(false));
        let thread = {
            let (ports, ends) = (Arc::clone(&ports), Arc::clone(&ends));
            thread::spawn(move || write(&ports, &ends))
        };
        Ok(Self { ports, ends, thread })
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

    /// End, and look that each of the members of record has all that was acknowledged.
    ///
    /// # Errors
    /// Something is missing.
    pub fn end(self, ensemble: &Ensemble) -> Result<Written> {
        self.ends.store(true, Ordering::Relaxed);
        let written = self.thread.join().map_err(|_| anyhow!("the writer broke"))?;
        for address in ensemble.addresses() {
            let port = bed().cluster.forward(address)?;
            let found = Client::open(port)?.children(FOLDER)?;
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

fn write(ports: &Mutex<Vec<u16>>, ends: &AtomicBool) -> Written {
    let (mut written, mut last) = (Written::default(), Instant::now());
    let (mut number, mut turn) = (0_usize, 0_usize);
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
            let name = format!("{number:08}");
            if ends.load(Ordering::Relaxed)
                || client.create(&format!("{FOLDER}/{name}"), "").is_err()
            {
                break;
            }
            written.acknowledged.insert(name);
            written.longest_gap = written.longest_gap.max(last.elapsed());
            (last, number) = (Instant::now(), number + 1);
            thread::sleep(PAUSE);
        }
        client.close();
    }
    written
}
