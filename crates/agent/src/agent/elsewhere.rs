//! Seeds in other datacenters are looked up beside the loop: their names, and, while a
//! start waits for one, which of them answers.

use super::state::{Agent, Done};
use crate::decide::elsewhere::Elsewhere;
use crate::decide::{Process, Source};
use palladion_api::ids::{SeedAddress, StaticAddress};
use palladion_api::labels::ports;
use std::net::IpAddr;
use std::time::{Duration, Instant};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// Names are resolved again so often: whom a server lists does not change by the minute.
const EVERY: Duration = Duration::from_secs(60);
/// While a start waits for a seed that answers.
const EVERY_START: Duration = Duration::from_secs(5);
/// For one name, and for one connection.
const PATIENCE: Duration = Duration::from_secs(2);
/// An answer counts for this long: a start follows at once.
const ANSWER_LIFE: Duration = Duration::from_secs(15);
/// Most addresses that are tried before the next look.
const MOST_TRIED: usize = 32;

/// What is known of them.
#[derive(Default)]
pub struct Held {
    /// What was looked up, and when.
    found: Option<(Vec<SeedAddress>, Elsewhere, Instant)>,
    /// When that was begun last, and for what.
    begun: Option<(Vec<SeedAddress>, Instant)>,
    is_under_way: bool,
}

/// Is a connection tried?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Try {
    Connections,
    Nothing,
}

impl Agent {
    /// Look them up, if it is time to.
    pub(super) fn look_elsewhere(&mut self) {
        let Some(saved) = self.saved.as_ref().filter(|s| !s.spec.external_seeds.is_empty()) else {
            return;
        };
        // Only a live permit starts a server on an empty volume.
        let has_permit = saved.spec.start.is_some() && self.source() == Source::Live;
        let (every, tries) = match (&self.process, has_permit) {
            (Process::Absent, true) => (EVERY_START, Try::Connections),
            (Process::Running, _) => (EVERY, Try::Nothing),
            (Process::Absent | Process::Unknown(_), _) => return,
        };
        let seeds = saved.spec.external_seeds.clone();
        let is_due = self
            .external
            .begun
            .as_ref()
            .is_none_or(|(of, at)| *of != seeds || at.elapsed() >= every);
        if !is_due || self.external.is_under_way {
            return;
        }
        (self.external.begun, self.external.is_under_way) =
            (Some((seeds.clone(), Instant::now())), true);
        let own: Vec<IpAddr> = saved
            .spec
            .address
            .iter()
            .filter_map(|address| address.as_str().parse().ok())
            .chain([self.settings.pod_ip])
            .collect();
        let done = self.done.clone();
        tokio::spawn(async move {
            let found = look(&seeds, &own, tries).await;
            let _ = done.send(Done::Elsewhere { of: seeds, found }).await;
        });
    }

    /// Note what was found.
    pub(super) fn note_elsewhere(&mut self, of: Vec<SeedAddress>, found: Elsewhere) {
        self.external.is_under_way = false;
        self.external.found = Some((of, found, Instant::now()));
    }

    /// What is known of the seeds that the spec names now.
    pub(super) fn elsewhere(&self) -> Elsewhere {
        let seeds = self.saved.as_ref().map(|saved| &saved.spec.external_seeds);
        let Some((_, found, at)) = self.external.found.as_ref().filter(|f| Some(&f.0) == seeds)
        else {
            // Nothing was resolved yet: who is listed stays.
            let unresolved = seeds.into_iter().flatten().cloned().collect();
            return Elsewhere { unresolved, ..Elsewhere::default() };
        };
        let mut found = found.clone();
        if at.elapsed() >= ANSWER_LIFE {
            found.answers = None;
        }
        found
    }
}

async fn look(seeds: &[SeedAddress], own: &[IpAddr], tries: Try) -> Elsewhere {
    let mut found = Elsewhere::default();
    let mut addresses: Vec<IpAddr> = Vec::new();
    for seed in seeds {
        let mut of_seed = resolve(seed).await;
        if of_seed.is_empty() {
            found.unresolved.insert(seed.clone());
        }
        of_seed.sort();
        of_seed.retain(|address| !own.contains(address) && !addresses.contains(address));
        addresses.extend(of_seed);
    }
    if tries == Try::Connections {
        let tried = addresses.iter().take(MOST_TRIED).map(|address| async move {
            let there = (*address, internode());
            matches!(timeout(PATIENCE, TcpStream::connect(there)).await, Ok(Ok(_)))
        });
        let answers = futures::future::join_all(tried).await;
        let first = addresses.iter().zip(answers).find(|(_, answers)| *answers);
        found.answers = first.map(|(address, _)| StaticAddress::new(address.to_string()));
    }
    let all = addresses.into_iter().map(|address| StaticAddress::new(address.to_string()));
    found.addresses = all.collect();
    found
}

/// All addresses of a name; an address is its own.
async fn resolve(seed: &SeedAddress) -> Vec<IpAddr> {
    if let Ok(address) = seed.as_str().parse() {
        return vec![address];
    }
    match timeout(PATIENCE, lookup_host((seed.as_str(), internode()))).await {
        Ok(Ok(found)) => found.map(|socket| socket.ip()).collect(),
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}

fn internode() -> u16 {
    u16::try_from(ports::INTERNODE).expect("should be a port")
}
