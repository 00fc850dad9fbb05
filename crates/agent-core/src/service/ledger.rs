//! The ledger: what this member has been and done, on the data volume itself. It
//! is the truth; the member object is its mirror. What only one system notes, its
//! agent adds ([`Own`]).

use crate::backoff::{self, Attempt, Ended};
use crate::volume::seconds;
use jiff::Timestamp;
use palladion_api::ids::{Nonce, PodUid, StaticAddress, VolumeId};
use palladion_api::member::{IntentState, IntentStatus, PermitState, PermitStatus};
use palladion_api::service_member::{MemberOperationStatus, ServicePermitKind, ServiceStart};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Format of the file; a newer one is not read by an older agent.
const FORMAT: u32 = 1;
/// Operations are remembered by ID so that none runs twice; the operator asks for
/// one at a time, so that this many reach far back.
const OPERATIONS: usize = 50;
/// Nonces are remembered so that no permit is used twice.
const NONCES: usize = 50;
/// Enough for the back-off to see a run of failures.
const STARTS: usize = 10;

/// What a system notes beside what all note. Its fields stand in the ledger as if they
/// were the ledger's own, in JSON and here.
pub trait Own: Serialize + DeserializeOwned + Default {
    /// How the others of its cluster know a server, for the life of the volume.
    type Id;

    /// Note by which name a server joins.
    fn name(&mut self, id: Self::Id);
}

/// The ledger.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound = "O: Own")]
pub struct Ledger<O> {
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
    /// Address by which the others know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// Where this volume's data stands with its cluster.
    pub membership: Membership,
    /// May a server ever run on this volume again?
    #[serde(default)]
    pub ban: Ban,
    /// The pod that put the ban on: no permit for it lifts the ban again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ban_pod: Option<PodUid>,
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
    /// Starts by that permit whose server died before it was a full member.
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
    /// What only this system notes.
    #[serde(flatten)]
    pub own: O,
}

impl<O> Deref for Ledger<O> {
    type Target = O;

    fn deref(&self) -> &O {
        &self.own
    }
}

impl<O> DerefMut for Ledger<O> {
    fn deref_mut(&mut self) -> &mut O {
        &mut self.own
    }
}

/// Where this volume's data stands with its cluster.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Membership {
    /// No server was started on it.
    Empty,
    /// A server was started by a permit and was not proven a full member yet.
    Joining {
        /// The permit's kind.
        kind: ServicePermitKind,
        /// The permit's nonce.
        nonce: Nonce,
    },
    /// The data of a full member.
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

impl<O: Own> crate::volume::Ledger for Ledger<O> {
    const FORMAT: u32 = FORMAT;

    fn format(&self) -> u32 {
        self.format
    }

    fn volume_id(&self) -> &VolumeId {
        &self.volume_id
    }
}

impl<O: Own> Ledger<O> {
    /// Of a volume that is taken into use.
    pub fn new(volume_id: VolumeId, successor_of: Option<VolumeId>) -> Self {
        Self {
            format: FORMAT,
            volume_id,
            successor_of,
            cluster: None,
            address: None,
            membership: Membership::Empty,
            ban: Ban::None,
            ban_pod: None,
            counter: 0,
            permit: None,
            used_permits: Vec::new(),
            failed_starts: 0,
            intent: None,
            operations: Vec::new(),
            restart_token: None,
            starts: Vec::new(),
            own: O::default(),
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

    /// Has the server served as a member since its start?
    pub fn has_served(&self) -> bool {
        self.last_start().is_some_and(|start| start.record.served_at.is_some())
    }
}

/// The time before which no start is tried, from the starts so far (newest first).
pub fn earliest(starts: &[Start], now: Timestamp) -> Option<Timestamp> {
    let attempts: Vec<Attempt> = starts.iter().map(attempt).collect();
    backoff::earliest(&attempts, now)
}

fn attempt(start: &Start) -> Attempt {
    Attempt {
        served_at: start.record.served_at.as_ref().map(|at| at.0),
        ended_at: start.record.ended_at.as_ref().map(|at| at.0),
        ended: match start.end {
            End::Died => Ended::ByItself,
            End::Open | End::Stopped | End::WithContainer => Ended::Otherwise,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Named;
    use super::*;
    use serde_json::json;

    /// An older agent must not start a server by half of what a newer one has noted.
    #[test]
    fn what_a_system_adds_stands_beside_the_rest_and_what_is_unknown_is_refused() {
        let mut ledger = Ledger::<Named>::new("v1".into(), None);
        ledger.own.name("a".into());
        let mut text = json!(ledger);
        assert_eq!((&text["volumeID"], &text["name"]), (&json!("v1"), &json!("a")));
        assert_eq!(serde_json::from_value::<Ledger<Named>>(text.clone()).unwrap(), ledger);
        text["later"] = json!(1);
        let refused = serde_json::from_value::<Ledger<Named>>(text).unwrap_err();
        assert!(refused.to_string().contains("later"), "{refused}");
    }
}
