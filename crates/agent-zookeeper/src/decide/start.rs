//! No server runs: may one be started?

use super::action::{Cause, Entry};
use super::forbidden::forbidden;
use super::{Action, Decision, Facts, Source, SpecFact, Start, VolumeFact, intent, permit, rescue};
use crate::volume::Found;
use crate::volume::judge::{Judgement, judge};
use crate::volume::ledger::Ledger;
use crate::words::server::Exited;
use crate::words::start::{Forbidden, Waiting};
use crate::words::volume::Wrong;
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_core::service::ledger::earliest;
use palladion_agent_core::service::spec::asks_for_a_start;
use palladion_api::ids::StaticAddress;
use palladion_api::member::PermitState;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{MemberServerState, MemberVolumeState as State};
use palladion_api::words::Message;
use palladion_api::zookeeper::{ServerId, Zxid};

/// The volume is not ours yet: take it, or say what is wrong with it.
pub fn without_ledger(facts: &Facts<'_>) -> Decision {
    let Some(SpecFact { spec, .. }) = facts.spec else {
        return Decision::wait(Waiting::NoSpec);
    };
    let found = match &facts.volume {
        VolumeFact::Unreadable(why) => {
            return Decision::wait(Waiting::VolumeUnreadable { why: (*why).to_string() });
        }
        VolumeFact::Found(found) => found,
    };
    match judge(found, facts.member, spec) {
        Judgement::New => Decision::first(Action::TakeVolume { successor_of: None }),
        Judgement::LostUnmarked { lost } => {
            Decision::first(Action::TakeVolume { successor_of: Some(lost) })
        }
        Judgement::Is(state, wrong) => unusable(state, wrong),
    }
}

fn unusable(state: State, wrong: Option<Wrong>) -> Decision {
    let reason = match state {
        State::NotMounted => Reason::VolumeNotMounted,
        State::Lost => Reason::VolumeLost,
        State::RolledBack => Reason::VolumeRolledBack,
        State::Foreign
        | State::Unaccounted
        | State::Empty
        | State::Incomplete
        | State::Joined
        | State::Left
        | State::Unknown => Reason::VolumeForeign,
    };
    let message = wrong.map(Message::from);
    Decision::new(Action::Nothing, MemberServerState::Waiting, reason, message)
}

/// The volume is ours.
pub fn decide(facts: &Facts<'_>, ledger: &Ledger) -> Decision {
    if facts.container == Phase::Ending {
        let ending = Forbidden::WithContainer;
        return Decision::because(Action::Nothing, MemberServerState::Stopped, ending);
    }
    let (Some(known), VolumeFact::Found(found)) = (facts.spec, &facts.volume) else {
        return Decision::wait(Waiting::NoSpec);
    };
    let state = match judge(found, facts.member, known.spec) {
        Judgement::Is(state, wrong) => match state {
            State::NotMounted
            | State::Foreign
            | State::Unaccounted
            | State::RolledBack
            | State::Unknown => return unusable(state, wrong),
            State::Empty | State::Incomplete | State::Joined | State::Left | State::Lost => state,
        },
        Judgement::New | Judgement::LostUnmarked { .. } => return without_ledger(facts),
    };
    if let Some(action) = permit::settle(facts, ledger).or_else(|| intent::settle(facts, ledger)) {
        return Decision::first(action);
    }
    if let Some(refused) = forbidden(facts, known, ledger) {
        return refused;
    }
    let Some(address) = &known.spec.address else {
        return Decision::wait(Waiting::NoAddress);
    };
    match (state, rescue::unused(known, ledger)) {
        // The others may have taken it out, or never known it.
        (State::Joined, None)
            if known.spec.volume_id.is_none() && known.spec.server_id.is_none() =>
        {
            Decision::wait(Waiting::NotOnRecord { volume: ledger.volume_id.clone() })
        }
        (State::Joined, None) => autonomous(facts, found, ledger, address),
        (_, _) => by_permit(facts, known, (found, ledger, state), address),
    }
}

/// A member with all its data starts by itself, with operator and API server away, and
/// with the configuration that its server has written.
fn autonomous(
    facts: &Facts<'_>,
    found: &Found,
    ledger: &Ledger,
    address: &StaticAddress,
) -> Decision {
    let Some(server_id) = ledger.server_id else {
        return Decision::wait(Waiting::NoServerId);
    };
    if let Some(version) = missing_in(found, ledger, server_id) {
        return Decision::wait(Waiting::Missing { id: server_id, version });
    }
    // The others know it by the address in their configuration, and by no other.
    if let Some(before) = ledger.address.as_ref().filter(|before| *before != address) {
        let (before, now) = (before.clone(), address.clone());
        return Decision::wait(Waiting::OtherAddress { before, now });
    }
    start(
        facts,
        ledger,
        Start {
            cause: Cause::Autonomous,
            server_id,
            address: address.clone(),
            entry: Entry::Plain,
        },
    )
}

/// The configuration, of those that this volume knows, in which this server, once a
/// member, is missing. It would end ("not in the peer list"), or go on beside the ensemble.
pub(super) fn missing_in(found: &Found, ledger: &Ledger, id: ServerId) -> Option<Zxid> {
    let by_file = found.config.as_ref().filter(|config| config.role(id).is_none());
    ledger.missing_in.or(by_file.map(|config| config.version))
}

/// Start, unless the last start failed a moment ago.
fn start(facts: &Facts<'_>, ledger: &Ledger, start: Start) -> Decision {
    let waits_until = earliest(&ledger.starts, facts.now).filter(|t| *t > facts.now);
    let is_asked = facts.spec.is_some_and(|known| asks_for_a_start(known.spec, ledger));
    if let Some(earliest) = waits_until.filter(|_| !is_asked) {
        let reason = facts.last_words.map_or(Reason::ServerFailed, |w| w.reason);
        let exited = match facts.last_words {
            Some(last) => Exited::TriedAgainAfter { earliest, words: last.text.clone() },
            None => Exited::TriedAgain { earliest },
        };
        let failed = MemberServerState::Failed;
        return Decision::new(Action::Nothing, failed, reason, Some(exited.into()));
    }
    Decision::new(Action::Start(start), MemberServerState::Starting, Reason::Starting, None)
}

fn by_permit(
    facts: &Facts<'_>,
    known: SpecFact<'_>,
    (found, ledger, state): (&Found, &Ledger, State),
    address: &StaticAddress,
) -> Decision {
    let waiting = match state {
        State::Lost => Waiting::DataLost,
        State::Empty
        | State::Incomplete
        | State::Joined
        | State::Left
        | State::NotMounted
        | State::Foreign
        | State::Unaccounted
        | State::RolledBack
        | State::Unknown => Waiting::NotJoined,
    };
    let Some(permit) = &known.spec.start else {
        return Decision::wait(waiting);
    };
    let noted = ledger.permit.as_ref().filter(|p| p.nonce == permit.nonce);
    match noted.map(|p| (p.state, p.message.clone())) {
        Some((PermitState::Refused, why)) => {
            return Decision::wait(Waiting::PermitRefused { why: why.unwrap_or_default() });
        }
        Some((
            PermitState::Done | PermitState::Failed | PermitState::Withdrawn | PermitState::Unknown,
            _,
        )) => return Decision::wait(waiting),
        // A joiner goes on by the permit that it has, also where nobody can be asked.
        Some((PermitState::Used, _)) => {}
        None if known.source == Source::Saved => return Decision::wait(Waiting::PermitNotLive),
        None => {}
    }
    let Some(server_id) = known.spec.server_id else {
        return Decision::wait(Waiting::NoServerId);
    };
    let volume = (found, ledger, state);
    match permit::start(facts, known.spec, permit, volume, (server_id, address)) {
        Ok(permitted) => start(facts, ledger, permitted),
        Err(why) => Decision::first(Action::SettlePermit {
            nonce: permit.nonce.clone(),
            state: PermitState::Refused,
            message: Some(why.into()),
        }),
    }
}
