//! The ledger: what this member has been and done, on the data volume itself.
//! It is the truth; the member object is its mirror.

use jiff::Timestamp;
use palladion_api::ids::{HostId, Nonce, PodUid, StaticAddress, VolumeId};
use palladion_api::member::{
    IntentState, IntentStatus, OperationStatus, PermitKind, PermitState, PermitStatus, StartRecord,
};
use serde::{Deserialize, Serialize};

/// Format of the file; a newer one is not read by an older agent.
const FORMAT: u32 = 1;
/// Operations are remembered by ID so that none runs twice; the operator asks
/// for one at a time, so that this many reach far back.
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
    /// The volume that was recorded for this member when this one was found
    /// empty and unmarked in its place: that one is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor_of: Option<VolumeId>,
    /// Ring whose data this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<String>,
    /// Host ID, once the server was NORMAL.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// Address that the server broadcast then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// Membership.
    pub membership: Membership,
    /// May a server ever run on this volume again?
    #[serde(default)]
    pub ban: Ban,
    /// The pod that put the ban on: no permit for it lifts the ban again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ban_pod: Option<PodUid>,
    /// The host ID under which a server came up on this volume, although the data is that
    /// of another member: noted before that server is stopped, and none starts here again.
    /// An older agent cannot read it, and starts nothing either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_up_as: Option<HostId>,
    /// The last permit and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<PermitStatus>,
    /// Nonces of permits that were used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_permits: Vec<Nonce>,
    /// The last intent and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentStatus>,
    /// Operations, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationStatus>,
    /// Restart token that was in the spec at the last start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_token: Option<String>,
    /// Starts, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Start>,
}

/// Where this volume's data stands with the ring.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Membership {
    /// No server was started on it.
    Empty,
    /// A server was started by a permit and was not NORMAL yet.
    Joining {
        /// The permit's kind.
        kind: PermitKind,
        /// The permit's nonce.
        nonce: Nonce,
    },
    /// The data of a full member.
    Joined,
    /// A decommission was begun; nothing but a permit starts a server here.
    Leaving {
        /// The intent's nonce.
        nonce: Nonce,
    },
    /// Decommissioned; no server is ever started here.
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
    /// A user has terminated this very volume: no permit lifts that. An older agent
    /// cannot read it, and starts nothing either.
    GivenUp,
}

/// One start of the server.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// Tag of the launch.
    pub tag: String,
    /// As it is reported.
    pub record: StartRecord,
    /// Seeds that it was made with.
    #[serde(default)]
    pub seeds: Vec<StaticAddress>,
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
    /// It came up as somebody else, and we stopped it: none is started here again.
    OtherHostId,
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
            ring: None,
            host_id: None,
            address: None,
            membership: Membership::Empty,
            ban: Ban::None,
            ban_pod: None,
            came_up_as: None,
            permit: None,
            used_permits: Vec::new(),
            intent: None,
            operations: Vec::new(),
            restart_token: None,
            starts: Vec::new(),
        }
    }

    /// Was a permit with this nonce used?
    pub fn has_used(&self, nonce: &Nonce) -> bool {
        self.used_permits.iter().any(|n| n == nonce)
    }

    /// Note that a permit is being used.
    pub fn use_permit(&mut self, nonce: &Nonce) {
        self.used_permits.insert(0, nonce.clone());
        self.used_permits.truncate(NONCES);
        self.set_permit(nonce, PermitState::Used, None);
    }

    /// Note what became of a permit.
    pub fn set_permit(&mut self, nonce: &Nonce, state: PermitState, message: Option<String>) {
        self.permit = Some(PermitStatus { nonce: nonce.clone(), state, message });
    }

    /// No server is started on this data again. Of a leaver the operator says that once all
    /// others have said that it has left; a user may say it of one that the ring still has.
    pub fn ban_for_good(&mut self, ban: Ban, pod: PodUid) {
        self.ban = ban;
        self.ban_pod = Some(pod);
        let is_leaver = matches!(self.membership, Membership::Leaving { .. });
        if is_leaver && ban == Ban::Terminated {
            self.membership = Membership::Left;
        }
    }

    /// Note what became of an intent.
    pub fn set_intent(
        &mut self,
        nonce: &Nonce,
        state: IntentState,
        message: Option<String>,
        now: Timestamp,
    ) {
        let since = Some(super::seconds(now));
        self.intent = Some(IntentStatus { nonce: nonce.clone(), state, message, since });
    }

    /// The operation of this ID, if it was ever begun.
    pub fn operation(&self, id: &str) -> Option<&OperationStatus> {
        self.operations.iter().find(|o| o.id == id)
    }

    /// Note an operation's state.
    pub fn set_operation(&mut self, operation: OperationStatus) {
        match self.operations.iter_mut().find(|o| o.id == operation.id) {
            Some(known) => *known = operation,
            None => self.operations.insert(0, operation),
        }
        self.operations.truncate(OPERATIONS);
    }

    /// Note a start.
    pub fn begin_start(&mut self, tag: &str, cause: &str, seeds: &[StaticAddress], now: Timestamp) {
        let record = StartRecord {
            started_at: super::seconds(now),
            cause: cause.into(),
            normal_at: None,
            ended_at: None,
            exit_code: None,
            message: None,
        };
        self.starts
            .insert(0, Start { tag: tag.into(), record, seeds: seeds.to_vec(), end: End::Open });
        self.starts.truncate(STARTS);
    }

    /// The start of the server that runs, or ran last.
    pub fn last_start(&self) -> Option<&Start> {
        self.starts.first()
    }

    /// Forget the data: its volume is to be used by a new member.
    pub fn reset_data(&mut self) {
        self.ring = None;
        self.host_id = None;
        self.address = None;
        self.membership = Membership::Empty;
        self.ban = Ban::None;
        self.ban_pod = None;
        self.came_up_as = None;
        self.intent = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::changes::Cause;
    use palladion_api::member::DataBeforeStart;

    #[test]
    fn a_start_by_permit_uses_it_up() {
        let mut ledger = Ledger::new("v".into(), None);
        let (kind, data) = (PermitKind::Join, DataBeforeStart::MustBeEmpty);
        ledger.use_cause(&Cause::Permit { kind, nonce: "n1".into(), data }, &"10.96.0.11".into());
        ledger.set_permit(&"n2".into(), PermitState::Failed, None);
        assert!(ledger.has_used(&"n1".into()), "also when another one came after it");
    }

    #[test]
    fn a_start_under_another_address_notes_it_before_the_server_is_launched() {
        let mut ledger = Ledger::new("v".into(), None);
        ledger.record_normal("h".into(), "10.96.0.11".into(), Timestamp::UNIX_EPOCH);
        let (kind, data) = (PermitKind::Readdress, DataBeforeStart::Keep);
        let cause = Cause::Permit { kind, nonce: "n1".into(), data };
        ledger.use_cause(&cause, &"10.96.0.12".into());
        assert_eq!(ledger.address, Some("10.96.0.12".into()));
        assert_eq!((ledger.membership, ledger.host_id), (Membership::Joined, Some("h".into())));
    }

    #[test]
    fn a_leaver_that_is_stopped_for_good_has_left() {
        let after = |ban, membership| {
            let mut ledger = Ledger::new("v".into(), None);
            ledger.membership = membership;
            ledger.ban_for_good(ban, "pod-1".into());
            assert_eq!(ledger.ban, ban);
            ledger.membership
        };
        let leaving = || Membership::Leaving { nonce: "n".into() };
        assert_eq!(after(Ban::Terminated, leaving()), Membership::Left);
        assert_eq!(after(Ban::Terminated, Membership::Joined), Membership::Joined);
        assert_eq!(after(Ban::Terminated, Membership::Empty), Membership::Empty);
        assert_eq!(after(Ban::GivenUp, leaving()), leaving(), "the ring may still have it");
    }
}
