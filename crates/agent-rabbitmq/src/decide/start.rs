//! No node runs: may one be started?

use super::action::{Cause, Entry};
use super::forbidden::forbidden;
use super::intent::{Wanted, wanted};
use super::{
    Action, Decision, Facts, Source, SpecFact, Start, VolumeFact, entering, intent, permit,
};
use crate::launch::credentials::Logins;
use crate::volume::Found;
use crate::volume::cookie::Comparison;
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
use palladion_api::rabbitmq::NodeName;
use palladion_api::reasons::Reason;
use palladion_api::service_member::{MemberServerState, MemberVolumeState as State};
use palladion_api::words::Message;

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
    match state {
        // The others may have forgotten it, or never known it.
        State::Joined if known.spec.volume_id.is_none() => {
            Decision::wait(Waiting::NotOnRecord { volume: ledger.volume_id.clone() })
        }
        State::Joined => match entering::by_its_files(facts, ledger) {
            Some(note) => Decision::first(note),
            None => autonomous(facts, ledger, address),
        },
        State::Empty
        | State::Incomplete
        | State::Left
        | State::Lost
        | State::NotMounted
        | State::Foreign
        | State::Unaccounted
        | State::RolledBack
        | State::Unknown => by_permit(facts, known, (found, ledger, state), address),
    }
}

/// A member with all its data starts by itself, with operator and API server away. All of
/// them at once do: they wait for each other's tables (R15, R16).
fn autonomous(facts: &Facts<'_>, ledger: &Ledger, address: &StaticAddress) -> Decision {
    let Some(node) = &ledger.node_name else {
        return Decision::wait(Waiting::NoNodeName);
    };
    match wanted(facts, ledger) {
        Some(Wanted::Stopped) => return Decision::wait(Waiting::AppStopped),
        Some(Wanted::Unknown) => return Decision::wait(Waiting::AppUnknown),
        Some(Wanted::Running | Wanted::Leaving) | None => {}
    }
    let (cause, entry) = (Cause::Autonomous, Entry::Plain);
    let start = Start { cause, node: node.clone(), address: address.clone(), entry };
    begin(facts, ledger, start)
}

/// Start, unless something is missing or the last start failed a moment ago.
fn begin(facts: &Facts<'_>, ledger: &Ledger, start: Start) -> Decision {
    if let Some(missing) = missing(facts, &start) {
        return Decision::wait(missing);
    }
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

/// What a start lacks: a cookie, the passwords of a first start, a name that leads here.
fn missing(facts: &Facts<'_>, start: &Start) -> Option<Waiting> {
    let cookie = facts.credentials.map(|present| present.cookie);
    if cookie.is_none_or(|cookie| cookie == Comparison::Missing) {
        return Some(Waiting::NoCookie);
    }
    let is_first = start.entry == Entry::First;
    if is_first && facts.credentials.is_some_and(|present| present.logins == Logins::Missing) {
        return Some(Waiting::NoPassword);
    }
    // What an earlier name leads to says nothing of one that was corrected since.
    match facts.named.filter(|(node, _)| *node == start.node) {
        Some((_, Ok(()))) => None,
        Some((_, Err(named))) => Some(Waiting::Name { named: named.clone() }),
        None => Some(Waiting::NameNotKnown),
    }
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
    let Some(start) = &known.spec.start else {
        return Decision::wait(waiting);
    };
    let noted = ledger.permit.as_ref().filter(|p| p.nonce == start.nonce);
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
    let Some(node) = named(facts) else {
        return Decision::wait(Waiting::NoNodeName);
    };
    match permit::start(facts, start, (found, ledger, state), (node, address)) {
        Ok(permitted) => begin(facts, ledger, permitted),
        Err(why) => Decision::first(Action::SettlePermit {
            nonce: start.nonce.clone(),
            state: PermitState::Refused,
            message: Some(why.into()),
        }),
    }
}

/// The name that the node of this member has.
fn named<'a>(facts: &Facts<'a>) -> Option<&'a NodeName> {
    facts.spec?.spec.node_name.as_ref()
}
