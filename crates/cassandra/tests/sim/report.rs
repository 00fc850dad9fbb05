//! What an agent reports: its member's status, and answers to questions.

use super::agent::{Agent, Reach};
use super::ring::{Phase, Ring};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::{HostId, PodUid};
use palladion_api::member::{
    AgentStatus, CassandraMemberSpec, CassandraMemberStatus, Evidence, Liveness, MemberState,
    PROTOCOL, RingMember, RingSummary, ServerState, ServerStatus,
};
use palladion_plan::hash;
use serde_json::json;
use std::collections::BTreeMap;

impl Agent {
    pub(super) fn answer(&mut self, spec: &CassandraMemberSpec, reach: &Reach<'_>) {
        let Some(asked) = spec
            .evidence
            .as_ref()
            .filter(|e| self.evidence.as_ref().is_none_or(|a| a.nonce != e.nonce))
        else {
            return;
        };
        let mode = self.mode(reach);
        let members = mode.as_ref().map(|_| reach.ring.views.of(&self.pod.uid));
        self.evidence = Some(Evidence {
            nonce: asked.nonce.clone(),
            read_at: Time(reach.now),
            mode,
            schema_agreed: reach.ring.schema_agreed(),
            members,
            disk: Some(reach.ring.disk_of(&self.pod.key.name)),
        });
    }

    fn mode(&self, reach: &Reach<'_>) -> Option<String> {
        let server = reach.ring.servers.get(&self.pod.uid)?;
        let mode = match server.phase {
            Phase::Booting => return None,
            Phase::Waking | Phase::Initializing => "STARTING",
            Phase::Joining { .. } => "JOINING",
            Phase::Normal => "NORMAL",
            Phase::Leaving | Phase::Unbootstrapped | Phase::Left => "LEAVING",
            Phase::Decommissioned => "DECOMMISSIONED",
        };
        Some(mode.to_string())
    }

    /// What is reported.
    pub fn status(
        &self,
        spec: &CassandraMemberSpec,
        generation: Option<i64>,
        reach: &Reach<'_>,
    ) -> CassandraMemberStatus {
        let ledger = self.ledger(reach);
        let mode = self.mode(reach);
        let view = reach.ring.views.of(&self.pod.uid);
        let full = mode.as_deref() == Some("NORMAL");
        let mode_version = mode.as_ref().map(|_| self.version.clone());
        CassandraMemberStatus {
            observed_generation: generation,
            agent: Some(AgentStatus {
                version: "sim".into(),
                protocol: PROTOCOL,
                pod_uid: PodUid::new(&self.pod.uid),
                revision: self.pod.revision.clone(),
                node: self.pod.node.clone(),
            }),
            volume: Some(self.volume_state(spec, reach)),
            server: Some(ServerStatus {
                state: self.state,
                since: Time(self.since),
                reason: Some(self.reason.to_string()),
                message: (!self.message.is_empty()).then(|| self.message.clone()),
                native_transport: mode.as_ref().map(|_| self.state == ServerState::Running),
                mode,
                schema_version: mode_version.as_deref().map(schema_of),
                version: mode_version,
                tokens_hash: None,
                config_hash: None,
                seeds: Vec::new(),
                runtime_settings: spec.runtime_settings.clone(),
                restart_token: ledger.and_then(|l| l.restart_token.clone()),
            }),
            host_id: ledger.and_then(|l| l.host_id.clone()),
            address: ledger.and_then(|l| l.address.clone()),
            permit: ledger.and_then(|l| l.permit.clone()),
            intent: ledger.and_then(|l| l.intent.clone()),
            operation: ledger.and_then(|l| l.operations.first().cloned()),
            ring: full.then(|| summary(&view, reach.ring)),
            copies: if full { copies(reach.ring, view.len()) } else { BTreeMap::new() },
            evidence: self.evidence.clone(),
            start_history: ledger.map(|l| l.starts.clone()).unwrap_or_default(),
        }
    }
}

fn summary(view: &[RingMember], ring: &Ring) -> RingSummary {
    let hosts: Vec<&HostId> = view.iter().map(|m| &m.host_id).collect();
    let odd = |m: &&RingMember| m.liveness != Liveness::Up || m.state != MemberState::Normal;
    RingSummary {
        members: u32::try_from(view.len()).unwrap_or(u32::MAX),
        hash: hash::of(&json!(hosts)),
        schema_agreed: ring.schema_agreed(),
        exceptions: view.iter().filter(odd).cloned().collect(),
    }
}

fn copies(ring: &Ring, members: usize) -> BTreeMap<String, u32> {
    let held = |copies: u32| copies.min(u32::try_from(members).unwrap_or(u32::MAX));
    let system = ring.system_copies;
    [
        ("system_auth", system.unwrap_or(1)),
        ("system_distributed", system.unwrap_or(3)),
        ("system_traces", system.unwrap_or(2)),
        ("shop", u32::try_from(ring.copies).unwrap_or(u32::MAX)),
    ]
    .into_iter()
    .map(|(name, copies)| (name.to_string(), held(copies)))
    .collect()
}

/// Each release line has a schema version of its own for the same tables.
fn schema_of(version: &str) -> String {
    let line: Vec<&str> = version.split('.').take(2).collect();
    format!("schema-{}", line.join("."))
}

impl Ring {
    fn schema_agreed(&self) -> bool {
        let normal = self.servers.values().filter(|s| s.phase == Phase::Normal);
        let schemas: std::collections::BTreeSet<String> =
            normal.map(|s| schema_of(&s.version)).collect();
        schemas.len() < 2
    }
}
