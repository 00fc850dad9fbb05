//! Permits: what becomes of one, and whether a start may be made with it.

use super::{Action, Cause, Facts, Process, Source, Start, StopWhy};
use crate::render::{Entry, Identity};
use crate::volume::ledger::{Ledger, Membership};
use palladion_api::ids::{HostId, Nonce, StaticAddress};
use palladion_api::member::{
    CassandraMemberSpec, DataBeforeStart, PermitKind, PermitState, StartPermit, VolumeState,
};

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

fn settle_used(facts: &Facts<'_>, ledger: &Ledger, nonce: &Nonce) -> Option<Action> {
    let is_member = ledger.membership == Membership::Joined;
    if is_member {
        let done =
            facts.process == Process::Running && facts.reading.is_some_and(super::Reading::serves);
        return done.then(|| settled(nonce, PermitState::Done, None));
    }
    let withdrawn = facts.spec.as_ref().is_some_and(|s| {
        s.source == Source::Live && s.spec.start.as_ref().is_none_or(|p| p.nonce != *nonce)
    });
    match (&facts.process, withdrawn) {
        (Process::Running, true) => {
            (facts.stopping.is_none()).then_some(Action::Stop(StopWhy::PermitWithdrawn))
        }
        (Process::Absent, true) => {
            Some(settled(nonce, PermitState::Withdrawn, Some("no server runs by it".into())))
        }
        (Process::Absent, false) => {
            let words = facts.last_words.map(|w| w.text.clone());
            let text =
                words.unwrap_or_else(|| "the server ended before it was a full member".into());
            Some(settled(nonce, PermitState::Failed, Some(text)))
        }
        (Process::Running | Process::Unknown(_), _) => None,
    }
}

/// A permit that fits neither this pod nor this volume, or a volume that needs
/// none, is refused and reported; nothing is done.
fn refuse_left_over(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let spec = facts.spec.as_ref().filter(|s| s.source == Source::Live)?.spec;
    let permit = spec.start.as_ref()?;
    if ledger.permit.as_ref().is_some_and(|p| p.nonce == permit.nonce) {
        return None;
    }
    let refuse = |why: String| Some(settled(&permit.nonce, PermitState::Refused, Some(why)));
    if permit.pod_uid != *facts.pod_uid {
        return refuse(format!("it is for pod {}, this is pod {}", permit.pod_uid, facts.pod_uid));
    }
    if permit.volume_id != ledger.volume_id {
        return refuse(format!(
            "it is for volume {}, this is volume {}",
            permit.volume_id, ledger.volume_id
        ));
    }
    if ledger.has_used(&permit.nonce) {
        return refuse("it was used before".into());
    }
    if facts.process == Process::Running {
        return refuse("a server runs already".into());
    }
    None
}

fn settled(nonce: &Nonce, state: PermitState, message: Option<String>) -> Action {
    Action::SettlePermit { nonce: nonce.clone(), state, message }
}

/// Make a start of a permit that is for this pod and this volume, or say why it
/// is refused.
pub fn start(
    spec: &CassandraMemberSpec,
    permit: &StartPermit,
    ledger: &Ledger,
    state: VolumeState,
    address: &StaticAddress,
) -> Result<Start, String> {
    check_data(permit, ledger, state)?;
    let others =
        || -> Vec<StaticAddress> { spec.seeds.iter().filter(|s| *s != address).cloned().collect() };
    let (entry, seeds) = match permit.kind {
        // The only start that may list itself on an empty volume.
        PermitKind::Found => (Entry::Plain, vec![address.clone()]),
        // The ring has it as a full member already: it comes back, it does not join again.
        PermitKind::Join if permit.data == DataBeforeStart::Keep => (Entry::Plain, others()),
        PermitKind::Join => (Entry::Join, others()),
        PermitKind::Replace => {
            let address = permit.replace_address.clone().ok_or("it names no address to replace")?;
            (Entry::Replace { address, host_id: permit.host_id.clone() }, others())
        }
        PermitKind::ResumeLeave => {
            check_leaver(permit, ledger)?;
            (Entry::ResumeLeave, spec.seeds.clone())
        }
    };
    if seeds.is_empty() {
        return Err("the member has no seed but itself: its server would start a ring of its own without a word".into());
    }
    let cause = Cause::Permit { kind: permit.kind, nonce: permit.nonce.clone(), data: permit.data };
    Ok(Start { cause, identity: Identity { address: address.clone(), seeds, entry } })
}

fn check_leaver(permit: &StartPermit, ledger: &Ledger) -> Result<(), String> {
    if permit.host_id.is_none() || permit.host_id != ledger.host_id {
        let word =
            |id: &Option<HostId>| id.as_ref().map_or_else(|| "none".to_string(), HostId::to_string);
        return Err(format!(
            "it is for host ID {}, this is host ID {}",
            word(&permit.host_id),
            word(&ledger.host_id)
        ));
    }
    Ok(())
}

/// Does what is on the volume fit the permit?
fn check_data(permit: &StartPermit, ledger: &Ledger, state: VolumeState) -> Result<(), String> {
    let resumes_founding =
        matches!(&ledger.membership, Membership::Joining { kind: PermitKind::Found, .. });
    let fits = match (permit.kind, permit.data) {
        (PermitKind::Found, DataBeforeStart::MustBeEmpty) => state == VolumeState::Empty,
        // What a founder wrote in a try that failed is the ring's only data.
        (PermitKind::Found, DataBeforeStart::Keep) => {
            matches!(state, VolumeState::Empty | VolumeState::Incomplete)
                && (resumes_founding || state == VolumeState::Empty)
        }
        (PermitKind::Join | PermitKind::Replace, DataBeforeStart::MustBeEmpty) => {
            matches!(state, VolumeState::Empty | VolumeState::Lost)
        }
        (PermitKind::Found, DataBeforeStart::Wipe) => {
            matches!(state, VolumeState::Empty | VolumeState::Incomplete)
        }
        (PermitKind::Join | PermitKind::Replace, DataBeforeStart::Wipe) => {
            matches!(state, VolumeState::Empty | VolumeState::Incomplete | VolumeState::Lost)
        }
        (PermitKind::Join | PermitKind::Replace, DataBeforeStart::Retire) => {
            matches!(state, VolumeState::Joined | VolumeState::Left)
        }
        (PermitKind::ResumeLeave, DataBeforeStart::Keep) => {
            state == VolumeState::Joined && matches!(ledger.membership, Membership::Leaving { .. })
        }
        (PermitKind::Join, DataBeforeStart::Keep) => state == VolumeState::Incomplete,
        (PermitKind::Found, DataBeforeStart::Retire)
        | (PermitKind::Replace, DataBeforeStart::Keep)
        | (
            PermitKind::ResumeLeave,
            DataBeforeStart::MustBeEmpty | DataBeforeStart::Wipe | DataBeforeStart::Retire,
        ) => false,
    };
    if fits {
        return Ok(());
    }
    Err(format!(
        "{:?} with data {:?} does not fit a volume that is {state:?}",
        permit.kind, permit.data
    ))
}
