//! The kinds of tasks, each with its options.

use super::Scope;
use crate::ask::Sure;
use crate::exit::{Exit, Trouble};
use crate::session::Session;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;
use palladion_api::task::{RepairScope, TaskKind};
use serde_json::{Map, Value, json};

/// See the module.
#[derive(Debug, Subcommand)]
pub enum Run {
    /// A full repair of the primary ranges of each member
    Repair(Repair),
    /// Drop data in ranges that a member no longer owns
    #[command(after_help = "Example:\n  kubectl palladion task run cleanup demo --rack a")]
    Cleanup(Rewritten),
    /// Compact all SSTables of each table
    Compact(Compact),
    /// Drop deleted data of each SSTable by itself
    GarbageCollect(GarbageCollect),
    /// Read all data and write it again
    Scrub(Scrub),
    /// Rewrite SSTables in the format of the release that runs
    #[command(name = "upgrade-sstables")]
    UpgradeSstables(UpgradeSstables),
    /// Write memtables to disk
    #[command(after_help = "Example:\n  kubectl palladion task run flush demo --wait")]
    Flush(Data),
    /// Take a snapshot
    Snapshot(Snapshot),
    /// Delete a snapshot
    ClearSnapshot(ClearSnapshot),
    /// Set levels of loggers for some time
    SetLogLevel(SetLogLevel),
    /// Set how many copies keyspaces have in one datacenter
    Replication(Replication),
    /// Remove another datacenter, which is lost for good, from the ring
    RemoveDatacenter(RemoveDatacenter),
    /// Restart members, each drained first
    #[command(
        after_help = "Example:\n  kubectl palladion task run restart demo --rack b --wait=1h"
    )]
    Restart(Scope),
    /// Drain the server of one member, which serves nobody until it is restarted
    #[command(
        after_help = "Example:\n  kubectl palladion task run drain demo --member demo-dc1-a-1 --wait"
    )]
    Drain(Scope),
    /// Replace the authority that signs certificates of the ring, without a restart
    RotateAuthority(RotateAuthority),
}

/// Of which data.
#[derive(Debug, Default, Args)]
struct Tables {
    /// Only these keyspaces. Default: all but the local ones
    #[arg(long = "keyspace", value_name = "KEYSPACE", value_delimiter = ',', conflicts_with = "tables", value_parser = NonEmptyStringValueParser::new())]
    keyspaces: Vec<String>,
    /// Only these tables
    #[arg(long = "table", value_name = "KEYSPACE.TABLE", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    tables: Vec<String>,
}

impl Tables {
    /// The body of a task, with these options of its own.
    fn body(&self, options: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
        let lists = [("keyspaces", &self.keyspaces), ("tables", &self.tables)];
        let given = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let lists = given.map(|(field, list)| (field, json!(list)));
        lists.chain(options).map(|(field, value)| (field.to_string(), value)).collect()
    }
}

/// How many SSTables at a time.
#[derive(Debug, Args)]
struct Jobs {
    /// SSTables of a table that are rewritten at a time; 0: as many as the server has compactors
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=64))]
    jobs: u32,
}

/// On which data of which members.
#[derive(Debug, Args)]
pub struct Data {
    #[command(flatten)]
    tables: Tables,
    #[command(flatten)]
    scope: Scope,
}

/// The same, of work that rewrites SSTables.
#[derive(Debug, Args)]
pub struct Rewritten {
    #[command(flatten)]
    tables: Tables,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    scope: Scope,
}

/// The options of a repair.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run repair demo --keyspace shop --wait=12h\n  kubectl palladion task run repair demo --due --intensity 50"
)]
pub struct Repair {
    /// Only ranges that are due, as a schedule that covers the ring repairs them
    #[arg(long, conflicts_with_all = ["keyspaces", "tables"])]
    due: bool,
    /// Members that repair at a time, at most. Default: as many as have no copies in common
    #[arg(long, value_name = "MEMBERS", requires = "due", value_parser = clap::value_parser!(u32).range(1..=256))]
    parallel: Option<u32>,
    /// Bytes of one call of the server, as far as ranges can be cut. Default: 1073741824, 1 GiB
    #[arg(long, value_name = "BYTES", requires = "due", value_parser = clap::value_parser!(u64).range(67_108_864..=1_099_511_627_776))]
    segment_bytes: Option<u64>,
    /// Share of the time in which a member repairs, in percent. Default: as small as lets what is due end in time
    #[arg(long, value_name = "PERCENT", requires = "due", value_parser = clap::value_parser!(u8).range(10..=100))]
    intensity: Option<u8>,
    #[command(flatten)]
    on: Data,
}

/// What a compaction writes.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Output {
    /// One SSTable
    #[default]
    One,
    /// SSTables of falling size
    Split,
}

/// What a garbage collection drops.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Granularity {
    /// Deleted rows and partitions
    #[default]
    Row,
    /// Overwritten and deleted cells too
    Cell,
}

/// Which SSTables are rewritten.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Which {
    /// Those of an older format
    #[default]
    Older,
    /// All
    All,
}

/// The options of a compaction.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion task run compact demo --table shop.orders")]
pub struct Compact {
    /// What is written
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    output: Output,
    #[command(flatten)]
    on: Data,
}

/// The options of a garbage collection.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run garbage-collect demo --keyspace shop --granularity cell"
)]
pub struct GarbageCollect {
    /// What is dropped
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    granularity: Granularity,
    #[command(flatten)]
    on: Rewritten,
}

/// The options of a scrub.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run scrub demo --member demo-dc1-a-1 --table shop.orders"
)]
pub struct Scrub {
    /// Take no snapshot before
    #[arg(long)]
    no_snapshot: bool,
    /// Leave out corrupted partitions of counter tables, which are lost then
    #[arg(long)]
    skip_corrupted: bool,
    /// Do not compare values with the types of their columns
    #[arg(long)]
    trust_values: bool,
    /// Insert rows again whose time to live has overflowed
    #[arg(long)]
    reinsert_overflowed_ttl: bool,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    on: Rewritten,
}

/// The options of an upgrade of SSTables.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion task run upgrade-sstables demo --wait=6h")]
pub struct UpgradeSstables {
    /// Which SSTables
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    which: Which,
    #[command(flatten)]
    on: Rewritten,
}

/// The options of a snapshot.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run snapshot demo --name before-upgrade --keyspace shop"
)]
pub struct Snapshot {
    /// Name of the snapshot
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// Do not flush before: what is in memory only is not in the snapshot
    #[arg(long)]
    no_flush: bool,
    /// The server deletes the snapshot after this time (Cassandra 4.1 and later)
    #[arg(long, value_name = "DURATION", value_parser = crate::time::parse)]
    ttl: Option<SignedDuration>,
    #[command(flatten)]
    on: Data,
}

/// The options of the removal of a snapshot.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run clear-snapshot demo --name before-upgrade"
)]
pub struct ClearSnapshot {
    /// Name of the snapshot
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// Only of these keyspaces. Default: all
    #[arg(long = "keyspace", value_name = "KEYSPACE", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    keyspaces: Vec<String>,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    scope: Scope,
}

/// The options of a change of log levels.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run set-log-level demo --level org.apache.cassandra.gms=debug --for 30m"
)]
pub struct SetLogLevel {
    /// A logger and its level; the root logger is ROOT
    #[arg(long = "level", value_name = "LOGGER=LEVEL", required = true, value_delimiter = ',', value_parser = level)]
    levels: Vec<(String, String)>,
    /// Each logger gets back the level that it had after this time
    #[arg(long = "for", value_name = "DURATION", default_value = "10m", value_parser = crate::time::parse)]
    time: SignedDuration,
    #[command(flatten)]
    scope: Scope,
}

/// The options of a change of replication.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run replication demo --keyspace shop --datacenter dc2 --factor 3"
)]
pub struct Replication {
    /// The keyspaces
    #[arg(long = "keyspace", value_name = "KEYSPACE", required = true, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    keyspaces: Vec<String>,
    /// The datacenter, as its members gossip it. Others stay as they are
    #[arg(long, value_name = "DATACENTER", value_parser = NonEmptyStringValueParser::new())]
    datacenter: String,
    /// Copies in that datacenter; 0: the keyspaces no longer name it
    #[arg(long, value_name = "COPIES", value_parser = clap::value_parser!(u32).range(0..=64))]
    factor: u32,
    /// Keyspaces may have fewer copies than before
    #[arg(long)]
    allow_fewer: bool,
    /// Keyspaces with SimpleStrategy get NetworkTopologyStrategy with as many copies
    #[arg(long)]
    convert: bool,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    scope: Scope,
}

/// The options of a removal of a datacenter.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run remove-datacenter demo --datacenter dc2 --host-id 5d7c9bba-1d0c-4c4b-9a52-0e0a0f8e3d11"
)]
pub struct RemoveDatacenter {
    /// The datacenter, as its members gossip it. All its members are down for good
    #[arg(long, value_name = "DATACENTER", value_parser = NonEmptyStringValueParser::new())]
    datacenter: String,
    /// The host IDs of all its members, as `nodetool status` shows them
    #[arg(long = "host-id", value_name = "HOST-ID", required = true, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    host_ids: Vec<String>,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    scope: Scope,
}

/// The options of a rotation of an authority.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task run rotate-authority demo --purpose client --overlap 48h"
)]
pub struct RotateAuthority {
    /// Whose certificates it signs: those for clients, or those for other members
    #[arg(long, value_enum, value_name = "PURPOSE")]
    purpose: Purpose,
    /// How long clients have to read the new authority before members present its certificates. Only with `--purpose client`. Default: 168h, seven days
    #[arg(long, value_name = "DURATION", value_parser = crate::time::parse)]
    overlap: Option<SignedDuration>,
    #[command(flatten)]
    scope: Scope,
}

/// Whose certificates an authority signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Purpose {
    /// Those for clients
    Client,
    /// Those for other members
    Internode,
}

/// `LOGGER=LEVEL`; which levels there are the API server says.
fn level(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((logger, level)) if !logger.is_empty() && !level.is_empty() => {
            Ok((logger.to_string(), level.to_uppercase()))
        }
        Some(_) | None => Err(text.to_string()),
    }
}

impl Run {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or how the task ended.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let (kind, body, scope) = self.request();
        scope.run(kind, body, self.sure(), session).await
    }

    /// Has the person said already that what is lost may be lost?
    fn sure(&self) -> Sure {
        match self {
            Run::ClearSnapshot(a) => a.sure,
            Run::Scrub(a) => a.sure,
            Run::Replication(a) => a.sure,
            Run::RemoveDatacenter(a) => a.sure,
            Run::Repair(_)
            | Run::Cleanup(_)
            | Run::Compact(_)
            | Run::GarbageCollect(_)
            | Run::UpgradeSstables(_)
            | Run::Flush(_)
            | Run::Snapshot(_)
            | Run::SetLogLevel(_)
            | Run::Restart(_)
            | Run::Drain(_)
            | Run::RotateAuthority(_) => Sure::default(),
        }
    }

    /// The body of the task, with what differs from its defaults.
    fn request(&self) -> (TaskKind, Value, &Scope) {
        match self {
            Run::Repair(a) => (TaskKind::Repair, a.on.body(a.options()), &a.on.scope),
            Run::Cleanup(on) => (TaskKind::Cleanup, on.body([]), &on.scope),
            Run::Compact(a) => {
                let output = match a.output {
                    Output::One => "One",
                    Output::Split => "Split",
                };
                (TaskKind::Compact, a.on.body([("output", json!(output))]), &a.on.scope)
            }
            Run::GarbageCollect(a) => {
                let granularity = match a.granularity {
                    Granularity::Row => "Row",
                    Granularity::Cell => "Cell",
                };
                let body = a.on.body([("granularity", json!(granularity))]);
                (TaskKind::GarbageCollect, body, &a.on.scope)
            }
            Run::Scrub(a) => (TaskKind::Scrub, a.on.body(a.options()), &a.on.scope),
            Run::UpgradeSstables(a) => {
                let which = match a.which {
                    Which::Older => "Older",
                    Which::All => "All",
                };
                (TaskKind::UpgradeSstables, a.on.body([("which", json!(which))]), &a.on.scope)
            }
            Run::Flush(on) => (TaskKind::Flush, on.body([]), &on.scope),
            Run::Snapshot(a) => (TaskKind::Snapshot, a.on.body(a.options()), &a.on.scope),
            Run::ClearSnapshot(a) => {
                let mut body = json!({ "name": a.name });
                if !a.keyspaces.is_empty() {
                    body["keyspaces"] = json!(a.keyspaces);
                }
                (TaskKind::ClearSnapshot, body, &a.scope)
            }
            Run::SetLogLevel(a) => {
                let levels: Map<String, Value> =
                    a.levels.iter().map(|(logger, level)| (logger.clone(), json!(level))).collect();
                let body = json!({ "levels": levels, "seconds": a.time.as_secs().max(1) });
                (TaskKind::SetLogLevel, body, &a.scope)
            }
            Run::Replication(a) => {
                let mut body = json!({
                    "keyspaces": a.keyspaces, "datacenter": a.datacenter, "factor": a.factor,
                });
                if a.allow_fewer {
                    body["lowering"] = json!("Allow");
                }
                if a.convert {
                    body["simpleStrategy"] = json!("Convert");
                }
                (TaskKind::Replication, body, &a.scope)
            }
            Run::RemoveDatacenter(a) => {
                let body = json!({ "name": a.datacenter, "hostIDs": a.host_ids });
                (TaskKind::RemoveDatacenter, body, &a.scope)
            }
            Run::Restart(scope) => (TaskKind::Restart, json!({}), scope),
            Run::Drain(scope) => (TaskKind::Drain, json!({}), scope),
            Run::RotateAuthority(a) => {
                let purpose = match a.purpose {
                    Purpose::Client => "Client",
                    Purpose::Internode => "Internode",
                };
                let mut body = json!({ "purpose": purpose });
                if let Some(overlap) = &a.overlap {
                    body["overlapSeconds"] = json!(overlap.as_secs().max(0));
                }
                (TaskKind::RotateAuthority, body, &a.scope)
            }
        }
    }
}

impl Data {
    /// The body of the task, with these options of its own.
    fn body(&self, options: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
        self.tables.body(options)
    }
}

impl Rewritten {
    /// The body of the task, with these options of its own.
    fn body(&self, options: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
        self.tables.body(options.into_iter().chain([("jobs", json!(self.jobs.jobs))]))
    }
}

impl Repair {
    fn options(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let scope = self.due.then(|| ("scope", json!(RepairScope::Due)));
        let parallel = self.parallel.map(|members| ("parallel", json!(members)));
        let segments = self.segment_bytes.map(|bytes| ("segmentBytes", json!(bytes)));
        let intensity = self.intensity.map(|percent| ("intensityPercent", json!(percent)));
        [scope, parallel, segments, intensity].into_iter().flatten()
    }
}

impl Scrub {
    fn options(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let chosen = [
            (self.no_snapshot, "snapshot", "Skip"),
            (self.skip_corrupted, "corrupted", "Skip"),
            (self.trust_values, "values", "Trust"),
            (self.reinsert_overflowed_ttl, "overflowedTTL", "Reinsert"),
        ];
        let chosen = chosen.into_iter().filter(|(is_chosen, ..)| *is_chosen);
        chosen.map(|(_, field, value)| (field, json!(value)))
    }
}

impl Snapshot {
    fn options(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let flush = self.no_flush.then(|| ("flush", json!("Skip")));
        let ttl = self.ttl.as_ref().map(|ttl| ("ttlSeconds", json!(ttl.as_secs().max(1))));
        [("name", json!(self.name))].into_iter().chain(flush).chain(ttl)
    }
}
