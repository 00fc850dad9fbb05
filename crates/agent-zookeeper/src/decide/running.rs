//! A server runs: must it be stopped, and what is to be noted of it?

use super::{Action, Decision, Facts, SpecFact, StopWhy, intent, permit, rescue, stale_twin};
use crate::read::Reading;
use crate::volume::ledger::{Ban, Ledger, Membership};
use crate::words::server::{Running, Starting, Stopping};
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_core::service::spec::is_marked_as_lost;
use palladion_api::member::RunState;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{MemberServerState, ServerMode, ServerRole};
use palladion_api::words::{Message, Names};
use palladion_api::zookeeper::Zxid;

/// Decide about a server that runs.
pub fn decide(facts: &Facts<'_>, ledger: &Ledger) -> Decision {
    if facts.stopping.is_some() || facts.container == Phase::Ending {
        return tell(facts, ledger, Action::Nothing);
    }
    let action = terminate(facts, ledger)
        .or_else(|| record_missing(facts, ledger))
        .or_else(|| must_stop(facts, ledger).map(Action::Stop))
        .or_else(|| record_member(facts, ledger))
        .or_else(|| record_served(facts, ledger))
        .or_else(|| rescue::must_stop_first(facts, ledger).then_some(Action::Stop(StopWhy::Rescue)))
        .or_else(|| permit::settle(facts, ledger))
        .or_else(|| intent::settle(facts, ledger))
        .or_else(|| restart(facts, ledger))
        .unwrap_or(Action::Nothing);
    tell(facts, ledger, action)
}

/// The spec, where it is about the data on our volume.
fn own<'a>(facts: &Facts<'a>, ledger: &Ledger) -> Option<SpecFact<'a>> {
    facts.spec.filter(|known| stale_twin(known.spec, ledger).is_none())
}

/// Noted before the server is stopped, so that none starts again whatever ends in between.
fn terminate(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let known = own(facts, ledger)?;
    let due = known.spec.run == RunState::Terminated && ledger.ban == Ban::None;
    due.then_some(Action::Terminate)
}

/// The version of a configuration without this server, which was in one before. Others
/// are the ensemble now; it would go on to serve clients, and nobody counts it. Of a
/// joiner that is no news: it is in none until it is added.
fn missing_in(reading: &Reading, ledger: &Ledger) -> Option<Zxid> {
    let (config, id) = (reading.config.as_ref()?, ledger.server_id?);
    let was_member = match ledger.membership {
        Membership::Joined => true,
        Membership::Empty | Membership::Joining { .. } | Membership::Left => false,
    };
    (was_member && config.role(id).is_none()).then_some(config.version)
}

fn record_missing(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let version = missing_in(facts.reading?, ledger)?;
    ledger.missing_in.is_none().then_some(Action::RecordMissing { version })
}

fn must_stop(facts: &Facts<'_>, ledger: &Ledger) -> Option<StopWhy> {
    let spec = facts.spec.map(|known| known.spec);
    if spec.is_some_and(|spec| stale_twin(spec, ledger).is_some()) {
        return Some(StopWhy::StaleTwin);
    }
    if ledger.membership == Membership::Left {
        return Some(StopWhy::Left);
    }
    if ledger.missing_in.is_some() {
        return Some(StopWhy::Missing);
    }
    if spec.is_some_and(|spec| is_marked_as_lost(spec, ledger)) {
        return Some(StopWhy::MarkedAsLost);
    }
    match spec?.run {
        // Whoever does not know what is wanted stops nothing.
        RunState::Running | RunState::Unknown(_) => None,
        RunState::Stopped | RunState::Terminated => Some(StopWhy::SpecSaysSo),
    }
}

/// The first proof that the server votes. That it follows proves nothing.
fn record_member(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let (reading, id) = (facts.reading?, ledger.server_id?);
    let is_joining = matches!(ledger.membership, Membership::Joining { .. });
    (is_joining && reading.is_proven_member(id)).then_some(Action::RecordMember)
}

/// The first sight of a server that serves as a member in this start.
fn record_served(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let serves = serves(facts, ledger) && ledger.membership == Membership::Joined;
    (serves && !ledger.has_served()).then_some(Action::RecordServed)
}

fn serves(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    facts.reading.zip(ledger.server_id).is_some_and(|(reading, id)| reading.serves(id))
}

fn restart(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let spec = facts.spec?.spec;
    match spec.run {
        RunState::Running => {}
        // It would not be started again.
        RunState::Stopped | RunState::Terminated | RunState::Unknown(_) => return None,
    }
    let due = spec.restart_token.is_some() && spec.restart_token != ledger.restart_token;
    // A join is not interrupted; its own start takes the token along.
    (due && ledger.membership == Membership::Joined).then_some(Action::Stop(StopWhy::Restart))
}

fn tell(facts: &Facts<'_>, ledger: &Ledger, action: Action) -> Decision {
    let begun = if let Action::Stop(why) = &action { Some(*why) } else { None };
    if let Some(why) = facts.stopping.or(begun) {
        let words = stopping(why, ledger);
        return Decision::because(action, MemberServerState::Stopping, words);
    }
    if facts.container == Phase::Ending {
        return Decision::because(action, MemberServerState::Stopping, Stopping::WithContainer);
    }
    if !ledger.has_served() {
        return Decision::because(action, MemberServerState::Starting, starting(facts, ledger));
    }
    let amiss = amiss(facts, ledger).or_else(|| not_known(facts)).map(Message::from);
    Decision::new(action, MemberServerState::Running, Reason::Running, amiss)
}

fn stopping(why: StopWhy, ledger: &Ledger) -> Stopping {
    match why {
        StopWhy::StaleTwin => Stopping::StaleTwin,
        StopWhy::SpecSaysSo => Stopping::BySpec,
        StopWhy::Restart => Stopping::Restart,
        StopWhy::PermitWithdrawn => Stopping::PermitWithdrawn,
        StopWhy::Left => Stopping::Left,
        StopWhy::MarkedAsLost => Stopping::MarkedAsLost,
        StopWhy::Rescue => Stopping::Rescue,
        StopWhy::Missing => match ledger.server_id.zip(ledger.missing_in) {
            Some((id, version)) => Stopping::Missing { id, version },
            None => Stopping::Left,
        },
    }
}

fn starting(facts: &Facts<'_>, ledger: &Ledger) -> Starting {
    let Some(reading) = facts.reading.filter(|r| r.is_ok || r.srvr.is_some()) else {
        return Starting::Silent;
    };
    let is_joining = matches!(ledger.membership, Membership::Joining { .. });
    match (reading.has_quorum(), is_joining) {
        (true, true) => Starting::Observes,
        (true | false, false) | (false, true) => Starting::NoQuorum,
    }
}

/// What a newer operator asks of this agent that it does not know.
fn not_known(facts: &Facts<'_>) -> Option<Running> {
    let mut fields = facts.spec?.spec.unknown();
    fields.retain(|field| !field.starts_with("spec.replace"));
    let version = env!("CARGO_PKG_VERSION");
    (!fields.is_empty()).then(|| Running::Unknown { fields: Names::of(fields), version })
}

/// What is not as it should be while the server runs.
fn amiss(facts: &Facts<'_>, ledger: &Ledger) -> Option<Running> {
    let Some(reading) = facts.reading else {
        return Some(Running::Silent);
    };
    let Some(serving) = reading.serving() else {
        return Some(if reading.srvr.is_some() { Running::NoQuorum } else { Running::Silent });
    };
    match serving.mode {
        ServerMode::Leader | ServerMode::Follower | ServerMode::Observer => {}
        ServerMode::Standalone => return Some(Running::Standalone),
        ServerMode::Unknown => {
            return Some(Running::OtherMode { mode: serving.mode_word.clone() });
        }
    }
    match ledger.server_id.and_then(|id| reading.role(id)) {
        Some(ServerRole::Participant) => None,
        Some(ServerRole::Observer | ServerRole::Unknown) => Some(Running::Observer),
        None => Some(Running::ConfigurationUnknown),
    }
}
