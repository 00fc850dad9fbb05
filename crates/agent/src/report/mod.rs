//! The member's status, put together from what the agent knows.

pub mod job;
pub mod last_words;
pub mod load;
pub mod ring;
pub mod transfer;

use crate::admin::Reading;
use crate::decide::Decision;
use crate::launch_record::LaunchRecord;
use crate::volume::ledger::Ledger;
use crate::volume::seconds;
use crate::words::volume::Wrong;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
pub use palladion_agent_transfer::tokens::hash as hash_sorted;
use palladion_api::backup::{ArchiveStatus, TransferStatus};
use palladion_api::ids::StaticAddress;
use palladion_api::member::{
    AccessProblem, AgentStatus, BeginQuestion, CassandraMemberStatus, CdcStatus, Evidence, Guard,
    HealthRecord, JobStatus, MOST_REBUILT, MemberTlsStatus, Missed, OperationStatus, RebuildStatus,
    ServerStatus, VolumeState, VolumeStatus,
};
use palladion_api::repair::{Pressure, RepairStatus};
use std::collections::BTreeMap;

/// Starts that are reported.
const STARTS: usize = 5;

/// What a status is made of.
pub struct Parts<'a> {
    /// Who reports, from which pod.
    pub agent: AgentStatus,
    /// Generation of the spec that was decided on.
    pub generation: Option<i64>,
    /// The volume's state, once it is ours or known to be unusable.
    pub volume: Option<(VolumeState, Option<Wrong>)>,
    /// Identity of the file system.
    pub file_system: Option<&'a str>,
    /// The ledger.
    pub ledger: Option<&'a Ledger>,
    /// Up to when the data holds all deletions, where that is too long ago to start with.
    pub last_ran_at: Option<Timestamp>,
    /// For how long all tables of users keep deletions, where that is known.
    pub gc_grace_seconds: Option<u32>,
    /// When the server was down and has not caught up since.
    pub missed: Option<Missed>,
    /// Members of the past whose data is kept on it.
    pub retired: u32,
    /// What was decided.
    pub decision: &'a Decision,
    /// Since when the server is in that state.
    pub since: Time,
    /// What the server says.
    pub reading: Option<&'a Reading>,
    /// How much data it holds, as far as that is told.
    pub load: Option<u64>,
    /// Health of the server, newest first.
    pub health: &'a [HealthRecord],
    /// The launch that runs.
    pub launch: Option<&'a LaunchRecord>,
    /// Copies of each keyspace.
    pub copies: &'a BTreeMap<String, u32>,
    /// The same by datacenter, where the ring has several.
    pub copies_by_datacenter: &'a BTreeMap<String, BTreeMap<String, u32>>,
    /// Keyspaces that do not count copies by it, sorted.
    pub not_by_datacenter: &'a [String],
    /// What it has of the data of the ring, where its datacenter was added to one.
    pub rebuild: Option<RebuildStatus>,
    /// Does its server take no clients, since it is not rebuilt?
    pub awaits_rebuild: bool,
    /// The answer to the last question.
    pub evidence: Option<&'a Evidence>,
    /// What keeps the agent from logging in.
    pub access: Option<&'a AccessProblem>,
    /// What it asks the operator to sign, and what it has.
    pub tls: Option<MemberTlsStatus>,
    /// What keeps others out of the server that runs.
    pub guards: Vec<Guard>,
    /// What no server is started without, as it is noted.
    pub floor: Option<&'a [Guard]>,
    /// The question whether a permit or an intent may be begun.
    pub begin: Option<BeginQuestion>,
    /// The operation that the spec names.
    pub operation: Option<&'a str>,
    /// The job that the spec names, or the last one.
    pub job: Option<&'a JobStatus>,
    /// The work at a backup that the spec names, or the last one.
    pub transfer: Option<&'a TransferStatus>,
    /// The archive of the commit log.
    pub archive: Option<&'a ArchiveStatus>,
    /// What waits for readers of changes.
    pub cdc: Option<&'a CdcStatus>,
    /// The repository of backups that is noted on the volume.
    pub repository: Option<&'a str>,
    /// How far the repair of its ranges is.
    pub repair: Option<&'a RepairStatus>,
    /// Has the server more to do than it gets done?
    pub pressure: Option<Pressure>,
    /// How far the running operation is.
    pub progress: Option<u8>,
}

/// Put it together.
pub fn status(parts: &Parts<'_>) -> CassandraMemberStatus {
    let ledger = parts.ledger;
    CassandraMemberStatus {
        observed_generation: parts.generation,
        agent: Some(parts.agent.clone()),
        volume: volume(parts),
        server: Some(server(parts)),
        health: parts.health.to_vec(),
        host_id: ledger.and_then(|l| l.host_id.clone()),
        address: announced(parts).or_else(|| ledger.and_then(|l| l.address.clone())),
        permit: ledger.and_then(|l| l.permit.clone()),
        intent: ledger.and_then(|l| l.intent.clone()),
        begin: parts.begin.clone(),
        operation: operation(parts),
        job: parts.job.cloned(),
        transfer: parts.transfer.cloned(),
        archive: parts.archive.cloned(),
        cdc: parts.cdc.cloned(),
        repository_id: parts.repository.map(str::to_string),
        repair: parts.repair.cloned(),
        pressure: parts.pressure,
        ring: parts.reading.and_then(ring::summary),
        copies: parts.copies.clone(),
        copies_by_datacenter: parts.copies_by_datacenter.clone(),
        not_by_datacenter: parts.not_by_datacenter.iter().take(MOST_REBUILT).cloned().collect(),
        rebuild: parts.rebuild.clone(),
        evidence: parts.evidence.cloned(),
        access: parts.access.cloned(),
        tls: parts.tls.clone(),
        security_floor: parts.floor.map(<[Guard]>::to_vec),
        start_history: ledger
            .map(|l| l.starts.iter().take(STARTS).map(|s| s.record.clone()).collect())
            .unwrap_or_default(),
    }
}

/// The address under which the running server has itself in its ring.
fn announced(parts: &Parts<'_>) -> Option<StaticAddress> {
    let reading = parts.reading?;
    let own = reading.host_id.as_ref()?;
    let mut members = reading.members.iter().flatten();
    members.find(|m| m.host_id == *own).map(|m| m.address.clone())
}

fn volume(parts: &Parts<'_>) -> Option<VolumeStatus> {
    let (state, wrong) = parts.volume.clone()?;
    Some(VolumeStatus {
        volume_id: parts.ledger.map(|l| l.volume_id.clone()).unwrap_or_default(),
        state,
        file_system: parts.file_system.unwrap_or_default().into(),
        ring: parts.ledger.and_then(|l| l.ring.clone()),
        message: wrong.map(|w| w.to_string()),
        last_ran_at: parts.last_ran_at.map(seconds),
        missed: parts.missed.clone(),
        gc_grace_seconds: parts.gc_grace_seconds,
        retired: Some(parts.retired).filter(|retired| *retired > 0),
    })
}

fn server(parts: &Parts<'_>) -> ServerStatus {
    let decision = parts.decision;
    let reading = parts.reading;
    ServerStatus {
        state: decision.state,
        since: parts.since.clone(),
        reason: Some(decision.reason.as_str().into()),
        message: decision.message.as_ref().map(ToString::to_string),
        mode: reading.and_then(Reading::reported_mode),
        native_transport: reading.and_then(|r| r.native_transport),
        version: reading.and_then(|r| r.version.clone()),
        load_bytes: parts.load,
        schema_version: reading.and_then(|r| r.schema_version.clone()),
        tokens_hash: reading
            .and_then(|r| r.tokens.as_ref())
            .map(|tokens| hash_sorted(tokens.iter().map(String::as_str))),
        config_hash: parts.launch.map(|l| l.config_hash.clone()),
        seeds: sorted(reading.and_then(|r| r.seeds.as_ref())),
        runtime_settings: parts.launch.map(|l| l.runtime.clone()).unwrap_or_default(),
        guards: parts.guards.clone(),
        closed: parts.launch.is_some_and(|l| l.closed),
        awaits_rebuild: parts.awaits_rebuild,
        client_address: parts.launch.and_then(|l| l.client_address.clone()),
        restart_token: parts.ledger.and_then(|l| l.restart_token.clone()),
    }
}

fn sorted(list: Option<&Vec<StaticAddress>>) -> Vec<StaticAddress> {
    let mut list = list.cloned().unwrap_or_default();
    list.sort();
    list
}

fn operation(parts: &Parts<'_>) -> Option<OperationStatus> {
    let ledger = parts.ledger?;
    let known = match parts.operation {
        Some(id) => ledger.operation(id)?,
        None => ledger.operations.first()?,
    };
    let mut status = known.clone();
    if status.state == palladion_api::member::OperationState::Running {
        status.progress = parts.progress.or(status.progress);
    }
    Some(status)
}
