//! Permits: what becomes of one, and whether a start may be made with it.

use super::action::{Entry, LeftOver};
use super::start::missing_in;
use super::{Action, Facts, Process, Source, Start, StopWhy, VolumeFact, rescue};
use crate::volume::Found;
use crate::volume::judge::has_voted;
use crate::volume::ledger::{Ledger, Membership};
use crate::words::permit::Refused;
use palladion_agent_core::service::changes::Cause;
pub use palladion_agent_core::service::permit::unknown;
use palladion_agent_core::service::permit::{TRIES, goes_on, left_over, not_ours, unnoted};
use palladion_agent_core::words::permit::{self as core, Ended};
use palladion_api::ids::{Nonce, StaticAddress};
use palladion_api::member::PermitState;
use palladion_api::service_member::{
    DataBeforeServiceStart as Before, MemberVolumeState as State, ServerRole, ServiceMemberSpec,
    ServicePermit, ServicePermitKind,
};
use palladion_api::words::Message;
use palladion_api::zookeeper::ServerId;

/// What is to be noted of a permit, or done because of it, before anything else.
pub fn settle(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let used = ledger.permit.as_ref().filter(|p| p.state == PermitState::Used);
    if let Some(used) = used
        && let Some(action) = settle_used(facts, ledger, &used.nonce)
    {
        return Some(action);
    }
    refuse_left_over(facts, ledger)
}

/// A permit to join is done when its server is a participant; until then it starts the
/// server as often as that ends, unless that fails again and again.
fn settle_used(facts: &Facts<'_>, ledger: &Ledger, nonce: &Nonce) -> Option<Action> {
    match ledger.membership {
        Membership::Joined => {
            let id = ledger.server_id?;
            let serves = facts.reading.is_some_and(|reading| reading.serves(id));
            let done = facts.process == Process::Running && serves;
            return done.then(|| settled(nonce, PermitState::Done, None));
        }
        Membership::Left => {
            return (facts.process == Process::Absent)
                .then(|| settled(nonce, PermitState::Withdrawn, Some(Ended::Withdrawn.into())));
        }
        Membership::Empty | Membership::Joining { .. } => {}
    }
    if is_participant(facts, ledger) {
        return None;
    }
    let live = facts.spec.filter(|s| s.source == Source::Live)?;
    if live.spec.start.as_ref().is_some_and(|permit| permit.nonce == *nonce) {
        return failed(facts, ledger, nonce);
    }
    match &facts.process {
        Process::Running => {
            facts.stopping.is_none().then_some(Action::Stop(StopWhy::PermitWithdrawn))
        }
        Process::Absent => {
            Some(settled(nonce, PermitState::Withdrawn, Some(Ended::Withdrawn.into())))
        }
        Process::Unknown(_) => None,
    }
}

fn failed(facts: &Facts<'_>, ledger: &Ledger, nonce: &Nonce) -> Option<Action> {
    let is_over = facts.process == Process::Absent && ledger.failed_starts >= TRIES;
    let last = || facts.last_words.map(|words| Message::quoted(&words.text));
    is_over.then(|| {
        let message = last().unwrap_or_else(|| Ended::Failed { tries: TRIES }.into());
        settled(nonce, PermitState::Failed, Some(message))
    })
}

/// Is the server a participant, although that is not noted yet? Then it needs no permit,
/// and nobody may take its vote away.
fn is_participant(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    let by_files = match &facts.volume {
        VolumeFact::Found(found) => has_voted(found, ledger),
        VolumeFact::Unreadable(_) => false,
    };
    let is_first = matches!(
        ledger.membership,
        Membership::Joining { kind: ServicePermitKind::Initialize, .. }
    );
    let by_reading = facts.reading.zip(ledger.server_id).is_some_and(|(reading, id)| {
        let may_vote = reading.has_quorum() || !is_first;
        may_vote && reading.role(id) == Some(ServerRole::Participant)
    });
    by_files || by_reading
}

/// A permit that fits neither this pod nor this volume, or that comes while a server
/// runs, is refused and reported; nothing is done.
fn refuse_left_over(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let known = facts.spec?;
    let refuse = |nonce: &Nonce, why: core::Refused| {
        Some(settled(nonce, PermitState::Refused, Some(why.into())))
    };
    if let Some((nonce, why)) = left_over(known, facts.pod_uid, ledger) {
        return refuse(nonce, why);
    }
    let permit = unnoted(known.live()?, ledger)?;
    if facts.process == Process::Running && !rescue::may_stop(facts, permit) {
        return refuse(&permit.nonce, core::Refused::ServerRuns);
    }
    None
}

fn settled(nonce: &Nonce, state: PermitState, message: Option<Message>) -> Action {
    Action::SettlePermit { nonce: nonce.clone(), state, message }
}

/// Make a start of a permit, or say why it is refused.
pub fn start(
    facts: &Facts<'_>,
    spec: &ServiceMemberSpec,
    permit: &ServicePermit,
    (found, ledger, state): (&Found, &Ledger, State),
    (server_id, address): (ServerId, &StaticAddress),
) -> Result<Start, Refused> {
    if let Some(why) = not_ours(permit, facts.pod_uid, ledger) {
        return Err(why.into());
    }
    let goes_on = goes_on(ledger, permit);
    if let Some(own) = other_id(ledger, spec.server_id, state, permit.data) {
        return Err(Refused::OtherServerId { meant: server_id, own });
    }
    check_volume(permit, server_id, (found, ledger, state), goes_on)?;
    // What the others have decided without it, it would undo.
    if permit.kind == ServicePermitKind::Rescue
        && let Some(version) = missing_in(found, ledger, server_id)
    {
        return Err(Refused::Missing { id: server_id, version });
    }
    let (kind, nonce, data) = (permit.kind, permit.nonce.clone(), permit.data);
    let cause = Cause::Permit { kind, nonce, data };
    let entry = entry(permit, server_id, goes_on)?;
    Ok(Start { cause, server_id, address: address.clone(), entry })
}

/// The ID that the data on the volume has, where the spec has another one.
fn other_id(
    ledger: &Ledger,
    meant: Option<ServerId>,
    state: State,
    data: Before,
) -> Option<ServerId> {
    let own = ledger.server_id.filter(|own| meant.is_some_and(|meant| meant != *own))?;
    match state {
        State::Incomplete if data == Before::Keep => Some(own),
        // What has left comes back as another server, on a wiped volume.
        State::Left if data == Before::Wipe => None,
        State::Empty | State::Incomplete | State::Lost => None,
        State::Joined
        | State::Left
        | State::NotMounted
        | State::Foreign
        | State::Unaccounted
        | State::RolledBack
        | State::Unknown => Some(own),
    }
}

/// Does this volume fit what the permit says about data?
fn check_volume(
    permit: &ServicePermit,
    server_id: ServerId,
    (found, ledger, state): (&Found, &Ledger, State),
    goes_on: bool,
) -> Result<(), Refused> {
    let is_incomplete = state == State::Incomplete;
    let fits = match (permit.kind, permit.data) {
        (ServicePermitKind::Initialize, Before::MustBeEmpty) => {
            state == State::Empty || goes_on && is_incomplete
        }
        (ServicePermitKind::Initialize, Before::Wipe) => state == State::Empty || is_incomplete,
        // A volume whose data is lost was taken, or is renewed, for a new server.
        (ServicePermitKind::Join, Before::MustBeEmpty) => {
            state == State::Empty || goes_on && is_incomplete || is_renewed(ledger, state)
        }
        (ServicePermitKind::Join, Before::Wipe) => {
            let has_left = state == State::Left && ledger.server_id != Some(server_id);
            state == State::Empty || is_incomplete || has_left || is_renewed(ledger, state)
        }
        // It votes already, by the others' configuration: it goes on with what it has, also
        // by another permit than its first, which was for a pod that is gone.
        (ServicePermitKind::Join, Before::Keep) => is_incomplete,
        (ServicePermitKind::Rescue, Before::Keep) => state == State::Joined,
        (ServicePermitKind::Rescue, Before::MustBeEmpty | Before::Wipe)
        | (ServicePermitKind::Initialize, Before::Keep)
        | (ServicePermitKind::Unknown(_), _)
        | (_, Before::Unknown(_)) => false,
    };
    if fits {
        return Ok(());
    }
    // What may have acknowledged something is not removed, whatever a permit says.
    let unnoted = matches!(ledger.membership, Membership::Joining { .. });
    match found.epoch {
        Some(epoch) if unnoted && has_voted(found, ledger) => Err(Refused::HasVoted { epoch }),
        Some(_) | None => Err(core::Refused::wrong_volume(permit, state).into()),
    }
}

/// Taken in the place of a volume that is lost: nothing is on it.
fn is_renewed(ledger: &Ledger, state: State) -> bool {
    state == State::Lost && ledger.membership == Membership::Empty
}

/// With which configuration and data a permit starts the server.
fn entry(permit: &ServicePermit, server_id: ServerId, goes_on: bool) -> Result<Entry, Refused> {
    match permit.kind {
        ServicePermitKind::Initialize => Ok(Entry::First),
        ServicePermitKind::Rescue => Ok(Entry::Alone),
        ServicePermitKind::Unknown(word) => Err(core::Refused::unknown(word).into()),
        ServicePermitKind::Join => {
            if permit.peers.is_empty() {
                return Err(Refused::NoPeers);
            }
            if permit.peers.iter().any(|peer| peer.server_id == server_id) {
                return Err(Refused::OwnPeer { id: server_id });
            }
            let left_over = match (goes_on, permit.data) {
                (true, _) | (false, Before::MustBeEmpty | Before::Keep | Before::Unknown(_)) => {
                    LeftOver::Kept
                }
                (false, Before::Wipe) => LeftOver::Removed,
            };
            Ok(Entry::Observer { peers: permit.peers.clone(), left_over })
        }
    }
}
