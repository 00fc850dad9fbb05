//! Permits: what becomes of one, and whether a start may be made with it.

use super::action::{Entry, LeftOver};
use super::{Action, Facts, Process, Start, StopWhy, VolumeFact};
use crate::volume::Found;
use crate::volume::judge::is_in_a_cluster;
use crate::volume::ledger::{Entered, Ledger, Membership};
use crate::words::permit::Refused;
use palladion_agent_core::service::changes::Cause;
use palladion_agent_core::service::permit::{TRIES, goes_on, left_over, not_ours, unnoted};
use palladion_agent_core::words::permit::{self as core, Ended};
use palladion_api::ids::{Nonce, StaticAddress};
use palladion_api::member::PermitState;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{
    DataBeforeServiceStart as Before, MemberVolumeState as State, ServicePermit, ServicePermitKind,
};
use palladion_api::words::Message;

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

/// A permit is done when its node serves as a member; until then it starts the node as often
/// as that ends, unless that fails again and again.
fn settle_used(facts: &Facts<'_>, ledger: &Ledger, nonce: &Nonce) -> Option<Action> {
    match ledger.membership {
        Membership::Joined => {
            let serves = facts.reading.is_some_and(|reading| reading.serves());
            let done = facts.process == Process::Running && serves;
            return done.then(|| settled(nonce, PermitState::Done, None));
        }
        Membership::Left => {
            return (facts.process == Process::Absent)
                .then(|| settled(nonce, PermitState::Withdrawn, Some(Ended::Withdrawn.into())));
        }
        Membership::Empty | Membership::Joining { .. } => {}
    }
    // It votes in its cluster: it needs no permit, and nobody may take its data away.
    if is_member(facts, ledger) {
        return None;
    }
    let live = facts.spec?.live()?;
    if live.start.as_ref().is_some_and(|permit| permit.nonce == *nonce) {
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

fn is_member(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    let by_files = match &facts.volume {
        VolumeFact::Found(found) => is_in_a_cluster(found, ledger),
        VolumeFact::Unreadable(_) => false,
    };
    // A node that answers and sees others has joined, whether or not that is noted yet.
    let by_reading = facts.reading.and_then(|reading| reading.broker());
    by_files || by_reading.is_some_and(|broker| broker.serves() && broker.members.len() > 1)
}

fn failed(facts: &Facts<'_>, ledger: &Ledger, nonce: &Nonce) -> Option<Action> {
    let is_over = facts.process == Process::Absent && ledger.failed_starts >= TRIES;
    let last = || facts.last_words.map(|words| Message::quoted(&words.text));
    is_over.then(|| {
        let message = last().unwrap_or_else(|| Ended::Failed { tries: TRIES }.into());
        settled(nonce, PermitState::Failed, Some(message))
    })
}

/// A permit that fits neither this pod nor this volume, or that comes while a node
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
    if facts.process == Process::Running {
        return refuse(&permit.nonce, core::Refused::ServerRuns);
    }
    None
}

fn settled(nonce: &Nonce, state: PermitState, message: Option<Message>) -> Action {
    Action::SettlePermit { nonce: nonce.clone(), state, message }
}

/// Make a start of a permit, or say why it is refused.
///
/// # Errors
/// It is not for this pod, this volume or this node, or says what the agent does not do.
pub fn start(
    facts: &Facts<'_>,
    permit: &ServicePermit,
    (found, ledger, state): (&Found, &Ledger, State),
    (node, address): (&NodeName, &StaticAddress),
) -> Result<Start, Refused> {
    if let Some(why) = not_ours(permit, facts.pod_uid, ledger) {
        return Err(why.into());
    }
    if let Some(own) = other_name(ledger, node, state) {
        return Err(Refused::OtherNodeName { meant: node.clone(), own });
    }
    check_volume(permit, (found, ledger, state))?;
    let entry = entry(permit, ledger, node)?;
    let (kind, nonce, data) = (permit.kind, permit.nonce.clone(), permit.data);
    let cause = Cause::Permit { kind, nonce, data };
    Ok(Start { cause, node: node.clone(), address: address.clone(), entry })
}

/// The name that the data on the volume has, where the member has another one and the data
/// may count.
fn other_name(ledger: &Ledger, meant: &NodeName, state: State) -> Option<NodeName> {
    let own = ledger.node_name.clone().filter(|own| own != meant)?;
    match state {
        State::Empty | State::Incomplete | State::Lost | State::Left => None,
        State::Joined
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
    (found, ledger, state): (&Found, &Ledger, State),
) -> Result<(), Refused> {
    let goes_on = goes_on(ledger, permit);
    let is_incomplete = state == State::Incomplete;
    // Taken in the place of a volume that is lost: nothing is on it.
    let is_renewed = state == State::Lost && ledger.membership == Membership::Empty;
    let fits = match (permit.kind, permit.data) {
        (ServicePermitKind::Rescue, _) => return Err(Refused::NoRescue),
        (ServicePermitKind::Initialize, Before::MustBeEmpty) => {
            state == State::Empty || goes_on && is_incomplete
        }
        (ServicePermitKind::Initialize, Before::Wipe) => state == State::Empty || is_incomplete,
        (ServicePermitKind::Join, Before::MustBeEmpty) => {
            state == State::Empty || goes_on && is_incomplete || is_renewed
        }
        (ServicePermitKind::Join, Before::Wipe) => {
            state == State::Empty || is_incomplete || state == State::Left || is_renewed
        }
        // The others may name it, although its own files do not yet, and of two nodes the other
        // one waits for it, whatever it has.
        (ServicePermitKind::Join, Before::Keep) => {
            let is_begun = matches!(ledger.membership, Membership::Joining { .. });
            is_incomplete || is_begun && state == State::Empty
        }
        (ServicePermitKind::Initialize, Before::Keep)
        | (ServicePermitKind::Unknown(_), _)
        | (_, Before::Unknown(_)) => false,
    };
    // What may have confirmed something is not removed, whatever a permit says.
    if fits && !is_in_a_cluster(found, ledger) {
        return Ok(());
    }
    Err(core::Refused::wrong_volume(permit, state).into())
}

/// With which data a permit starts the node. By the permit by which it has asked to be taken in
/// it keeps what it has: the others may name it before its own files name them, and would
/// refuse an empty node of its name.
fn entry(permit: &ServicePermit, ledger: &Ledger, node: &NodeName) -> Result<Entry, Refused> {
    match permit.kind {
        ServicePermitKind::Initialize => Ok(Entry::First),
        ServicePermitKind::Rescue => Err(Refused::NoRescue),
        ServicePermitKind::Unknown(word) => Err(core::Refused::unknown(word).into()),
        ServicePermitKind::Join if permit.nodes.is_empty() => Err(Refused::NoNodes),
        ServicePermitKind::Join if permit.nodes.contains(node) => {
            Err(Refused::OwnNode { node: node.clone() })
        }
        ServicePermitKind::Join => {
            let has_asked = ledger.entered != Entered::No && goes_on(ledger, permit);
            let left_over = match permit.data {
                Before::Keep => LeftOver::Kept,
                Before::MustBeEmpty | Before::Wipe | Before::Unknown(_) if has_asked => {
                    LeftOver::Kept
                }
                Before::MustBeEmpty | Before::Wipe | Before::Unknown(_) => LeftOver::Removed,
            };
            let (nodes, flags) = (permit.nodes.clone(), permit.flags.clone());
            Ok(Entry::Joiner { nodes, flags, left_over })
        }
    }
}
