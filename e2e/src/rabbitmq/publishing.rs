//! A client that publishes all the time, now through one node and now through the next,
//! and notes what was confirmed: none of it may be missing afterwards.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use super::{Client, Cluster, User};
use crate::bed::wait_for;
use crate::service::name_of_a_writer;

/// Where the messages are.
const QUEUE: &str = "published";
/// Then it goes on through the next node, with a connection of its own.
const BEFORE_NEXT: usize = 100;
/// A cluster whose nodes have all been killed takes so long to confirm a message again.
const CONFIRMED_IN: Duration = Duration::from_secs(60);
/// Between two messages.
const PAUSE: Duration = Duration::from_millis(5);

/// A client that publishes.
#[derive(Debug)]
pub struct Publishing {
    nodes: Arc<Mutex<Vec<SocketAddr>>>,
    ends: Arc<AtomicBool>,
    confirmed: Arc<AtomicUsize>,
    thread: JoinHandle<Published>,
}

/// What was published.
#[derive(Debug, Default)]
pub struct Published {
    /// Messages that a node said are safe.
    pub confirmed: BTreeSet<String>,
    /// The longest time without one.
    pub longest_gap: Duration,
    /// From the first to the last.
    pub took: Duration,
}

impl Display for Published {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let count = u32::try_from(self.confirmed.len()).unwrap_or(u32::MAX);
        let (took, gap) = (self.took.as_secs_f64(), self.longest_gap.as_secs_f64());
        let per_second = f64::from(count) / took.max(1.0);
        write!(
            f,
            "{count} messages confirmed in {took:.1} s, none missing: {per_second:.0} a second, the longest gap {gap:.2} s"
        )
    }
}

impl Publishing {
    /// Begin, through all nodes that are members of record now.
    ///
    /// # Errors
    /// They do not take the queue.
    pub fn begin(cluster: &Cluster) -> Result<Self> {
        let user = cluster.user()?;
        let nodes = cluster.forwarded()?;
        let first = *nodes.first().context("no node is a member of record")?;
        Client::open(first, user.login())?.queue(QUEUE, "quorum")?;
        let nodes = Arc::new(Mutex::new(nodes));
        let ends = Arc::new(AtomicBool::new(false));
        let confirmed = Arc::new(AtomicUsize::new(0));
        let publisher = Publisher {
            name: name_of_a_writer(),
            nodes: Arc::clone(&nodes),
            ends: Arc::clone(&ends),
            confirmed: Arc::clone(&confirmed),
            user,
        };
        let thread = thread::spawn(move || publisher.publish());
        Ok(Self { nodes, ends, confirmed, thread })
    }

    /// Go on through all nodes that are members of record now.
    ///
    /// # Errors
    /// The testbed does not let one be reached.
    pub fn follow(&self, cluster: &Cluster) -> Result<()> {
        let nodes = cluster.forwarded()?;
        *self.nodes.lock().unwrap_or_else(PoisonError::into_inner) = nodes;
        Ok(())
    }

    /// Wait until so many more messages were confirmed.
    ///
    /// # Errors
    /// They are not.
    pub fn wait_confirmed(&self, more: usize) -> Result<()> {
        let wanted = self.confirmed.load(Ordering::Relaxed) + more;
        wait_for(&format!("{more} messages to be confirmed"), CONFIRMED_IN, || {
            Ok((self.confirmed.load(Ordering::Relaxed) >= wanted).then_some(()))
        })
    }

    /// End, and look that those that were confirmed are on each replica of the queue.
    ///
    /// # Errors
    /// Something is missing.
    pub fn end(self, cluster: &Cluster) -> Result<Published> {
        self.ends.store(true, Ordering::Relaxed);
        let published = self.thread.join().map_err(|_| anyhow!("the publisher broke"))?;
        cluster.has_all(QUEUE, &published.confirmed)?;
        Ok(published)
    }
}

/// The same port of the host's loopback.
pub(super) fn here(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Who publishes.
struct Publisher {
    /// What its messages begin with.
    name: String,
    nodes: Arc<Mutex<Vec<SocketAddr>>>,
    ends: Arc<AtomicBool>,
    confirmed: Arc<AtomicUsize>,
    user: User,
}

impl Publisher {
    fn publish(&self) -> Published {
        let (mut published, began) = (Published::default(), Instant::now());
        let mut last = began;
        let (mut number, mut turn) = (0_usize, 0_usize);
        while !self.ends.load(Ordering::Relaxed) {
            let all = self.nodes.lock().unwrap_or_else(PoisonError::into_inner).clone();
            turn += 1;
            let Some(node) = all.get(turn % all.len().max(1)) else { break };
            // One that is drained, leaving or starting takes no clients, and the next one does.
            let Ok(mut client) = Client::open(*node, self.user.login()) else {
                thread::sleep(PAUSE);
                continue;
            };
            for _ in 0..BEFORE_NEXT {
                number += 1;
                let message = format!("{}-{number:08}", self.name);
                if self.ends.load(Ordering::Relaxed) || client.publish(QUEUE, &message).is_err() {
                    break;
                }
                published.confirmed.insert(message);
                self.confirmed.store(published.confirmed.len(), Ordering::Relaxed);
                published.longest_gap = published.longest_gap.max(last.elapsed());
                last = Instant::now();
                published.took = began.elapsed();
                thread::sleep(PAUSE);
            }
        }
        published
    }
}
