//! When an agent starts, stops or refuses to start a server: by itself with data
//! as recorded (safety rule 2.2), otherwise by permit only (safety rule 2.3).

use super::agent::{Agent, Reach};
use super::ring::Configuration;
use super::volume::{Ledger, Membership};
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::PodUid;
use palladion_api::member::{
    CassandraMemberSpec, DataBeforeStart, IntentState, IntentStatus, PermitState, RunState,
    ServerState, VolumeState,
};
use palladion_api::reasons::Reason;
use palladion_plan::sim::Activity;

/// Is there an unused permit that sets the old data aside?
fn retires(spec: &CassandraMemberSpec, ledger: &Ledger) -> bool {
    spec.start.as_ref().is_some_and(|p| {
        p.volume_id == ledger.volume_id
            && p.data == DataBeforeStart::Retire
            && !ledger.used.contains(&p.nonce)
    })
}

fn lifts_the_ban(spec: &CassandraMemberSpec, ledger: &Ledger) -> bool {
    let never_joined = matches!(ledger.membership, Membership::Empty | Membership::Joining { .. });
    let is_later = spec.start.as_ref().is_some_and(|p| {
        p.volume_id == ledger.volume_id
            && !ledger.used.contains(&p.nonce)
            && ledger.banned_pod != p.pod_uid
    });
    retires(spec, ledger) || never_joined && is_later
}

impl Agent {
    /// The process ended by itself.
    pub(super) fn note_exit(&mut self, reach: &mut Reach<'_>) {
        let Some(exit) = reach.ring.exits.remove(&self.pod.uid) else {
            return;
        };
        let now = reach.now;
        if let Some(ledger) = self.ledger_mut(reach) {
            if let Some(start) = ledger.starts.first_mut() {
                start.ended_at = Some(Time(now));
                start.exit_code = Some(exit.code);
                start.message = Some(exit.message.clone());
            }
            if let Some(permit) = ledger.permit.as_mut().filter(|p| p.state == PermitState::Used) {
                permit.state = PermitState::Failed;
                permit.message = Some(exit.message.clone());
            }
        }
        self.failures += 1;
        let backoff = 10_i64 << self.failures.min(5);
        self.not_before = Some(now + SignedDuration::from_secs(backoff.min(300)));
        let reason = if self.configuration != Configuration::Sound {
            Reason::ConfigurationRefused
        } else {
            Reason::ServerFailed
        };
        self.set(ServerState::Failed, reason, &exit.message, now);
    }

    /// Start, stop or leave alone.
    pub(super) fn run_server(
        &mut self,
        spec: &CassandraMemberSpec,
        reach: &mut Reach<'_>,
    ) -> Activity {
        let now = reach.now;
        let runs = reach.ring.servers.contains_key(&self.pod.uid);
        let volume = self.volume_state(spec, reach);
        let has_left = volume.state == VolumeState::Left;
        if spec.run == RunState::Terminated {
            // Retiring the data lifts the ban: it is on the data, not on the disk.
            let pod = PodUid::new(&self.pod.uid);
            if let Some(ledger) = self.ledger_mut(reach).filter(|l| !l.banned) {
                ledger.banned = true;
                ledger.banned_pod = pod;
                if ledger.membership == Membership::Leaving {
                    ledger.membership = Membership::Left;
                }
            }
        }
        let twin = spec.volume_id.as_ref().is_some_and(|recorded| *recorded != volume.volume_id);
        if !Agent::is_wanted(spec) || (twin && volume.state != VolumeState::Lost) {
            reach.ring.stop(&self.pod.uid, now);
            let (state, reason) = match (has_left, twin) {
                (true, _) => (ServerState::Decommissioned, Reason::Decommissioned),
                (false, true) => (ServerState::Waiting, Reason::StaleTwin),
                (false, false) => (ServerState::Stopped, Reason::StoppedByIntent),
            };
            self.set(state, reason, "", now);
            return Activity::default();
        }
        if runs {
            self.heed_withdrawal(spec, reach);
            return self.restart_as_asked(spec, reach);
        }
        if has_left && spec.start.is_none() {
            self.set(ServerState::Decommissioned, Reason::Decommissioned, "", now);
            return Activity::default();
        }
        if !spec.revisions.contains(&self.pod.revision) {
            self.wait(Reason::WaitingForRevision, now);
            return Activity::default();
        }
        self.consider(spec, volume.state, reach)
    }

    /// A new token: drain, stop, and start again in the same pod.
    fn restart_as_asked(&mut self, spec: &CassandraMemberSpec, reach: &mut Reach<'_>) -> Activity {
        let due = self.ledger(reach).is_some_and(|l| {
            l.membership == Membership::Joined
                && spec.restart_token.is_some()
                && spec.restart_token != l.restart_token
        });
        if !due {
            return Activity::default();
        }
        reach.ring.stop(&self.pod.uid, reach.now);
        reach
            .ring
            .told
            .push(format!("{} drains and stops its server for a restart", self.pod.key.name));
        self.set(ServerState::Stopping, Reason::RollingOut, "", reach.now);
        Activity::ACTED
    }

    fn consider(
        &mut self,
        spec: &CassandraMemberSpec,
        state: VolumeState,
        reach: &mut Reach<'_>,
    ) -> Activity {
        let now = reach.now;
        let Some(ledger) = self.ledger(reach).cloned() else {
            self.wait(Reason::VolumeNotMounted, now);
            return Activity::default();
        };
        if ledger.membership == Membership::Leaving {
            self.note_interrupted_leave(reach);
        }
        if ledger.banned && !lifts_the_ban(spec, &ledger) {
            self.set(ServerState::Stopped, Reason::StoppedByIntent, "terminated once", now);
            return Activity::default();
        }
        let as_recorded = ledger.host_id.is_some() && ledger.address == spec.address;
        if state == VolumeState::Joined && ledger.membership == Membership::Joined && as_recorded {
            if let Some(time) = self.not_before.filter(|t| *t > now) {
                return Activity::default().at(time);
            }
            self.launch(spec, None, spec.seeds.clone(), reach);
            return Activity::ACTED;
        }
        match &spec.start {
            Some(permit) if !ledger.used.contains(&permit.nonce) => {
                self.use_permit(spec, permit, state, reach)
            }
            Some(_) | None => {
                // A server that ran by this permit is gone: with its container, or by itself.
                let permit = self.ledger_mut(reach).and_then(|l| l.permit.as_mut());
                if let Some(permit) = permit.filter(|p| p.state == PermitState::Used) {
                    permit.state = PermitState::Failed;
                }
                if self.state != ServerState::Failed {
                    self.wait(Reason::WaitingForPermit, now);
                }
                Activity::default()
            }
        }
    }

    /// Whether it has left, the others must tell.
    fn note_interrupted_leave(&self, reach: &mut Reach<'_>) {
        let now = reach.now;
        let Some(intent) = self.ledger_mut(reach).and_then(|l| l.intent.as_mut()) else {
            return;
        };
        if intent.state == IntentState::Running {
            intent.state = IntentState::Failed;
            intent.message = Some("the server ended while the member was leaving; whether it has left, the others must tell".into());
            intent.since = Some(Time(now));
        }
    }

    pub(super) fn wait(&mut self, reason: Reason, now: jiff::Timestamp) {
        self.set(ServerState::Waiting, reason, "", now);
    }

    /// Leave the ring, if the intent is for this host ID on this volume.
    pub(super) fn follow_intent(&mut self, spec: &CassandraMemberSpec, reach: &mut Reach<'_>) {
        let Some(intent) = &spec.intent else { return };
        let Some(ledger) = self.ledger(reach).cloned() else {
            return;
        };
        if ledger.intent.as_ref().is_some_and(|i| i.nonce == intent.nonce) {
            return;
        }
        let fits = ledger.host_id.as_ref() == Some(&intent.host_id)
            && ledger.volume_id == intent.volume_id;
        let (state, message) = match (&ledger.membership, fits) {
            (_, false) => (
                IntentState::Refused,
                Some("the intent is for another host ID or volume".to_string()),
            ),
            (Membership::Left, true) => (IntentState::Done, None),
            (Membership::Leaving, true) => (IntentState::Running, None),
            (Membership::Joined, true) if self.state == ServerState::Running => {
                match reach.ring.decommission(&self.pod.uid, reach.now) {
                    Ok(()) => (IntentState::Running, None),
                    Err(words) => (IntentState::Failed, Some(words)),
                }
            }
            (Membership::Joined | Membership::Empty | Membership::Joining { .. }, true) => return,
        };
        let now = reach.now;
        if let Some(ledger) = self.ledger_mut(reach) {
            if state == IntentState::Running {
                ledger.membership = Membership::Leaving;
            }
            ledger.intent = Some(IntentStatus {
                nonce: intent.nonce.clone(),
                state,
                message,
                since: Some(Time(now)),
            });
        }
    }
}
