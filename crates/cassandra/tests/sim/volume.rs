//! What is on a member's volume: marker, ledger and the server's data, and how
//! an agent judges it before any start.

use palladion_api::ids::{HostId, Nonce, PodUid, StaticAddress, VolumeId};
use palladion_api::member::{
    CassandraMemberSpec, IntentStatus, OperationStatus, PermitKind, PermitStatus, StartRecord,
    VolumeState,
};
use std::collections::BTreeSet;

/// A volume.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    /// The ledger, which carries the volume's ID; absent on a volume never used or wiped.
    pub ledger: Option<Ledger>,
    /// What a server wrote.
    pub data: Option<Data>,
    /// The last spec, kept for starts without the API.
    pub saved: Option<CassandraMemberSpec>,
    /// Data of host IDs that are gone, set aside.
    pub retired: Vec<Data>,
}

/// The agent's ledger.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub volume_id: VolumeId,
    pub successor_of: Option<VolumeId>,
    pub ring: Option<String>,
    pub host_id: Option<HostId>,
    pub address: Option<StaticAddress>,
    pub membership: Membership,
    pub banned: bool,
    /// The pod that was told to stop for good.
    pub banned_pod: PodUid,
    pub permit: Option<PermitStatus>,
    pub used: Vec<Nonce>,
    pub intent: Option<IntentStatus>,
    pub operations: Vec<OperationStatus>,
    pub starts: Vec<StartRecord>,
    pub restart_token: Option<String>,
}

/// Where a volume's data stands with the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    Empty,
    Joining { kind: PermitKind, nonce: Nonce },
    Joined,
    Leaving,
    Left,
}

/// What a server keeps on disk.
#[derive(Clone, Debug)]
pub struct Data {
    /// Which ring it truly belongs to: every founding makes another.
    pub lineage: usize,
    pub host_id: HostId,
    pub bootstrapped: Bootstrapped,
    /// Rows that it holds.
    pub rows: BTreeSet<u32>,
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

impl Ledger {
    pub fn new(volume_id: VolumeId, successor_of: Option<VolumeId>) -> Self {
        Ledger {
            volume_id,
            successor_of,
            ring: None,
            host_id: None,
            address: None,
            membership: Membership::Empty,
            banned: false,
            banned_pod: PodUid::default(),
            permit: None,
            used: Vec::new(),
            intent: None,
            operations: Vec::new(),
            starts: Vec::new(),
            restart_token: None,
        }
    }
}

/// What an unused volume is taken for.
pub enum Unused {
    /// Empty and nothing else is recorded.
    New,
    /// The recorded one was here and its marker is missing.
    Successor(VolumeId),
    /// Another file system is in its place.
    NotMounted,
}

/// Judge a volume without a ledger.
pub fn unused(file_system: &str, spec: &CassandraMemberSpec) -> Unused {
    match (&spec.volume_id, &spec.file_system) {
        (None, None) => Unused::New,
        (Some(lost), Some(recorded)) if recorded == file_system => Unused::Successor(lost.clone()),
        (Some(_), _) | (None, Some(_)) => Unused::NotMounted,
    }
}

/// The state of a volume that has a ledger.
pub fn state(volume: &Volume, ledger: &Ledger, spec: &CassandraMemberSpec) -> VolumeState {
    if ledger.ring.as_ref().is_some_and(|ring| *ring != spec.ring) {
        return VolumeState::Foreign;
    }
    let is_lost = ledger.successor_of.is_some() && ledger.successor_of == spec.volume_id;
    match (&ledger.membership, volume.data.is_some()) {
        (Membership::Empty, true) => VolumeState::Unaccounted,
        (Membership::Empty, false) if is_lost => VolumeState::Lost,
        (Membership::Empty | Membership::Joining { .. }, false) => VolumeState::Empty,
        (Membership::Joining { .. }, true) => VolumeState::Incomplete,
        (Membership::Joined | Membership::Leaving, false) => VolumeState::Lost,
        (Membership::Joined | Membership::Leaving, true) => VolumeState::Joined,
        (Membership::Left, _) => VolumeState::Left,
    }
}
