//! What is on a member's volume: the agent's marker, ledger and last spec, and
//! the server's data.

use super::rows::{Cell, Hint};
use super::work::Jobs;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent::repair::Memory;
use palladion_agent::volume::heartbeat::Known;
use palladion_agent::volume::ledger::Ledger;
use palladion_agent::volume::rebuilt::Rebuilt;
use palladion_agent::volume::roles::Note;
use palladion_agent::volume::tokens::FirstTokens;
use palladion_agent::volume::{self, Found, SavedMember};
use palladion_api::ids::{HostId, MemberName, VolumeId};
use palladion_api::member::Purpose;
use std::collections::{BTreeMap, BTreeSet};

/// A volume.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    /// The volume's ID; absent on a volume never used or wiped.
    pub marker: Option<VolumeId>,
    /// The member that the marker names.
    pub owner: Option<MemberName>,
    /// The agent's ledger.
    pub ledger: Option<Ledger>,
    /// What a server wrote.
    pub data: Option<Data>,
    /// Whether files of a server are there that do not say who it is.
    pub remains: Remains,
    /// The last spec, kept for starts without the API.
    pub saved: Option<SavedMember>,
    /// When its server ran last.
    pub heartbeat: Known,
    /// Notes of the jobs that its agents were given.
    pub jobs: Jobs,
    /// What its agents remember of repairs.
    pub repairs: Memory,
    /// The keys of its server's certificates, and the certificates.
    pub certificates: BTreeMap<Purpose, Certificate>,
    /// Data of host IDs that are gone, set aside.
    pub retired: Vec<Data>,
    /// What is there of backups.
    pub backups: super::transfers::Kept,
    /// What is noted of security.
    pub note: Note,
    /// What is noted of the tokens of a first start.
    pub tokens: FirstTokens,
    /// What is noted of rebuilds.
    pub rebuilt: Rebuilt,
}

/// A key, by the words that are asked with it, and what was signed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The authority that was asked.
    pub authority: String,
    /// The request; each key has another.
    pub request: String,
    /// What was signed, and by which authority.
    pub held: Option<(String, String)>,
    /// What is trusted.
    pub trust: String,
    /// What is trusted besides, and until when: it is shown here, or was.
    pub former: Option<(String, Option<Timestamp>)>,
    /// When that expires.
    pub not_after: Option<Time>,
}

/// Files of a server without its tables of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remains {
    #[default]
    Nothing,
    /// A commit log, caches, tables of users.
    Files,
}

/// What a server keeps on disk.
#[derive(Clone, Debug)]
pub struct Data {
    /// Which ring it truly belongs to: every founding makes another.
    pub lineage: usize,
    pub host_id: HostId,
    pub bootstrapped: Bootstrapped,
    /// Rows that it holds.
    pub rows: BTreeMap<u32, Cell>,
    /// Writes that it keeps for others.
    pub hints: Vec<Hint>,
    /// Ranges that a decommission has streamed, and to whom (`system.transferred_ranges_v2`).
    pub streamed: BTreeSet<(u32, HostId)>,
    /// The formats of its SSTables: first numbers of the versions that have written them.
    pub formats: BTreeSet<u32>,
    /// Keyspaces of another datacenter of which it has all rows, each with its generation.
    pub copied: BTreeMap<String, u32>,
}

/// `system.local` as far as starts depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bootstrapped {
    InProgress,
    Completed,
    /// From a moment before LEFT up to DECOMMISSIONED: a start that may, bootstraps again.
    NeedsBootstrap,
    Decommissioned,
}

impl Volume {
    /// What an agent finds there.
    pub fn inspect(&self, file_system: String) -> Found {
        Found {
            file_system,
            marker: self.marker.clone(),
            owner: self.owner.clone(),
            ledger: self.ledger.clone(),
            data: match (&self.data, self.remains) {
                (Some(_), _) => volume::Data::Present,
                (None, Remains::Files) => volume::Data::Partial,
                (None, Remains::Nothing) => volume::Data::Absent,
            },
            heartbeat: self.heartbeat.clone(),
            note: self.note.clone(),
            tokens: self.tokens.clone(),
            rebuilt: self.rebuilt.clone(),
        }
    }

    /// What is where the volume should be and is not mounted.
    pub fn nothing(file_system: String) -> Found {
        Found {
            file_system,
            marker: None,
            owner: None,
            ledger: None,
            data: volume::Data::Absent,
            heartbeat: Known::Never,
            note: Note::default(),
            tokens: FirstTokens::None,
            rebuilt: Rebuilt::default(),
        }
    }
}
