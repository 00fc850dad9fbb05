//! A server runs: must it be stopped, and what is to be noted of it?

use super::forbidden::{is_given_up, must_be_banned};
use super::progress::Stall;
use super::{
    Action, Decision, Facts, SpecFact, StopWhy, closed, drain, intent, is_stale_twin, permit,
    rebuild, rewind, seal,
};
use crate::admin::{self, Reading};
use crate::init::protocol::Phase;
use crate::volume::judge::has_left;
use crate::volume::ledger::{Ban, Ledger, Membership};
use crate::words::server::{Running, Stalled, Starting, Stopping};
use palladion_api::member::{RunState, ServerState};
use palladion_api::reasons::Reason;
use palladion_api::words::{Message, Names};

/// Decide about a server that runs.
pub fn decide(facts: &Facts<'_>, ledger: &Ledger) -> Decision {
    if facts.stopping.is_some() || facts.container == Phase::Ending {
        return tell(facts, ledger, Action::Nothing);
    }
    let must_stop = facts.spec.and_then(|known| must_stop(known, ledger, facts.reading));
    let action = given_up(facts, ledger)
        .or_else(|| left_by_hand(facts, ledger))
        .or_else(|| other(facts, ledger, must_stop))
        .or_else(|| must_stop.map(Action::Stop))
        .or_else(|| record_normal(facts, ledger))
        .or_else(|| seal::ends(facts, ledger))
        .or_else(|| closed::ends(facts, ledger))
        .or_else(|| rewind::ends(facts, ledger))
        .or_else(|| permit::settle(facts, ledger))
        .or_else(|| intent::settle(facts, ledger))
        .or_else(|| intent::leave(facts, ledger))
        .or_else(|| restart(facts, ledger))
        .or_else(|| drain::begin(facts, ledger))
        .unwrap_or(Action::Nothing);
    tell(facts, ledger, action)
}

fn must_stop(known: SpecFact<'_>, ledger: &Ledger, reading: Option<&Reading>) -> Option<StopWhy> {
    if is_stale_twin(known.spec, ledger) {
        return Some(StopWhy::StaleTwin);
    }
    if is_given_up(known.spec, ledger) && ledger.membership == Membership::Joined {
        return Some(StopWhy::SpecSaysSo);
    }
    match known.spec.run {
        // Whoever does not know what is wanted stops nothing.
        RunState::Running | RunState::Unknown(_) => {}
        RunState::Stopped | RunState::Terminated => return Some(StopWhy::SpecSaysSo),
    }
    if has_left(ledger, known.spec) {
        return Some(StopWhy::Decommissioned);
    }
    if is_somebody_else(ledger, reading) {
        return Some(StopWhy::OtherHostId);
    }
    let joining = matches!(ledger.membership, Membership::Joining { .. });
    (joining && reading.is_some_and(|r| r.is(admin::JOINING_FAILED))).then_some(StopWhy::JoinFailed)
}

/// Has the server another host ID than the member whose data it should have? It did
/// not find that data, and enters the ring as a new member without any.
fn is_somebody_else(ledger: &Ledger, reading: Option<&Reading>) -> bool {
    let is_member = matches!(ledger.membership, Membership::Joined | Membership::Leaving { .. });
    let actual = reading.and_then(|r| r.host_id.as_ref());
    is_member && actual.zip(ledger.host_id.as_ref()).is_some_and(|(is, was)| is != was)
}

/// A user has given up this volume: noted before the server is stopped, so that
/// none starts again whatever ends in between.
fn given_up(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let spec = facts.spec.map(|known| known.spec).filter(|s| !is_stale_twin(s, ledger))?;
    let joined = ledger.membership == Membership::Joined;
    (joined && must_be_banned(spec, ledger)).then_some(Action::Ban(Ban::GivenUp))
}

/// It is somebody else, and is stopped for that: noted before, so that none starts again
/// whatever ends in between.
fn other(facts: &Facts<'_>, ledger: &Ledger, must_stop: Option<StopWhy>) -> Option<Action> {
    let host_id = facts.reading.and_then(|r| r.host_id.clone())?;
    let is_noted = ledger.came_up_as.as_ref() == Some(&host_id);
    let is_other = must_stop == Some(StopWhy::OtherHostId);
    (is_other && !is_noted).then_some(Action::RecordOther { host_id })
}

/// All others have said that this member is gone, and its server says so, too,
/// although nobody gave an intent: noted, so that a new member may use the volume.
fn left_by_hand(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let spec = facts.spec.map(|known| known.spec).filter(|s| !is_stale_twin(s, ledger))?;
    let gone = spec.run == RunState::Terminated && ledger.membership == Membership::Joined;
    let left = facts.reading.is_some_and(|r| r.is(admin::DECOMMISSIONED));
    (gone && left).then_some(Action::RecordLeft)
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
    let spec = facts.spec?.spec;
    match spec.run {
        RunState::Running => {}
        // It would not be started again.
        RunState::Stopped | RunState::Terminated | RunState::Unknown(_) => return None,
    }
    let token = spec.restart_token.as_ref()?;
    let due = ledger.restart_token.as_ref() != Some(token);
    // A join is not interrupted; its own start takes the token along.
    (due && ledger.membership == Membership::Joined).then_some(Action::Stop(StopWhy::Restart))
}

fn tell(facts: &Facts<'_>, ledger: &Ledger, action: Action) -> Decision {
    // Who is noted as somebody else is stopped in the next moment.
    let is_noted = matches!(action, Action::RecordOther { .. }).then_some(StopWhy::OtherHostId);
    let begun = if let Action::Stop(why) = &action { Some(*why) } else { is_noted };
    let stopping = facts.stopping.or(begun);
    if let Some(why) = stopping {
        let stopping = match why {
            StopWhy::StaleTwin => Stopping::StaleTwin,
            StopWhy::SpecSaysSo => Stopping::BySpec,
            StopWhy::Restart => Stopping::Restart,
            StopWhy::PermitWithdrawn => Stopping::PermitWithdrawn,
            StopWhy::JoinFailed => Stopping::JoinFailed,
            StopWhy::Decommissioned => Stopping::Decommissioned,
            StopWhy::SealEnds => Stopping::SealEnds,
            StopWhy::SealLost => Stopping::SealLost,
            StopWhy::Opens => Stopping::Opens,
            StopWhy::Rewinds => Stopping::Rewinds,
            StopWhy::OtherHostId => Stopping::OtherHostId {
                actual: facts.reading.and_then(|r| r.host_id.clone()).unwrap_or_default(),
                recorded: ledger.host_id.clone().unwrap_or_default(),
            },
        };
        return Decision::because(action, ServerState::Stopping, stopping);
    }
    if facts.container == Phase::Ending {
        return Decision::because(action, ServerState::Stopping, Stopping::WithContainer);
    }
    if let Some((stall, since)) = facts.progress.and_then(|p| p.stalled(facts.now)) {
        let state = match ledger.membership {
            Membership::Empty | Membership::Joining { .. } => ServerState::Starting,
            Membership::Joined | Membership::Leaving { .. } | Membership::Left => {
                ServerState::Running
            }
        };
        return Decision::because(
            action,
            state,
            match stall {
                Stall::Silent => Stalled::Silent { since },
                Stall::Streams(mode) => Stalled::Streams { mode, since },
            },
        );
    }
    if facts.seal.running.is_some() && facts.reading.is_some_and(|r| r.is(admin::NORMAL)) {
        return match seal::is_among_others(facts.reading, ledger) {
            true => Decision::because(action, ServerState::Running, Running::Sealed),
            false => Decision::because(action, ServerState::Starting, Starting::Sealed),
        };
    }
    let normal = ledger.last_start().is_some_and(|s| s.record.normal_at.is_some());
    if normal {
        if rebuild::is_owed(facts) && facts.reading.is_some_and(|r| r.is(admin::NORMAL)) {
            let amiss = drain::failed(facts, ledger).or_else(|| not_known(facts));
            let words = amiss.unwrap_or(match rebuild::leaves(facts) {
                true => Running::DatacenterLeaves,
                false => Running::RebuildOwed,
            });
            return Decision::because(action, ServerState::Running, words);
        }
        let amiss = amiss(facts).or_else(|| drain::failed(facts, ledger));
        let amiss = amiss.or_else(|| not_known(facts)).map(Message::from);
        if facts.closed && amiss.is_none() {
            return Decision::because(action, ServerState::Running, Running::Closed);
        }
        return Decision::new(action, ServerState::Running, Reason::Running, amiss);
    }
    let starting = match facts.reading.and_then(|r| r.mode.clone()) {
        Some(mode) => Starting::Mode { mode },
        None => Starting::Silent,
    };
    Decision::because(action, ServerState::Starting, starting)
}

/// What a newer operator asks of this agent that it does not know. Maintenance and
/// replacements are the operator's own.
fn not_known(facts: &Facts<'_>) -> Option<Running> {
    let mut fields = facts.spec?.spec.unknown();
    fields.retain(|f| !f.starts_with("spec.pendingMaintenance") && !f.starts_with("spec.replace"));
    let version = env!("CARGO_PKG_VERSION");
    (!fields.is_empty()).then(|| Running::Unknown { fields: Names::of(fields), version })
}

/// What is not as it should be while the server runs.
fn amiss(facts: &Facts<'_>) -> Option<Running> {
    let Some(reading) = facts.reading else {
        return Some(Running::Silent);
    };
    match (reading.mode.clone(), reading.native_transport) {
        (Some(mode), native) if mode == admin::NORMAL => {
            (native == Some(false)).then_some(Running::NativeTransportDown)
        }
        (Some(mode), _) if mode == admin::DRAINED => Some(Running::Drained),
        (Some(mode), _) => Some(Running::Mode { mode }),
        (None, _) => Some(Running::NoMode),
    }
}
