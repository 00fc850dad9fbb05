//! Looks at the server: taken beside the loop, so that neither a server nor a disk that
//! hangs keeps the agent from answering the kubelet. A look writes nothing; a session,
//! which is a write, is opened only for a configuration that no session has shown yet.

use super::state::{Agent, Done, Looked};
use crate::decide::Process;
use crate::ensemble::Ensemble;
use crate::read::{Config, Reading, mntr};
use crate::volume::ledger::Membership;
use crate::volume::{Depth, Progress, Volume};
use crate::wire::four_letter::{self, Command};
use crate::wire::session::Limits;
use palladion_agent_core::look;
use palladion_api::service_member::ServerRole;
use palladion_api::zookeeper::Zxid;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A look that takes longer than this is counted.
const SLOW: Duration = Duration::from_secs(1);
/// A configuration that could not be proven is tried again after this.
const PROVE_AGAIN: Duration = Duration::from_secs(3);
/// The data of a server without a quorum is measured again after this.
const MEASURE_AGAIN: Duration = Duration::from_secs(60);
/// A server that serves answers a word of four letters at once.
const WORD: Duration = Duration::from_secs(3);
/// A session needs a quorum, which may be at its slowest then.
const SESSION: Duration = Duration::from_secs(5);

/// What a look needs.
struct Glass {
    tag: String,
    volume: Volume,
    ensemble: Ensemble,
    address: SocketAddr,
    config: Option<Config>,
    proven: Option<Zxid>,
    may_prove: bool,
    depth: Depth,
}

impl Agent {
    /// Where the server answers, once its port is known.
    pub(super) fn server(&self) -> Option<SocketAddr> {
        let mounted = self.mounted.as_ref().ok()?;
        Some(SocketAddr::new(self.settings.server_address, mounted.config.ports.client))
    }

    /// The server, as it is asked.
    pub(super) fn ensemble(&self) -> Option<Ensemble> {
        Some(Ensemble::new(self.server()?, Limits { open: SESSION, answer: WORD }))
    }

    /// Begin a look, if it is time for one.
    pub(super) fn look_if_due(&mut self) {
        let is_due = self.looks.begun.is_none_or(|at| at.elapsed() >= self.look_pause());
        let (Process::Running, true, false) = (&self.process, is_due, self.looks.is_under_way)
        else {
            return;
        };
        let (Some(tag), Some(address), Some(ensemble)) =
            (self.tag.clone(), self.server(), self.ensemble())
        else {
            return;
        };
        let may_prove = self.looks.tried.is_none_or(|at| at.elapsed() >= PROVE_AGAIN);
        let (config, proven) = (self.looks.config.clone(), self.looks.proven);
        let volume = self.volume.clone();
        let depth = match self.must_measure() {
            true => {
                self.looks.measured = Some(Instant::now());
                Depth::Last
            }
            false => Depth::Names,
        };
        let glass = Glass { tag, volume, ensemble, address, config, proven, may_prove, depth };
        (self.looks.begun, self.looks.is_under_way) = (Some(Instant::now()), true);
        let done = self.done.clone();
        tokio::spawn(async move {
            let looked = look(glass).await;
            let _ = done.send(Done::Looked(Box::new(looked))).await;
        });
    }

    /// Note what a look has shown.
    pub(super) fn note_look(&mut self, looked: Looked) {
        if self.tag.as_ref() != Some(&looked.tag) {
            return;
        }
        self.looks.is_under_way = false;
        if looked.begun.elapsed() > SLOW {
            self.metrics.common.slow_reads.inc();
        }
        let reading = looked.reading;
        let is_silent = !reading.is_ok && reading.srvr.is_none();
        if is_silent {
            self.metrics.common.read_failures.inc();
        }
        self.looks.config.clone_from(&reading.config);
        self.looks.proven = reading.proven;
        let is_proven = reading.config.as_ref().is_some_and(|c| reading.proven == Some(c.version));
        if reading.has_quorum() && !is_proven {
            self.looks.tried = Some(Instant::now());
        }
        match looked.disk {
            Ok(disk) => self.note_progress(disk, &reading),
            Err(why) => tracing::debug!(why, "the files of the server cannot be read"),
        }
        let id = self.ledger().and_then(|ledger| ledger.server_id);
        self.watch.look(&reading, id);
        self.metrics.note(Some(&reading), &looked.figures);
        // One that says nothing is believed to be as it was, for a while.
        if !is_silent {
            self.looks.last = Some((looked.begun, reading));
        }
    }

    /// What is on the volume changes while a server runs.
    fn note_progress(&mut self, disk: Progress, reading: &Reading) {
        let in_touch = reading.has_quorum();
        let is_member = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        if let Ok(found) = &mut self.found {
            found.epoch = disk.epoch;
            // A member's is judged before it starts; of others it says how far they are.
            if !is_member {
                (found.data, found.config) = (disk.data, disk.config);
            }
            match (in_touch, disk.last_zxid) {
                (true, _) => found.last_zxid = None,
                (false, Some(last)) => found.last_zxid = Some(last),
                (false, None) => {}
            }
        }
        if in_touch {
            self.looks.measured = None;
        }
    }

    /// Should the data be measured? What a user is asked when a majority is lost depends
    /// on how far that of the rest goes.
    fn must_measure(&self) -> bool {
        let is_away = self.reading().is_some_and(|r| r.srvr.is_some() && !r.has_quorum());
        is_away && self.looks.measured.is_none_or(|at| at.elapsed() >= MEASURE_AGAIN)
    }

    /// At rest: a participant that serves, and nothing under way.
    fn is_at_rest(&self) -> bool {
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        let id = self.ledger().and_then(|ledger| ledger.server_id);
        let votes = self.reading().zip(id).is_some_and(|(reading, id)| {
            reading.serves(id) && reading.role(id) == Some(ServerRole::Participant)
        });
        let is_busy = self.job.is_some() || self.question.is_some() || self.stopping.is_some();
        joined && votes && !is_busy && self.trouble.is_none() && self.watch.is_settled()
    }

    fn look_pause(&self) -> Duration {
        look::pause(self.is_at_rest(), self.serves())
    }

    /// Time until the next turn, if nothing happens before.
    pub(super) fn pause(&self) -> Duration {
        look::turn(&self.process, self.look_pause())
    }
}

async fn look(glass: Glass) -> Looked {
    let begun = Instant::now();
    let (volume, depth) = (glass.volume, glass.depth);
    // One at a time: the few threads for this are also for finding the API server.
    let disk = tokio::task::spawn_blocking(move || volume.progress(depth)).await;
    let disk = match disk {
        Ok(Ok(disk)) => Ok(disk),
        Ok(Err(error)) => Err(format!("{error:#}")),
        Err(error) => Err(error.to_string()),
    };
    let of_file = disk.as_ref().ok().and_then(|disk| disk.config.clone());
    let config = newest(glass.config, of_file);
    let mut reading = glass.ensemble.look(config, glass.proven).await;
    if reading.has_quorum() && glass.may_prove {
        prove(&glass.ensemble, &mut reading).await;
    }
    let figures = match reading.srvr.is_some() {
        true => four_letter::ask(glass.address, Command::Mntr, WORD).await,
        false => Ok(String::new()),
    };
    let figures = figures.map(|text| mntr::parse(&text)).unwrap_or_default();
    Looked { tag: glass.tag, begun, reading, disk, figures }
}

/// Read the configuration in a session, where none has shown the one that is known.
async fn prove(ensemble: &Ensemble, reading: &mut Reading) {
    let known = reading.config.as_ref().map(|config| config.version);
    if known.is_some() && reading.proven == known {
        return;
    }
    match ensemble.config().await {
        Ok(config) => {
            reading.proven = Some(config.version);
            reading.config = newest(reading.config.take(), Some(config));
        }
        Err(error) => {
            let error = format!("{error:#}");
            tracing::debug!(error, "no session has shown the configuration yet");
        }
    }
}

/// The newer of two; what a server has shown last counts where they are equally old.
fn newest(one: Option<Config>, other: Option<Config>) -> Option<Config> {
    match (one, other) {
        (Some(one), Some(other)) if one.version > other.version => Some(one),
        (one, other) => other.or(one),
    }
}
