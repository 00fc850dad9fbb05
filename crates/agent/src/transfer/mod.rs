//! The member's part of a backup: what the server is asked before, the child that
//! moves the bytes, and the snapshots that nobody needs any more. What is done about
//! an order is decided in `palladion-agent-transfer`; the loop does it in
//! `crate::agent::transfer`.
//!
//! Read in this order: [`attempt`] (one try), [`ask`] (what the server is asked for
//! it), [`snapshot`], [`describe`] and [`ring`], [`child`] (the process), [`stale`]
//! (which snapshots go). A restore goes to and fro between server and child, in [`step`]s:
//! [`catalog`], [`create`] and [`settle`] with their [`statements`], and [`load`] with what it
//! notes ([`loaded`]) and waits for ([`settled`]); what it leaves behind goes by [`leftovers`]. A
//! ring that begins with a backup has the [`tokens`] of its members, and files of theirs are
//! [`place`]d, which is noted, too ([`placed`]); then archived commit logs are [`replay`]ed.

pub mod ask;
pub mod attempt;
pub mod backup;
pub mod catalog;
pub mod child;
pub mod create;
pub mod describe;
pub mod leftovers;
pub mod load;
pub mod loaded;
pub mod place;
pub mod placed;
pub mod replay;
pub mod ring;
pub mod settle;
pub mod settled;
pub mod snapshot;
pub mod stale;
pub mod statements;
pub mod step;
pub mod tokens;

use crate::admin::jobs::Jobs;
use crate::admin::{Error, ServerAdmin};
use crate::capabilities::SnapshotLife;
use crate::cql::Endpoint;
use crate::decide::rewind::Rewinding;
use crate::launch_record::LaunchRecord;
use attempt::Attempt;
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_agent_transfer::assign::Own;
use palladion_agent_transfer::decide::{Noted, Repository};
use palladion_agent_transfer::pace::Pace;
use palladion_agent_transfer::tell::Progress;
use palladion_agent_transfer::words::refusal::Refusal;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{Transfer, TransferStatus};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What a try is made with.
pub struct Bench {
    /// What is ordered.
    pub order: Transfer,
    /// What the member says of itself.
    pub own: Own,
    /// The server, while it serves as a full member.
    pub admin: Option<Arc<dyn ServerAdmin>>,
    /// Its native protocol.
    pub cql: Endpoint,
    /// Can it give a snapshot a time to live?
    pub life: SnapshotLife,
    /// The member's tokens, where an earlier try has asked for them.
    pub tokens: Vec<String>,
    /// Bytes that are fetched at a time, at the most, when they are loaded.
    pub batch_bytes: u64,
    /// So long a truncation that was not answered may still be carried out.
    pub truncating: Duration,
    /// Where they are fetched to.
    pub restores: PathBuf,
    /// Where it is noted what was placed.
    pub placed: PathBuf,
    /// The server that runs, and where the last launch is noted.
    pub launch: Option<(String, PathBuf)>,
}

impl Bench {
    /// The server.
    ///
    /// # Errors
    /// It does not serve.
    pub fn server(&self) -> Result<&dyn ServerAdmin, Stopped> {
        self.admin.as_deref().ok_or(Stopped::NotServing)
    }

    /// What tasks ask of it.
    ///
    /// # Errors
    /// It does not serve, or is no Cassandra.
    pub fn jobs(&self) -> Result<&dyn Jobs, Stopped> {
        self.server()?.jobs().ok_or_else(|| Refusal::work().into())
    }

    /// Is it still the server that ran when the try was begun?
    ///
    /// # Errors
    /// It is another one, or about to be.
    pub fn same_server(&self) -> Result<(), Stopped> {
        let (tag, file) = self.launch.as_ref().ok_or(Stopped::NotServing)?;
        let is_same = LaunchRecord::load(file, tag).is_some();
        is_same.then_some(()).ok_or(Stopped::NotServing)
    }
}

/// The server could not be asked.
pub fn down(error: Error) -> Stopped {
    Stopped::ServerDown { why: format!("{:#}", anyhow::Error::from(error)) }
}

/// A try that runs beside the loop.
pub struct Running {
    /// The transfer.
    pub id: String,
    /// Ends it.
    pub stop: watch::Sender<bool>,
    /// How fast it may be.
    pub rate: watch::Sender<Option<u64>>,
    /// How far it is.
    pub progress: watch::Receiver<Progress>,
}

/// A start for a replay, as the loop makes it.
pub struct Rewinds {
    /// How far it is.
    pub start: Rewinding,
    /// Set by whoever drains the server, before it is told to end.
    pub drained: Arc<AtomicBool>,
}

/// What is on the volume.
pub struct Notes {
    /// Of the last transfer.
    pub record: Noted,
    /// Of the repository.
    pub repository: Repository,
}

/// What the agent holds of transfers between turns.
#[derive(Default)]
pub struct Transfers {
    /// What is noted, once it was read.
    pub notes: Option<Notes>,
    /// The try under way.
    pub running: Option<Running>,
    /// The last try, until it is noted.
    pub ended: Option<(String, Attempt)>,
    /// The order that cannot be noted, and why.
    pub unwritten: Option<(String, String)>,
    /// What of the running one is counted.
    pub counted: Progress,
    /// How fast what runs may be.
    pub pace: Pace,
    /// What is told.
    pub status: Option<TransferStatus>,
    /// For which order what restores have left was removed last; none since the start.
    pub cleared_for: Option<(Option<String>, Option<String>)>,
    /// The order to let clients in that is being carried out.
    pub opening: Option<String>,
    /// The start for a replay that is being made.
    pub rewinds: Option<Rewinds>,
    /// When snapshots were looked for last.
    pub swept: Option<Instant>,
    /// Are they being looked for, or cleared?
    pub is_sweeping: bool,
}
