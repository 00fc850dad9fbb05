//! What a server tells its agent, and what the agent tells everybody.

use super::agent::{Agent, Look, Reach};
use super::ring::{Phase, Ring, Server};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent::admin::{Figures, Reading};
use palladion_agent::decide::{self, Decision, Process, Source};
use palladion_agent::launch_record::LaunchRecord;
use palladion_agent::render::Door;
use palladion_agent::report::{self, Parts};
use palladion_agent::volume::ledger::Membership;
use palladion_agent::volume::seconds;
use palladion_api::member::{
    AgentStatus, CassandraMemberStatus, Liveness, MemberState, ServerState,
};
use palladion_plan::sim::Activity;
use std::collections::BTreeMap;

/// Agents of before this protocol report no health.
const REPORTS_HEALTH: u32 = 4;
/// A look is believed for this long where newer ones fail: as the real agent does.
const READING_LIFE: SignedDuration = SignedDuration::from_secs(15);
/// The server is looked at this often while something changes, while it
/// starts, and at rest: as the real agent does.
const LOOK_OFTEN: SignedDuration = SignedDuration::from_millis(900);
const LOOK_START: SignedDuration = SignedDuration::from_millis(400);
const LOOK_REST: SignedDuration = SignedDuration::from_secs(5);

/// Agents of before this protocol do not say in which datacenter a member is.
pub(super) const KNOWS_DATACENTERS: u32 = 13;

impl Agent {
    /// Look at the server: at once for a question, otherwise when it is time;
    /// a look that would show nothing new is not taken, so that rest is rest.
    pub(super) fn look(&mut self, reach: &Reach<'_>) -> Activity {
        let now = reach.now;
        if reach.ring.silent.contains(&self.pod.key.name) {
            return self.look_in_vain(now);
        }
        let Some(mut reading) = reach.ring.reading(self.pod.uid.as_str(), now) else {
            return Activity::default();
        };
        if self.protocol < KNOWS_DATACENTERS {
            reading.members.iter_mut().flatten().for_each(|m| m.datacenter = None);
        }
        self.unanswered = None;
        let asked = self.question.as_ref().map(|(_, seen)| *seen);
        if let Some(look) = &self.look {
            let answers = asked.is_none_or(|seen| look.begun >= seen);
            if look.reading == reading && answers && self.watch.is_complete() {
                self.differs = None;
                return Activity::default();
            }
            let due = *self.differs.get_or_insert(now) + self.look_pause();
            if answers && due > now {
                return Activity::default().at(due);
            }
        }
        self.watch.look(Some(&reading));
        self.look = Some(Look { begun: now, reading });
        self.differs = None;
        Activity::ACTED
    }

    /// The server does not answer. What it said last is believed for a while.
    fn look_in_vain(&mut self, now: Timestamp) -> Activity {
        if self.look.is_none() {
            return Activity::default();
        }
        let since = *self.unanswered.get_or_insert(now);
        let due = *self.differs.get_or_insert(now) + self.look_pause();
        if due > now {
            return Activity::default().at(due);
        }
        self.watch.look(None);
        self.differs = None;
        if now >= since + READING_LIFE {
            self.look = None;
        }
        Activity::ACTED
    }

    fn look_pause(&self) -> SignedDuration {
        let Some(reading) = self.reading().filter(|r| r.serves()) else {
            return LOOK_START;
        };
        let well = reading
            .members
            .iter()
            .flatten()
            .all(|m| m.liveness == Liveness::Up && m.state == MemberState::Normal);
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        let idle = self.job.is_none() && self.question.is_none() && self.watch.is_settled();
        if well && joined && idle { LOOK_REST } else { LOOK_OFTEN }
    }

    /// Is the pod ready?
    pub fn is_ready(&self, decision: &Decision) -> bool {
        decision.state != ServerState::Stopping
            && !self.closed
            && self.reading().is_some_and(Reading::serves)
    }

    /// What is reported.
    pub fn status(
        &mut self,
        decision: &Decision,
        generation: Option<i64>,
        now: Timestamp,
    ) -> CassandraMemberStatus {
        let since = self.since(decision.state, now);
        let launch = self.tag.as_ref().map(|tag| LaunchRecord {
            tag: tag.clone(),
            config_hash: String::new(),
            seeds: Vec::new(),
            runtime: self.runtime.clone(),
            runtime_before: None,
            sealed: self.sealed.is_some(),
            closed: self.closed,
            awaits_rebuild: self.awaits_rebuild,
            was_open: self.was_open,
            rewound: self.rewound,
            client_address: self.announced.clone(),
            credentials: None,
        });
        let operation = self.saved.as_ref().and_then(|s| s.spec.operation.as_ref());
        let job = self.saved.as_ref().and_then(|s| s.spec.job.as_ref());
        let mut noted = self.notes.status(job.map(|j| j.id.as_str())).cloned();
        if let Some(open) = noted.as_mut().filter(|noted| !noted.state.is_final()) {
            open.batches.clone_from(&self.offers);
        }
        report::status(&Parts {
            agent: AgentStatus {
                version: "sim".into(),
                protocol: self.protocol,
                pod_uid: self.uid.clone(),
                revision: self.pod.revision.clone(),
                node: self.pod.node.clone(),
            },
            generation: generation.filter(|_| self.source == Source::Live),
            volume: decide::volume_state(&self.facts(now)),
            file_system: self.found.as_ref().map(|f| f.file_system.as_str()),
            ledger: self.ledger(),
            last_ran_at: decide::stale::too_old(&self.facts(now)),
            gc_grace_seconds: self
                .found
                .as_ref()
                .and_then(|f| f.heartbeat.smallest_gc_grace_seconds()),
            missed: self.found.as_ref().zip(self.ledger()).and_then(|(f, l)| f.heartbeat.missed(l)),
            retired: 0,
            decision,
            since,
            reading: self.reading(),
            load: None,
            health: match self.protocol {
                ..REPORTS_HEALTH => &[],
                _ => self.watch.records(),
            },
            launch: launch.as_ref().filter(|_| self.process == Process::Running),
            copies: &self.copies.counts,
            copies_by_datacenter: &self.copies.by_datacenter,
            not_by_datacenter: &self.copies.uneven,
            rebuild: self.told_rebuilt(),
            awaits_rebuild: decide::rebuild::is_owed(&self.facts(now)),
            evidence: self.evidence.as_ref(),
            access: self.access.as_ref(),
            tls: self.tls.clone(),
            guards: self.guards_of_server(),
            floor: self.found.as_ref().and_then(|f| f.note.floor.as_deref()),
            begin: self.begin_question().map(|(question, _)| question.clone()),
            operation: operation.map(|o| o.id.as_str()),
            job: noted.as_ref(),
            repair: self.outlook().as_ref(),
            pressure: None,
            progress: None,
            transfer: self.moves.told.as_ref(),
            archive: self.archive.as_ref(),
            cdc: self.cdc.as_ref(),
            repository: self.repository.as_deref(),
        })
    }

    /// Since when the state holds; what an earlier agent told goes on.
    fn since(&mut self, state: ServerState, now: Timestamp) -> Time {
        let known = self.state.as_ref().filter(|(known, _)| *known == state);
        let since = known.map_or_else(|| seconds(self.clock_at(now)), |(_, since)| since.clone());
        self.state = Some((state, since.clone()));
        since
    }
}

impl Ring {
    /// What a server answers, once it does.
    pub fn reading(&self, pod: &str, now: Timestamp) -> Option<Reading> {
        let server = self.servers.get(pod)?;
        let mode = match server.phase {
            Phase::Booting => return None,
            Phase::Waking | Phase::Initializing => "STARTING",
            Phase::Joining { .. } => "JOINING",
            // 4.x says so in its log, where the agent reads it.
            Phase::JoinFailed => "JOINING_FAILED",
            Phase::Normal if server.refused && !is_4(&server.version) => "DECOMMISSION_FAILED",
            Phase::Normal => "NORMAL",
            Phase::Drained => "DRAINED",
            Phase::LeaveFailed if !is_4(&server.version) => "DECOMMISSION_FAILED",
            Phase::Leaving | Phase::LeaveFailed | Phase::Unbootstrapped | Phase::Left => "LEAVING",
            Phase::Decommissioned => "DECOMMISSIONED",
        };
        let native = match server.phase {
            Phase::Normal => server.until <= now,
            Phase::Leaving | Phase::LeaveFailed | Phase::Unbootstrapped => true,
            Phase::Booting
            | Phase::Waking
            | Phase::Initializing
            | Phase::Joining { .. }
            | Phase::JoinFailed
            | Phase::Drained
            | Phase::Left
            | Phase::Decommissioned => false,
        };
        let disk = self.disk_of(&server.member);
        Some(Reading {
            mode: Some(mode.into()),
            native_transport: Some(
                native
                    && !self.closed.contains(&server.member)
                    && !matches!(server.door, Door::Sealed | Door::AwaitsRebuild),
            ),
            gossip: Some(server.phase != Phase::Drained),
            version: Some(server.version.clone()),
            host_id: server.host_id.clone(),
            schema_version: Some(self.schema_of(server)),
            schema_agreed: Some(self.schema_agreed()),
            tokens: server.host_id.as_ref().and_then(|host| self.restored.get(host).cloned()),
            seeds: Some(server.seeds.clone()),
            members: Some(self.views.of(pod)),
            auto_repair: Some(self.auto_repair.contains(&server.member)),
            figures: Figures {
                load: Some(bytes(disk.data_bytes)),
                // What takes time here takes seconds; only what hangs takes longer.
                streamed: Some(0.0),
                ..Figures::default()
            },
        })
    }

    /// Of each keyspace the largest number of members that hold one range.
    pub fn copies_of_keyspaces(&self, members: usize) -> BTreeMap<String, u32> {
        let held = |copies: u32| copies.min(u32::try_from(members).unwrap_or(u32::MAX));
        let system = self.system_copies;
        [
            ("system_auth", system.unwrap_or(1)),
            ("system_distributed", system.unwrap_or(3)),
            ("system_traces", system.unwrap_or(2)),
            ("shop", u32::try_from(self.copies).unwrap_or(u32::MAX)),
        ]
        .into_iter()
        .map(|(name, copies)| (name.to_string(), held(copies)))
        .collect()
    }

    /// Each release line has a schema version of its own for the same tables.
    fn schema_of(&self, server: &Server) -> String {
        let line: Vec<&str> = server.version.split('.').take(2).collect();
        let odd = if self.odd_schemas.contains(&server.member) { "-odd" } else { "" };
        let altered = match self.far.altered {
            0 => String::new(),
            times => format!("-{times}"),
        };
        let copies = self.system_copies.unwrap_or(0);
        format!("schema-{}-{copies}{odd}{altered}", line.join("."))
    }

    fn schema_agreed(&self) -> bool {
        let normal = self.servers.values().filter(|s| s.phase == Phase::Normal);
        let schemas: std::collections::BTreeSet<String> =
            normal.map(|s| self.schema_of(s)).collect();
        schemas.len() < 2
    }
}

fn is_4(version: &str) -> bool {
    version.starts_with("4.")
}

#[expect(clippy::cast_precision_loss, reason = "a disk of the simulator is small")]
fn bytes(bytes: u64) -> f64 {
    bytes as f64
}
