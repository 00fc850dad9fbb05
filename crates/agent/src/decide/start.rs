//! No server runs: may one be started?

use super::begin::May;
use super::forbidden::{forbidden, retires};
use super::{
    Action, Cause, Decision, Facts, Source, SpecFact, Start, VolumeFact, backoff, begin, clients,
    elsewhere, floor, intent, permit, seal, stale,
};
use crate::init::protocol::Phase;
use crate::render::{Clients, Door, Entry, Identity};
use crate::volume::Found;
use crate::volume::judge::{Judgement, judge};
use crate::volume::ledger::{Ledger, Membership};
use crate::words::server::Exited;
use crate::words::start::{Forbidden, Waiting};
use crate::words::volume::Wrong;
use palladion_api::ids::StaticAddress;
use palladion_api::member::{
    CassandraMemberSpec, DataBeforeStart, PermitKind, PermitState, ServerState, StartPermit,
    VolumeState,
};
use palladion_api::reasons::Reason;
use palladion_api::words::Message;

/// The volume is not ours yet: take it, or say what is wrong with it.
pub fn without_ledger(facts: &Facts<'_>) -> Decision {
    let Some(SpecFact { spec, .. }) = facts.spec else {
        return no_spec();
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
        Judgement::Is(state, message) => unusable(state, message),
    }
}

fn no_spec() -> Decision {
    Decision::wait(Waiting::NoSpec)
}

fn unusable(state: VolumeState, wrong: Option<Wrong>) -> Decision {
    let reason = match state {
        VolumeState::NotMounted => Reason::VolumeNotMounted,
        VolumeState::Lost => Reason::VolumeLost,
        VolumeState::Unaccounted if wrong.as_ref().is_some_and(Wrong::is_damage) => {
            Reason::VolumeDamaged
        }
        VolumeState::Foreign
        | VolumeState::Unaccounted
        | VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Joined
        | VolumeState::Left
        | VolumeState::Unknown => Reason::VolumeForeign,
    };
    Decision::new(Action::Nothing, ServerState::Waiting, reason, wrong.map(Message::from))
}

/// The volume is ours.
pub fn decide(facts: &Facts<'_>, ledger: &Ledger) -> Decision {
    if facts.container == Phase::Ending {
        let ending = Forbidden::WithContainer;
        return Decision::because(Action::Nothing, ServerState::Stopped, ending);
    }
    let Some(known) = facts.spec else {
        return no_spec();
    };
    let VolumeFact::Found(found) = &facts.volume else {
        return no_spec();
    };
    let state = match judge(found, facts.member, known.spec) {
        Judgement::Is(state, message) => match state {
            VolumeState::NotMounted
            | VolumeState::Foreign
            | VolumeState::Unaccounted
            | VolumeState::Unknown => return unusable(state, message),
            VolumeState::Empty
            | VolumeState::Incomplete
            | VolumeState::Joined
            | VolumeState::Left
            | VolumeState::Lost => state,
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
    // Before the certificate, which is not signed without it.
    let clients = match clients::address(facts.client_addresses, known.spec) {
        Ok(clients) => clients,
        Err(waiting) => return Decision::wait(waiting),
    };
    if let Some(lowered) = floor::forbids(facts) {
        return Decision::wait(lowered);
    }
    // No server is started that would take clients otherwise.
    if let Some(certificate) = &facts.lacks_certificate {
        return Decision::wait(certificate.clone());
    }
    // What a newer operator permits instead, and this agent refuses, may not fit this data.
    let asks = known.spec.start.as_ref().filter(|p| p.volume_id == ledger.volume_id);
    let by_itself = !retires(known.spec, ledger) && asks.and_then(permit::unknown).is_none();
    let mut decision = match (&ledger.membership, state) {
        (Membership::Joined, VolumeState::Joined) if by_itself && !readdresses(known, ledger) => {
            autonomous(facts, known, (found, ledger), address)
        }
        (_, _) => by_permit(facts, known, (found, ledger), state, address),
    };
    if let Action::Start(start) = &mut decision.action {
        start.identity.clients = clients;
    }
    decision
}

/// Does an unused permit say that this member comes back under another address?
fn readdresses(known: SpecFact<'_>, ledger: &Ledger) -> bool {
    let permit = known.spec.start.as_ref().filter(|p| p.volume_id == ledger.volume_id);
    let is_unused = permit.is_some_and(|p| !ledger.has_used(&p.nonce));
    let other = known.spec.address.is_some() && known.spec.address != ledger.address;
    is_unused && other && permit.is_some_and(|p| p.kind == PermitKind::Readdress)
}

/// Nothing starts under an address that the ring does not know, without a permit.
fn other_address(ledger: &Ledger, address: &StaticAddress) -> Option<Waiting> {
    match ledger.address.clone() {
        Some(before) if before == *address => None,
        Some(before) => Some(Waiting::OtherAddress { before, now: address.clone() }),
        None => Some(Waiting::NewAddress { address: address.clone() }),
    }
}

/// A member that has joined before, with its data, starts by itself (safety
/// rule 2.2).
fn autonomous(
    facts: &Facts<'_>,
    known: SpecFact<'_>,
    (found, ledger): (&Found, &Ledger),
    address: &StaticAddress,
) -> Decision {
    let spec = known.spec;
    let Some(host_id) = &ledger.host_id else {
        return Decision::wait(Waiting::NoHostId);
    };
    // A volume that is recorded by its own ID is the right one; only without
    // that does the host ID have to tell.
    if let Some(recorded) =
        spec.host_id.as_ref().filter(|id| *id != host_id && spec.volume_id.is_none())
    {
        let (recorded, found) = (recorded.clone(), host_id.clone());
        return Decision::wait(Waiting::OtherHostId { recorded, found });
    }
    if let Some(too_old) = stale::forbids(facts.now, known, found, ledger) {
        return Decision::wait(too_old);
    }
    if let Some(other) = other_address(ledger, address) {
        return Decision::wait(other);
    }
    // Its own address is fine among them, and enough: it has data.
    let seeds = if spec.seeds.is_empty() { vec![address.clone()] } else { spec.seeds.clone() };
    let waits_until = backoff::earliest(&ledger.starts, facts.now).filter(|t| *t > facts.now);
    if let Some(earliest) = waits_until.filter(|_| !is_news(spec, ledger, &seeds)) {
        let reason = facts.last_words.map_or(Reason::ServerFailed, |w| w.reason);
        let exited = match facts.last_words {
            Some(last) => Exited::TriedAgainAfter { earliest, words: last.text.clone() },
            None => Exited::TriedAgain { earliest },
        };
        return Decision::new(Action::Nothing, ServerState::Failed, reason, Some(exited.into()));
    }
    let (entry, door, clients) = (Entry::Plain, Door::Open, Clients::default());
    let identity = Identity { address: address.clone(), clients, seeds, entry, door };
    ready(facts, Start { cause: Cause::Autonomous, identity })
}

/// Start it; a new ring sealed only when there is somebody for whom the roles can be made.
fn ready(facts: &Facts<'_>, mut start: Start) -> Decision {
    start.identity.door = seal::door(facts, &start);
    match seal::lacks(facts, start.identity.door) {
        Some(lacks) => Decision::wait(lacks.clone()),
        None => Decision::new(Action::Start(start), ServerState::Starting, Reason::Starting, None),
    }
}

/// Was something changed since the last start that may cure what it died of?
fn is_news(spec: &CassandraMemberSpec, ledger: &Ledger, seeds: &[StaticAddress]) -> bool {
    let other_seeds = ledger.last_start().is_some_and(|s| s.seeds != seeds);
    let asked = spec.restart_token.is_some() && spec.restart_token != ledger.restart_token;
    other_seeds || asked
}

/// Does it join, with an empty volume, where no member of its own datacenter is named? Only
/// seeds elsewhere lead it to its ring then.
fn knows_nobody(spec: &CassandraMemberSpec, kind: PermitKind, own: &StaticAddress) -> bool {
    let joins = match kind {
        PermitKind::Join | PermitKind::Replace => true,
        PermitKind::Initialize
        | PermitKind::Restore
        | PermitKind::ResumeLeave
        | PermitKind::Readdress
        | PermitKind::Unknown(_) => false,
    };
    joins && !spec.external_seeds.is_empty() && spec.seeds.iter().all(|seed| seed == own)
}

fn by_permit(
    facts: &Facts<'_>,
    known: SpecFact<'_>,
    (found, ledger): (&Found, &Ledger),
    state: VolumeState,
    address: &StaticAddress,
) -> Decision {
    // A leaver streams what it has to those that stay, deleted rows too; and who
    // comes back under another address serves them.
    let has_data = matches!(ledger.membership, Membership::Leaving { .. });
    if (has_data || readdresses(known, ledger))
        && let Some(too_old) = stale::forbids(facts.now, known, found, ledger)
    {
        return Decision::wait(too_old);
    }
    let waiting = || match (state, &ledger.membership) {
        (VolumeState::Lost, _) => Decision::wait(Waiting::DataLost),
        (_, Membership::Leaving { .. }) => Decision::wait(Waiting::Leaving),
        (_, Membership::Joined) => {
            Decision::wait(other_address(ledger, address).unwrap_or(Waiting::NotJoined))
        }
        (_, _) => Decision::wait(Waiting::NotJoined),
    };
    let Some(permit) = &known.spec.start else {
        return waiting();
    };
    if known.source == Source::Saved {
        return Decision::wait(Waiting::PermitNotLive);
    }
    if let Some(settled) = ledger.permit.as_ref().filter(|p| p.nonce == permit.nonce) {
        return match settled.state {
            PermitState::Failed => {
                let reason = facts.last_words.map_or(Reason::ServerFailed, |w| w.reason);
                let message = settled.message.as_ref().map(Message::quoted);
                Decision::new(Action::Nothing, ServerState::Failed, reason, message)
            }
            PermitState::Refused => {
                let why = settled.message.clone().unwrap_or_default();
                Decision::wait(match permit.data {
                    DataBeforeStart::Retire => Waiting::RetiringRefused { why },
                    DataBeforeStart::MustBeEmpty
                    | DataBeforeStart::Wipe
                    | DataBeforeStart::Keep
                    | DataBeforeStart::Unknown(_) => Waiting::PermitRefused { why },
                })
            }
            PermitState::Used
            | PermitState::Done
            | PermitState::Withdrawn
            | PermitState::Unknown => waiting(),
        };
    }
    let elsewhere = match knows_nobody(known.spec, permit.kind, address) {
        true => match elsewhere::first(&facts.elsewhere, known.spec, address) {
            Ok(seed) => Some(seed),
            Err(waiting) => return Decision::wait(waiting),
        },
        false => None,
    };
    match permit::start(known.spec, permit, (found, ledger), state, (address, elsewhere)) {
        Ok(start) => match ready(facts, start) {
            Decision { action: Action::Start(start), .. } => asked_back(facts, permit, start),
            waits => waits,
        },
        Err(why) => Decision::first(Action::SettlePermit {
            nonce: permit.nonce.clone(),
            state: PermitState::Refused,
            message: Some(why.into()),
        }),
    }
}

/// All is ready: one that was given under a region lock is asked about first.
fn asked_back(facts: &Facts<'_>, permit: &StartPermit, start: Start) -> Decision {
    match begin::may(facts, permit.lock_token.as_ref(), &permit.nonce) {
        May::Begin => {
            Decision::new(Action::Start(start), ServerState::Starting, Reason::Starting, None)
        }
        May::NotYet(action) => Decision::because(action, ServerState::Waiting, Waiting::AsksBack),
    }
}
