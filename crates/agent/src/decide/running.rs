//! A server runs: must it be stopped, and what is to be noted of it?

use super::{Action, Decision, Facts, SpecFact, StopWhy, intent, is_stale_twin, permit};
use crate::admin::{self, Reading};
use crate::init::protocol::Phase;
use crate::volume::ledger::{Ledger, Membership};
use palladion_api::ids::HostId;
use palladion_api::member::{RunState, ServerState};
use palladion_api::reasons::Reason;

/// Decide about a server that runs.
pub fn decide(facts: &Facts<'_>, ledger: &Ledger) -> Decision {
    if facts.stopping.is_some() || facts.container == Phase::Ending {
        return tell(facts, ledger, Action::Nothing);
    }
    let must_stop = facts.spec.and_then(|known| must_stop(known, ledger, facts.reading));
    let action = must_stop
        .map(Action::Stop)
        .or_else(|| record_normal(facts, ledger))
        .or_else(|| permit::settle(facts, ledger))
        .or_else(|| intent::settle(facts, ledger))
        .or_else(|| intent::leave(facts, ledger))
        .or_else(|| restart(facts, ledger))
        .unwrap_or(Action::Nothing);
    tell(facts, ledger, action)
}

fn must_stop(known: SpecFact<'_>, ledger: &Ledger, reading: Option<&Reading>) -> Option<StopWhy> {
    if is_stale_twin(known.spec, ledger) {
        return Some(StopWhy::StaleTwin);
    }
    match known.spec.run {
        RunState::Running => {}
        RunState::Stopped | RunState::Terminated => return Some(StopWhy::SpecSaysSo),
    }
    if ledger.membership == Membership::Left {
        return Some(StopWhy::Decommissioned);
    }
    let joining = matches!(ledger.membership, Membership::Joining { .. });
    (joining && reading.is_some_and(|r| r.is(admin::JOINING_FAILED))).then_some(StopWhy::JoinFailed)
}

/// The first sight of NORMAL in this start.
fn record_normal(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let reading = facts.reading.filter(|r| r.is(admin::NORMAL))?;
    let address = facts.spec?.spec.address.clone()?;
    let host_id = reading.host_id.clone()?;
    let seen = ledger.last_start().is_some_and(|s| s.record.normal_at.is_some());
    (!seen).then_some(Action::RecordNormal { host_id, address })
}

fn restart(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let token = facts.spec?.spec.restart_token.as_ref()?;
    let due = ledger.restart_token.as_ref() != Some(token);
    // A join is not interrupted; its own start takes the token along.
    (due && ledger.membership == Membership::Joined).then_some(Action::Stop(StopWhy::Restart))
}

fn tell(facts: &Facts<'_>, ledger: &Ledger, action: Action) -> Decision {
    let stopping = facts.stopping.or(match &action {
        Action::Stop(why) => Some(*why),
        _ => None,
    });
    if let Some(why) = stopping {
        let (reason, message) = match why {
            StopWhy::StaleTwin => (
                Reason::StaleTwin,
                "another volume is recorded for this member; its server is being stopped",
            ),
            StopWhy::SpecSaysSo => {
                (Reason::StoppedByIntent, "the server is being drained and stopped")
            }
            StopWhy::Restart => (Reason::RollingOut, "the server is being drained and restarted"),
            StopWhy::PermitWithdrawn => {
                (Reason::WaitingForPermit, "the permit was withdrawn; the server is being stopped")
            }
            StopWhy::JoinFailed => {
                (Reason::ServerFailed, "the join failed; the server is being stopped")
            }
            StopWhy::Decommissioned => (
                Reason::Decommissioned,
                "the member has left the ring; its server is being stopped",
            ),
        };
        return Decision::new(action, ServerState::Stopping, reason, Some(message.to_string()));
    }
    if facts.container == Phase::Ending {
        return Decision::new(
            action,
            ServerState::Stopping,
            Reason::StoppedByIntent,
            Some("the container is ending".to_string()),
        );
    }
    let normal = ledger.last_start().is_some_and(|s| s.record.normal_at.is_some());
    if normal {
        return Decision::new(
            action,
            ServerState::Running,
            Reason::Running,
            running_words(facts, ledger),
        );
    }
    let mode = facts.reading.and_then(|r| r.mode.clone());
    let message = match mode {
        Some(mode) => format!("the server says {mode}"),
        None => "the server does not answer yet".to_string(),
    };
    Decision::new(action, ServerState::Starting, Reason::Starting, Some(message))
}

/// What is not as it should be while the server runs.
fn running_words(facts: &Facts<'_>, ledger: &Ledger) -> Option<String> {
    let Some(reading) = facts.reading else {
        return Some("the server does not answer".to_string());
    };
    let other =
        reading.host_id.as_ref().filter(|id| ledger.host_id.as_ref().is_some_and(|own| own != *id));
    if let Some(other) = other {
        let own = ledger.host_id.as_ref().map_or("", HostId::as_str);
        return Some(format!("the server runs as host ID {other}, its ledger names {own}"));
    }
    match (reading.mode.as_deref(), reading.native_transport) {
        (Some(admin::NORMAL), Some(false)) => Some("the native transport is down".to_string()),
        (Some(admin::NORMAL), _) => None,
        (Some(mode), _) => Some(format!("the server says {mode}")),
        (None, _) => Some("the server does not tell its mode".to_string()),
    }
}
