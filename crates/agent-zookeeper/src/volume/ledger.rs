//! The ledger: what this member has been and done, on the data volume itself. It
//! is the truth; the member object is its mirror.

use jiff::Timestamp;
use palladion_agent_core::volume::seconds;
use palladion_api::ids::{Nonce, PodUid, StaticAddress, VolumeId};
use palladion_api::member::{IntentState, IntentStatus, PermitState, PermitStatus};
use palladion_api::service_member::{MemberOperationStatus, ServicePermitKind, ServiceStart};
use palladion_api::zookeeper::{ServerId, Zxid};
use serde::{Deserialize, Serialize};

/// Format of the file; a newer one is not read by an older agent.
const FORMAT: u32 = 1;
/// Operations are remembered by ID so that none runs twice; the operator asks for
/// one at a time, so that this many reach far back.
const OPERATIONS: usize = 50;
/// Nonces are remembered so that no permit is used twice.
const NONCES: usize = 50;
/// Enough for the back-off to see a run of failures.
const STARTS: usize = 10;

/// The ledger.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ledger {
    /// Format of this file.
    pub format: u32,
    /// The volume's ID, as in the marker.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// The volume that was recorded for this member when this one was found empty and
    /// unmarked in its place: that one is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor_of: Option<VolumeId>,
    /// Cluster whose data this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Number of the server, for the life of the volume.
    #[serde(default, rename = "serverID", skip_serializing_if = "Option::is_none")]
    pub server_id: Option<ServerId>,
    /// Address by which the others know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// Where this volume's data stands with the ensemble.
    pub membership: Membership,
    /// May a server ever run on this volume again?
    #[serde(default)]
    pub ban: Ban,
    /// The pod that put the ban on: no permit for it lifts the ban again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ban_pod: Option<PodUid>,
    /// Version of the configuration in which this server, once a member, is missing:
    /// noted before it is stopped, and none starts here again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_in: Option<Zxid>,
    /// Raised at each start, and at each turn of the member: an old copy of the volume
    /// is known by it.
    #[serde(default)]
    pub counter: i64,
    /// The last permit and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<PermitStatus>,
    /// Nonces of permits that were used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_permits: Vec<Nonce>,
    /// Starts by that permit whose server died before it was a participant.
    #[serde(default)]
    pub failed_starts: u32,
    /// The last intent and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentStatus>,
    /// Operations, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<MemberOperationStatus>,
    /// Restart token that was in the spec at the last start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_token: Option<String>,
    /// Starts, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Start>,
}

/// Where this volume's data stands with the ensemble.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Membership {
    /// No server was started on it.
    Empty,
    /// A server was started by a permit and was not proven a participant yet.
    Joining {
        /// The permit's kind.
        kind: ServicePermitKind,
        /// The permit's nonce.
        nonce: Nonce,
    },
    /// The data of a participant.
    Joined,
    /// It has left; no server is ever started here.
    Left,
}

/// Whether a server may ever run on this volume again.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Ban {
    /// Nothing speaks against it.
    #[default]
    None,
    /// The spec once said `Terminated`.
    Terminated,
}

/// One start of the server.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// Tag of the launch.
    pub tag: String,
    /// As it is reported.
    pub record: ServiceStart,
    /// Why it ended.
    #[serde(default)]
    pub end: End,
}

/// Why a server ended.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// It runs, as far as is known.
    #[default]
    Open,
    /// By itself: counts for the back-off.
    Died,
    /// We stopped it.
    Stopped,
    /// The container ended with it: no failure of the server that we know of.
    WithContainer,
}

impl palladion_agent_core::volume::Ledger for Ledger {
    const FORMAT: u32 = FORMAT;

    fn format(&self) -> u32 {
        self.format
    }

    fn volume_id(&self) -> &VolumeId {
        &self.volume_id
    }
}

impl Ledger {
    /// Of a volume that is taken into use.
    pub fn new(volume_id: VolumeId, successor_of: Option<VolumeId>) -> Self {
        Self {
            format: FORMAT,
            volume_id,
            successor_of,
            cluster: None,
            server_id: None,
            address: None,
            membership: Membership::Empty,
            ban: Ban::None,
            ban_pod: None,
            missing_in: None,
            counter: 0,
            permit: None,
            used_permits: Vec::new(),
            failed_starts: 0,
            intent: None,
            operations: Vec::new(),
            restart_token: None,
            starts: Vec::new(),
        }
    }

    /// Was a permit with this nonce used?
    pub fn has_used(&self, nonce: &Nonce) -> bool {
        self.used_permits.contains(nonce)
    }

    /// Note that a permit is being used.
    pub fn use_permit(&mut self, nonce: &Nonce) {
        if !self.has_used(nonce) {
            self.used_permits.insert(0, nonce.clone());
            self.used_permits.truncate(NONCES);
            self.failed_starts = 0;
        }
        self.set_permit(nonce, PermitState::Used, None);
    }

    /// Note what became of a permit.
    pub fn set_permit(&mut self, nonce: &Nonce, state: PermitState, message: Option<String>) {
        self.permit = Some(PermitStatus { nonce: nonce.clone(), state, message });
    }

    /// Note what became of an intent.
    pub fn set_intent(
        &mut self,
        nonce: &Nonce,
        state: IntentState,
        message: Option<String>,
        now: Timestamp,
    ) {
        let since = Some(seconds(now));
        self.intent = Some(IntentStatus { nonce: nonce.clone(), state, message, since });
    }

    /// The operation of this ID, if it was ever begun.
    pub fn operation(&self, id: &str) -> Option<&MemberOperationStatus> {
        self.operations.iter().find(|o| o.id == id)
    }

    /// Note an operation's state.
    pub fn set_operation(&mut self, operation: MemberOperationStatus) {
        match self.operations.iter_mut().find(|o| o.id == operation.id) {
            Some(known) => *known = operation,
            None => self.operations.insert(0, operation),
        }
        self.operations.truncate(OPERATIONS);
    }

    /// Note a start.
    pub fn begin_start(&mut self, tag: &str, cause: &str, now: Timestamp) {
        self.counter = self.counter.saturating_add(1);
        let record = ServiceStart {
            started_at: seconds(now),
            cause: cause.into(),
            served_at: None,
            ended_at: None,
            exit_code: None,
            message: None,
        };
        self.starts.insert(0, Start { tag: tag.into(), record, end: End::Open });
        self.starts.truncate(STARTS);
    }

    /// The start of the server that runs, or ran last.
    pub fn last_start(&self) -> Option<&Start> {
        self.starts.first()
    }
}
