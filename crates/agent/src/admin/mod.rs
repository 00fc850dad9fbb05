//! How the server is asked and told: one trait, a back end for Cassandra
//! (Jolokia) and one for Scylla (REST). Calls that move data answer when they
//! are done, which may take days: they are made from a task of their own, and
//! what became of them is also read from the server's state.

pub mod cassandra;
mod cassandra_jobs;
mod cassandra_owners;
mod cassandra_ranges;
mod cassandra_reading;
pub mod jobs;
pub mod jolokia;
mod json;
mod ring;
mod runtime;
pub mod scylla;
mod scylla_reading;

use crate::capabilities::{self, FailedLeave};
pub use crate::runtime::RuntimeChange;
use crate::words::calls::{Doing, ServerError};
use futures::future::BoxFuture;
use palladion_api::cluster::KEPT_KEYSPACES;
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::{MemberState, RepairRanges, RingMember};
use palladion_api::runtime::RuntimeSettings;
use std::collections::BTreeMap;
use std::fmt;

/// What a server said about itself and its ring. A part that could not be read
/// is absent; nothing absent means "no".
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Operation mode.
    pub mode: Option<String>,
    /// Is the native transport up?
    pub native_transport: Option<bool>,
    /// Does it gossip?
    pub gossip: Option<bool>,
    /// Version of the server.
    pub version: Option<String>,
    /// Own host ID.
    pub host_id: Option<HostId>,
    /// Own schema version.
    pub schema_version: Option<String>,
    /// Do all reachable members share one?
    pub schema_agreed: Option<bool>,
    /// Own tokens.
    pub tokens: Option<Vec<String>>,
    /// Seeds that it knows.
    pub seeds: Option<Vec<StaticAddress>>,
    /// Every member that it knows.
    pub members: Option<Vec<RingMember>>,
    /// Does it repair by itself? Absent: it cannot, or that is not known.
    pub auto_repair: Option<bool>,
    /// Figures for metrics.
    pub figures: Figures,
}

/// Figures of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Bytes of data.
    pub load: Option<f64>,
    /// Compactions that wait.
    pub pending_compactions: Option<f64>,
    /// Bytes of heap in use.
    pub heap_used: Option<f64>,
    /// Native connections.
    pub clients: Option<f64>,
    /// Writes of others that it was too late for, since the server was started.
    pub dropped_writes: Option<f64>,
    /// 99th percentile of how long writes take that clients send it, in microseconds.
    pub write_p99: Option<f64>,
    /// What clients feel.
    pub felt: Felt,
    /// Bytes that streams have brought and taken since the server was started; of
    /// Scylla they are not known.
    pub streamed: Option<f64>,
}

/// How long clients wait: 99th percentiles, in microseconds. 0 where none has asked yet, none
/// where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Felt {
    /// Of reads.
    pub reads: Option<u64>,
    /// Of writes.
    pub writes: Option<u64>,
}

/// A figure without its fraction.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is negative or no number becomes 0, and what is too much the most"
)]
pub fn whole(figure: f64) -> u64 {
    figure as u64
}

/// Mode of a member that joins, or takes the place of another.
pub const JOINING: &str = "JOINING";
/// Mode of a full member.
pub const NORMAL: &str = "NORMAL";
/// Mode of a member that leaves; up to 4.1 also after a leave that failed half-way.
pub const LEAVING: &str = "LEAVING";
/// Mode of a server that was drained: its process runs and serves nobody.
pub const DRAINED: &str = "DRAINED";
/// Mode of a member that has left.
pub const DECOMMISSIONED: &str = "DECOMMISSIONED";
/// Mode after a decommission that failed (5.0), which may be a full member's.
pub const DECOMMISSION_FAILED: &str = "DECOMMISSION_FAILED";
/// What 4.0 and 4.1 answer to a decommission while another one is under way.
pub const STILL_LEAVING: &str = "still decommissioning";
/// What a server answers to a removal while it carries one out: it goes on with
/// what an agent has begun that was restarted since.
pub const STILL_REMOVING: &str = "already processing a removal";
/// Mode after a bootstrap that failed (5.0).
pub const JOINING_FAILED: &str = "JOINING_FAILED";

impl Reading {
    /// Datacenters by the addresses of their members, as far as they are known.
    pub fn datacenters(&self) -> BTreeMap<StaticAddress, String> {
        let members = self.members.iter().flatten();
        members.filter_map(|m| Some((m.address.clone(), m.datacenter.clone()?))).collect()
    }

    /// Is the mode this one?
    pub fn is(&self, mode: &str) -> bool {
        self.mode.as_deref() == Some(mode)
    }

    /// A full member: NORMAL; or, after a refused decommission, what 5.0 calls
    /// DECOMMISSION_FAILED although nothing has changed, which shows in that
    /// the server sees itself as a normal member. One that no longer sees itself
    /// has left, whatever failed afterwards.
    pub fn is_full_member(&self) -> bool {
        let refused = self.is(DECOMMISSION_FAILED) && self.sees_itself(MemberState::Normal);
        self.is(NORMAL) || refused
    }

    /// The mode as it is reported: the operator asks for NORMAL, so that what is
    /// a full member is said here alone. After a refused leave 5.0 has another
    /// name for it; people read that in the message.
    pub fn reported_mode(&self) -> Option<String> {
        if self.is_full_member() { Some(NORMAL.into()) } else { self.mode.clone() }
    }

    /// Full member that answers CQL.
    pub fn serves(&self) -> bool {
        self.is_full_member() && self.native_transport == Some(true)
    }

    /// Does the server itself see its own host ID leaving?
    pub fn sees_itself_leaving(&self) -> bool {
        self.sees_itself(MemberState::Leaving)
    }

    /// Its mode does not tell a decommission that has failed from one that is under way.
    pub fn may_have_failed_to_leave(&self) -> bool {
        let row = self.version.as_deref().and_then(capabilities::of);
        let silent = row.is_some_and(|r| r.failed_leave == FailedLeave::ToCaller);
        silent && self.is(LEAVING) && self.sees_itself_leaving()
    }

    fn sees_itself(&self, state: MemberState) -> bool {
        let own = self.host_id.as_ref();
        self.members.iter().flatten().any(|m| Some(&m.host_id) == own && m.state == state)
    }
}

/// Why a server could not be asked or told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer.
    Http {
        /// Where.
        url: String,
        /// The cause.
        source: reqwest::Error,
    },
    /// An answer that is not the interface's.
    Status {
        /// Where.
        url: String,
        /// HTTP status.
        status: u16,
        /// First part of the body.
        body: String,
    },
    /// The server refused, or the work failed.
    Failed {
        /// What was asked for.
        operation: String,
        /// The server's words.
        message: String,
    },
    /// The server's version cannot do it.
    Unsupported(Doing),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Error::Http { url, .. } => ServerError::Unreachable { url: url.clone() },
            Error::Status { url, status, body } => {
                ServerError::Status { url: url.clone(), status: *status, body: body.clone() }
            }
            Error::Failed { operation, message } => {
                ServerError::Failed { operation: operation.clone(), message: message.clone() }
            }
            Error::Unsupported(what) => ServerError::Unsupported { what: what.clone() },
        };
        said.fmt(f)
    }
}

/// Progress of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairState {
    /// Under way.
    Running,
    /// Done.
    Completed,
    /// Failed, in the server's words.
    Failed(String),
    /// The server does not know of it (any more).
    Unknown,
}

/// What a leave does about keyspaces that would have fewer members than copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooFewCopies {
    /// It is refused.
    Refused,
    /// It goes on: the whole datacenter leaves.
    Allowed,
}

/// What a repair covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairScope {
    /// Which ranges of the server.
    pub ranges: RepairRanges,
    /// What is done about replicas that are down.
    pub down: DownReplicas,
}

/// What a repair does about replicas that are down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownReplicas {
    /// It fails.
    Fail,
    /// It goes on with those that are up.
    LeaveOut,
}

/// A running repair, as the server numbers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairTicket {
    /// Keyspace.
    pub keyspace: String,
    /// The server's number.
    pub number: i64,
}

/// Answer of a call.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// Copies of keyspaces by datacenter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByDatacenter {
    /// Of each, the largest number of members in each datacenter that hold one range.
    pub copies: BTreeMap<String, BTreeMap<String, u32>>,
    /// Those of which not every range has as many copies in each datacenter, sorted: their
    /// strategy does not count by it.
    pub uneven: Vec<String>,
}

impl ByDatacenter {
    /// Keyspaces with copies in this datacenter, besides those that the operator keeps.
    pub fn of_clients(&self, datacenter: &str) -> Vec<&String> {
        let is_there = |of: &BTreeMap<String, u32>| of.get(datacenter).is_some_and(|n| *n > 0);
        let named = self.copies.iter().filter(|(_, of)| is_there(of)).map(|(name, _)| name);
        named.filter(|name| !KEPT_KEYSPACES.contains(&name.as_str())).collect()
    }
}

/// What the agent asks of a server.
pub trait ServerAdmin: Send + Sync {
    /// One look at everything, in one request where the interface can.
    fn read(&self) -> Answer<'_, Reading>;
    /// Flush, stop serving, end gossip. Answers when done.
    fn drain(&self) -> Answer<'_, ()>;
    /// Leave the ring. Answers when done.
    fn decommission(&self, copies: TooFewCopies) -> Answer<'_, ()>;
    /// Read the seeds again from the configuration file.
    fn reload_seeds(&self) -> Answer<'_, ()>;
    /// Its runtime settings as they are now.
    fn runtime(&self) -> Answer<'_, RuntimeSettings>;
    /// Change them, as far as the change says.
    fn change_runtime<'a>(&'a self, change: &'a RuntimeChange) -> Answer<'a, ()>;
    /// Keyspaces whose data this server shares with others.
    fn keyspaces(&self) -> Answer<'_, Vec<String>>;
    /// Of each of them, the largest number of members that hold one range.
    fn copies(&self) -> Answer<'_, BTreeMap<String, u32>>;
    /// Drop data of ranges that this server no longer owns. Answers when done.
    fn cleanup<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()>;
    /// Write memtables to disk.
    fn flush<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()>;
    /// Rewrite SSTables of an older version. Answers when done.
    fn upgrade_sstables<'a>(&'a self, keyspace: &'a str) -> Answer<'a, ()>;
    /// Remove a dead member by host ID. Answers when done.
    fn remove_node<'a>(&'a self, host_id: &'a HostId) -> Answer<'a, ()>;
    /// Begin a full repair; `None` where there is nothing to repair.
    fn begin_repair<'a>(
        &'a self,
        keyspace: &'a str,
        what: RepairScope,
    ) -> Answer<'a, Option<RepairTicket>>;
    /// Of each keyspace whose data it shares, or of this one, the copies by datacenter; an error
    /// where the datacenter of a member is not known.
    fn copies_by_datacenter<'a>(
        &'a self,
        datacenters: &'a BTreeMap<StaticAddress, String>,
        of: Option<&'a str>,
    ) -> Answer<'a, ByDatacenter>;
    /// Stream a keyspace's data of its own ranges from another datacenter. Answers when done.
    fn rebuild<'a>(&'a self, source: &'a str, keyspace: &'a str) -> Answer<'a, ()>;
    /// How far the rebuild is that it is at, in percent; none where it is at none.
    fn rebuilding(&self) -> Answer<'_, Option<u8>>;
    /// Take clients.
    fn start_native_transport(&self) -> Answer<'_, ()>;
    /// Take no clients any more.
    fn stop_native_transport(&self) -> Answer<'_, ()>;
    /// What it does for tasks; none where such jobs are not supported.
    fn jobs(&self) -> Option<&dyn jobs::Jobs>;
    /// How far is it?
    fn repair_state<'a>(&'a self, ticket: &'a RepairTicket) -> Answer<'a, RepairState>;
}
