//! The parts of a member's status that all systems report alike. Pure.

use super::ledger::{Ledger, Own};
use crate::settings::PodSettings;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::AgentStatus;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{
    MemberOperationStatus, MemberServer, MemberServerState, PROTOCOL, ServiceStart,
};
use palladion_api::words::Message;

/// As many starts are reported as the schema of the status takes.
const STARTS: usize = 5;
/// Characters of a message: the schema takes no more.
const LONGEST_MESSAGE: usize = 1024;

/// A message of a length that the schema takes.
pub fn cut(text: &str) -> String {
    text.chars().take(LONGEST_MESSAGE).collect()
}

/// Who reports, from which pod. `version` is that of the agent.
pub fn agent(pod: &PodSettings, version: &str) -> AgentStatus {
    AgentStatus {
        version: version.into(),
        protocol: PROTOCOL,
        pod_uid: pod.uid.clone(),
        revision: pod.revision.clone(),
        node: pod.node.clone(),
    }
}

/// What is told of a server, whatever it is.
#[derive(Clone, Debug)]
pub struct Told<'a> {
    /// Its state.
    pub state: MemberServerState,
    /// Since when.
    pub since: &'a Time,
    /// Why.
    pub reason: Reason,
    /// Why, for people.
    pub message: Option<&'a Message>,
    /// The version that it says it has.
    pub version: Option<String>,
    /// Hash of the configuration that it was started with.
    pub config_hash: Option<String>,
}

/// The server process.
pub fn server<O>(told: Told<'_>, ledger: Option<&Ledger<O>>) -> MemberServer {
    MemberServer {
        state: told.state,
        since: told.since.clone(),
        reason: Some(told.reason.as_str().into()),
        message: told.message.map(|message| cut(&message.to_string())),
        version: told.version,
        config_hash: told.config_hash,
        restart_token: ledger.and_then(|ledger| ledger.restart_token.clone()),
    }
}

/// The operation of this ID, or the last one where the spec names none.
pub fn operation<O: Own>(
    wanted: Option<&str>,
    ledger: Option<&Ledger<O>>,
) -> Option<MemberOperationStatus> {
    let ledger = ledger?;
    let known = match wanted {
        Some(id) => ledger.operation(id)?,
        None => ledger.operations.first()?,
    };
    let message = known.message.as_deref().map(cut);
    Some(MemberOperationStatus { message, ..known.clone() })
}

/// The last starts, newest first.
pub fn starts<O>(ledger: Option<&Ledger<O>>) -> Vec<ServiceStart> {
    ledger.map_or_else(Vec::new, |ledger| {
        ledger.starts.iter().take(STARTS).map(|start| start.record.clone()).collect()
    })
}
