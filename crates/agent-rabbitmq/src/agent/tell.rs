//! Tell: status, probes, metrics.

use super::state::Agent;
use crate::decide::{self, Decision, Source};
use crate::report::{self, Parts};
use crate::words::agent::Trouble;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_core::service;
use palladion_agent_core::service::member::News;
use palladion_agent_core::telling;
use palladion_agent_core::volume::seconds;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{MemberServerState, ServiceMemberStatus};
use palladion_api::words::Message;

impl Agent {
    pub(super) fn tell(&mut self, decision: &Decision) {
        self.kill_if_overdue();
        let mut decision = decision.clone();
        if let Some(trouble) = &self.trouble {
            if decision.state == MemberServerState::Starting && self.tag.is_none() {
                decision.state = MemberServerState::Failed;
                decision.reason = Reason::ServerFailed;
            }
            decision.message = Some(trouble.clone());
        } else if let Some((trouble, reason)) = self.labour_trouble() {
            decision.reason = reason.unwrap_or(decision.reason);
            decision.message = Some(trouble.into());
        }
        decision.message = self.not_read().or(decision.message);
        let since = self.since(decision.state);
        self.follow_health(decision.state);
        self.tell_probes(&decision);
        if self.tag.is_none() {
            self.metrics.note(None);
        }
        let status = self.status_of(&decision, since);
        self.send(status);
    }

    fn status_of(&self, decision: &Decision, since: Time) -> ServiceMemberStatus {
        let saved = self.saved.as_ref();
        report::status(&Parts {
            agent: service::report::agent(&self.settings.pod, env!("CARGO_PKG_VERSION")),
            generation: saved.filter(|_| self.source() == Source::Live).and_then(|s| s.generation),
            volume: decide::volume_state(&self.facts()),
            found: self.found.as_ref().ok(),
            decision,
            since,
            reading: self.reading(),
            health: self.watch.records(),
            launch: self.launch.as_ref(),
            definitions_hash: self.definitions_hash.as_deref(),
            evidence: self.evidence.as_ref(),
            operation: saved.and_then(|s| s.spec.operation.as_ref()).map(|o| o.id.as_str()),
        })
    }

    /// Have it written where it differs. What an earlier agent reported goes on, so it is
    /// read first; until then nothing could be written either.
    fn send(&self, status: ServiceMemberStatus) {
        if !self.watch.has_taken_over() {
            return;
        }
        telling::offer(&self.status, status);
    }

    /// What looks add up to, after what an earlier agent has reported.
    fn follow_health(&mut self, state: MemberServerState) {
        let now = Timestamp::now();
        match &*self.news.borrow() {
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

    /// What of its own member this agent cannot read.
    fn not_read(&self) -> Option<Message> {
        let version = env!("CARGO_PKG_VERSION");
        match &*self.news.borrow() {
            News::Unreadable(unreadable) => {
                Some(Trouble::Unreadable { why: unreadable.why.clone(), version }.into())
            }
            News::Unknown | News::Unreachable(_) | News::Absent | News::Present(_) => None,
        }
    }

    /// Since when the state holds; what an earlier agent told goes on.
    fn since(&mut self, state: MemberServerState) -> Time {
        let earlier = match &*self.news.borrow() {
            News::Present(member) => {
                let server = member.status.as_ref().and_then(|s| s.server.as_ref());
                server.map(|server| (server.state, server.since.clone()))
            }
            News::Unknown | News::Unreachable(_) | News::Unreadable(_) | News::Absent => None,
        };
        self.state.of(state, earlier, seconds(Timestamp::now()))
    }

    /// A node is ready that has served as a member, answers, and takes clients. One that joins
    /// has seen all others run before; later that would take the whole service down
    /// while one node is away.
    fn tell_probes(&self, decision: &Decision) {
        if decision.state == MemberServerState::Running && self.serves() {
            return self.health.serves();
        }
        let message = decision.message.as_ref().map(ToString::to_string).unwrap_or_default();
        self.health.does_not_serve(format!("{:?}: {}: {message}", decision.state, decision.reason));
    }
}
