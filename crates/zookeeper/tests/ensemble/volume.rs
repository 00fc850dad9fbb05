//! What is on a disk: marker, ledger, transaction log, and the configuration that the
//! server writes itself.

use super::model::{Config, Data};
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::service_member::{OperationAnswer, ServicePermitKind};
use std::collections::BTreeMap;

/// A disk of a member.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    /// From the marker file.
    pub id: Option<String>,
    pub ledger: Ledger,
    pub data: Option<Data>,
    /// The dynamic file.
    pub file: Option<Config>,
}

/// What the agent remembers of this volume.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The volume that was on this file system before, and is lost.
    pub successor_of: Option<VolumeId>,
    pub server_id: Option<i64>,
    pub part: Part,
    /// The permit that it was begun by.
    pub begun_by: Option<(ServicePermitKind, Nonce)>,
    /// Nonces of permits that were used.
    pub used: Vec<Nonce>,
    pub starts: i64,
    pub operations: BTreeMap<String, OperationAnswer>,
}

/// The part that the server on it has in an ensemble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    None,
    Begun,
    Joined,
    Left,
}
