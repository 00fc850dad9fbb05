//! Tell: status, probes, metrics.

use super::state::Agent;
use crate::admin::Reading;
use crate::decide::{self, Decision, Source};
use crate::kubernetes::News;
use crate::repair::pressure::Load;
use crate::report::{self, Parts, load};
use crate::volume::{Volume, seconds};
use crate::words::start::Waiting;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_core::telling;
use palladion_api::member::{
    AgentStatus, BeginQuestion, CassandraMemberStatus, JobStatus, PROTOCOL, ServerState,
};
use palladion_api::reasons::Reason;
use palladion_api::repair::Pressure;
use palladion_api::words::Message;
use std::time::Instant;

impl Agent {
    pub(super) fn tell(&mut self, decision: &Decision) {
        self.kill_if_overdue();
        let mut decision = decision.clone();
        if let Some(trouble) = &self.trouble {
            if decision.state == ServerState::Starting && self.reading().is_none() {
                decision.state = ServerState::Failed;
                decision.reason = Reason::ServerFailed;
            }
            decision.message = Some(trouble.clone());
        }
        decision.message = self.not_read().or(decision.message);
        let since = self.since(decision.state);
        self.follow_health(decision.state);
        self.tell_probes(&decision);
        self.metrics.note(self.reading());
        self.told_load = load::told(self.told_load, self.reading());
        let job = self.told_job();
        let transfer = self.transfers.status.clone();
        let transfer = self.told_transfer.next(transfer, Instant::now());
        let archive = self.told_archive();
        self.measure_archive();
        let cdc = self.told_cdc();
        let repair = self.told_repair();
        self.count_repairs(repair.as_ref());
        let facts = self.facts();
        let source = self.source();
        let saved = self.saved.as_ref();
        let access = self.access_problem();
        let status = report::status(&Parts {
            agent: self.own_status(),
            generation: saved.filter(|_| source == Source::Live).and_then(|s| s.generation),
            volume: decide::volume_state(&facts),
            file_system: self.found.as_ref().ok().map(|f| f.file_system.as_str()),
            ledger: self.ledger(),
            last_ran_at: decide::stale::too_old(&facts),
            gc_grace_seconds: self
                .found
                .as_ref()
                .ok()
                .and_then(|f| f.heartbeat.smallest_gc_grace_seconds()),
            missed: self
                .found
                .as_ref()
                .ok()
                .zip(self.ledger())
                .and_then(|(f, l)| f.heartbeat.missed(l)),
            retired: self.volume.as_ref().map_or(0, Volume::retired),
            decision: &decision,
            since,
            reading: self.reading(),
            load: self.told_load,
            health: self.watch.records(),
            launch: self.launch.as_ref(),
            copies: &self.copies.counts,
            copies_by_datacenter: &self.copies.by_datacenter.copies,
            not_by_datacenter: &self.copies.by_datacenter.uneven,
            rebuild: self.told_rebuilt(),
            awaits_rebuild: decide::rebuild::is_owed(&facts),
            evidence: self.evidence.as_ref(),
            access: access.as_ref(),
            tls: self.issued.status(),
            guards: self.guards_of_server(),
            floor: self.found.as_ref().ok().and_then(|f| f.note.floor.as_deref()),
            begin: self.begin_question(),
            operation: saved.and_then(|s| s.spec.operation.as_ref()).map(|o| o.id.as_str()),
            job: job.as_ref(),
            transfer: transfer.as_ref(),
            archive: archive.as_ref(),
            cdc: cdc.as_ref(),
            repository: self.repository(),
            repair: repair.as_ref(),
            pressure: self.pressure(),
            progress: self.job.as_ref().map(|j| *j.progress.borrow()),
        });
        drop(facts);
        self.send(status);
    }

    /// Have it written where it differs. What an earlier agent reported goes on, so
    /// it is read first; until then nothing could be written either.
    fn send(&self, status: CassandraMemberStatus) {
        if !self.watch.has_taken_over() {
            return;
        }
        telling::offer(&self.api.status, status);
    }

    /// What looks add up to, after what an earlier agent has reported.
    fn follow_health(&mut self, state: ServerState) {
        let now = Timestamp::now();
        match &*self.api.news.borrow() {
            News::Present(member) => {
                let earlier = member.status.as_ref().map_or(&[][..], |s| &s.health);
                self.watch.take_over(earlier, now);
            }
            // What it reported cannot be read, and stays where it is until it can.
            News::Unreadable(_) => self.watch.take_over(&[], now),
            News::Unknown | News::Unreachable(_) | News::Absent => {}
        }
        self.watch.follow(state, &self.process, now);
        self.metrics.note_health(self.watch.records());
    }

    /// Has the server more to do than it gets done? Told where repairs ask for it.
    fn pressure(&self) -> Option<Pressure> {
        match *self.load.borrow() {
            Load::High if self.coverage().is_some() => Some(Pressure::High),
            Load::High | Load::Usual => None,
        }
    }

    /// The job, as often as it is worth telling.
    fn told_job(&mut self) -> Option<JobStatus> {
        let wanted = self.saved.as_ref().and_then(|s| s.spec.job.as_ref()).map(|j| j.id.as_str());
        let unwritten = wanted.and_then(|id| self.unwritten.of(id)).cloned();
        let noted = || self.book.as_ref().and_then(|book| book.status(wanted));
        let status = unwritten.or_else(noted);
        let told = self.told_job.next(status, Instant::now());
        self.metrics.note_job(told.as_ref());
        told
    }

    /// What of its own member this agent cannot read, or does not know. What it is
    /// asked to do, and does not know, it refuses by itself.
    fn not_read(&self) -> Option<Message> {
        let version = env!("CARGO_PKG_VERSION");
        match &*self.api.news.borrow() {
            News::Unreadable(u) => Some(Waiting::Unreadable { why: u.why.clone(), version }.into()),
            News::Unknown | News::Unreachable(_) | News::Absent | News::Present(_) => None,
        }
    }

    fn own_status(&self) -> AgentStatus {
        AgentStatus {
            version: env!("CARGO_PKG_VERSION").into(),
            protocol: PROTOCOL,
            pod_uid: self.settings.pod.uid.clone(),
            revision: self.settings.pod.revision.clone(),
            node: self.settings.pod.node.clone(),
        }
    }

    /// Since when the state holds; what an earlier agent told goes on.
    fn since(&mut self, state: ServerState) -> Time {
        let earlier = match &*self.api.news.borrow() {
            News::Present(member) => {
                let server = member.status.as_ref().and_then(|s| s.server.as_ref());
                server.map(|server| (server.state, server.since.clone()))
            }
            News::Unknown | News::Unreachable(_) | News::Unreadable(_) | News::Absent => None,
        };
        self.state.of(state, earlier, seconds(Timestamp::now()))
    }

    /// What it asks before it begins; nothing once that is begun, or not in the spec any more.
    fn begin_question(&self) -> Option<BeginQuestion> {
        let spec = &self.saved.as_ref()?.spec;
        let asked = self.asked.as_ref()?;
        let permit = spec.start.as_ref().map(|permit| &permit.nonce);
        let intent = spec.intent.as_ref().map(|intent| &intent.nonce);
        let is_open = [permit, intent].contains(&Some(&asked.of));
        is_open.then(|| BeginQuestion { nonce: asked.nonce.clone(), of: asked.of.clone() })
    }

    fn tell_probes(&self, decision: &Decision) {
        // A server that is being drained takes no new clients, and a closed one none at all.
        let open = decision.state != ServerState::Stopping && !self.is_closed();
        if open && self.reading().is_some_and(Reading::serves) {
            self.health.serves();
        } else {
            let message = decision.message.as_ref().map(ToString::to_string).unwrap_or_default();
            self.health
                .does_not_serve(format!("{:?}: {}: {message}", decision.state, decision.reason));
        }
    }
}
