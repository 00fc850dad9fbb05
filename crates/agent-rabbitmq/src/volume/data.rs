//! What is there of a node's data. A replica of a quorum queue whose log is gone starts
//! empty and votes (R6 of the experiments in `docs/sources.md`), so all parts are looked
//! for, each where RabbitMQ keeps it: below `RABBITMQ_MNESIA_BASE`, in the directory with
//! the name of the node.

use crate::read::terms::nodes;
use crate::words::volume::Part;
use anyhow::{Context, Result};
use palladion_agent_core::volume::any_file;
use palladion_agent_core::words::files::Doing;
use palladion_api::rabbitmq::NodeName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The cookie, beside the data.
pub const COOKIE: &str = ".erlang.cookie";
const TABLES: &str = "schema.DAT";
const MEMBERSHIP: &str = "cluster_nodes.config";
/// What is no data of a node, in the directory of the data. The last is where programs of
/// the image keep what they were given.
const NOT_DATA: [&str; 4] = [COOKIE, "lost+found", "config", ".cache"];

/// A kind of part.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Tables of Mnesia: users, queues, what exists at all.
    Tables,
    /// Which nodes the cluster has.
    Membership,
    /// Logs of quorum queues.
    Quorum,
    /// The log of the coordinator of streams.
    Coordination,
    /// Streams.
    Streams,
    /// Messages of classic queues.
    Messages,
}

impl Kind {
    /// All.
    const ALL: [Kind; 6] = [
        Kind::Tables,
        Kind::Membership,
        Kind::Quorum,
        Kind::Coordination,
        Kind::Streams,
        Kind::Messages,
    ];
    /// Those that every node has that has ever booted.
    const ALWAYS: [Kind; 3] = [Kind::Tables, Kind::Membership, Kind::Quorum];
    /// Those that `join_cluster` leaves: it removes all that the node had before, and the rest
    /// is made by `start_app`.
    const TAKEN_IN: [Kind; 2] = [Kind::Tables, Kind::Membership];

    /// In words.
    pub fn part(self) -> Part {
        match self {
            Kind::Tables => Part::Tables,
            Kind::Membership => Part::Membership,
            Kind::Quorum => Part::Quorum,
            Kind::Coordination => Part::Coordination,
            Kind::Streams => Part::Streams,
            Kind::Messages => Part::Messages,
        }
    }

    fn is_in(self, directory: &Path) -> Result<bool> {
        match self {
            Kind::Tables => is_filled(&directory.join(TABLES)),
            Kind::Membership => is_filled(&directory.join(MEMBERSHIP)),
            Kind::Quorum => holds_files(&directory.join("quorum")),
            Kind::Coordination => holds_files(&directory.join("coordination")),
            // Empty after the last of them was deleted, which is no loss.
            Kind::Streams => exists(&directory.join("stream")),
            Kind::Messages => exists(&directory.join("msg_stores")),
        }
    }
}

/// Whether there is data of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Not a single file.
    Absent,
    /// Files, but not all parts that a full member has.
    Partial(Vec<Kind>),
    /// Tables, the nodes of the cluster, and nothing that an application makes when it starts:
    /// a node that was taken into a cluster, and ended before its application ran there.
    Unstarted,
    /// All that a full member has.
    Whole,
}

/// What was found of a node's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The parts that are there.
    pub there: BTreeSet<Kind>,
    /// Is there any file, of whatever node?
    pub has_files: bool,
    /// Nodes of the cluster that the node on it was in, itself among them.
    pub members: Vec<NodeName>,
}

impl Parts {
    /// Look for them in the directory of the data.
    ///
    /// # Errors
    /// What is there cannot be read, which is never the same as nothing.
    pub fn find(data: &Path, node: Option<&NodeName>) -> Result<Self> {
        let has_files = exists(data)? && any_file(data, &NOT_DATA)?;
        let Some(node) = node else {
            return Ok(Self { has_files, ..Self::default() });
        };
        let directory = data.join(node.as_str());
        let mut there = BTreeSet::new();
        for kind in Kind::ALL {
            if kind.is_in(&directory)? {
                there.insert(kind);
            }
        }
        Ok(Self { there, has_files, members: members(&directory.join(MEMBERSHIP))? })
    }

    /// What they add up to, where these were there before.
    pub fn judge(&self, before: &BTreeSet<Kind>) -> Data {
        if !self.has_files {
            return Data::Absent;
        }
        let wanted: BTreeSet<Kind> = Kind::ALWAYS.into_iter().chain(before.clone()).collect();
        match wanted.difference(&self.there).copied().collect::<Vec<_>>() {
            missing if missing.is_empty() => Data::Whole,
            _ if before.is_empty() && self.there == Kind::TAKEN_IN.into() => Data::Unstarted,
            missing => Data::Partial(missing),
        }
    }
}

/// The nodes that a node wrote down when it was told of them; a term of Erlang with two
/// lists. None where there is no such file, or a power cut has left an empty one.
fn members(path: &Path) -> Result<Vec<NodeName>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(nodes(&text)),
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| Doing::Read { path: path.display().to_string() }),
    }
}

fn is_filled(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file() && metadata.len() > 0),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => {
            Err(error).with_context(|| Doing::Inspect { path: path.display().to_string() })
        }
    }
}

fn holds_files(directory: &Path) -> Result<bool> {
    Ok(exists(directory)? && any_file(directory, &[])?)
}

fn exists(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => {
            Err(error).with_context(|| Doing::Inspect { path: path.display().to_string() })
        }
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
