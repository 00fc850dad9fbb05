//! Permits: what becomes of one, and whether a start may be made with it.

use super::{Action, Cause, Facts, Process, Source, Start, StopWhy, rebuild, restored};
use crate::render::{Clients, Door, Entry, Identity};
use crate::volume::Found;
use crate::volume::ledger::{Ban, Ledger, Membership};
use crate::words::permit::{Ended, Refused};
use crate::words::server::Exited;
use palladion_api::ids::{Nonce, StaticAddress};
use palladion_api::member::{
    CassandraMemberSpec, DataBeforeStart, PermitKind, PermitState, StartPermit, VolumeState,
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

fn settle_used(facts: &Facts<'_>, ledger: &Ledger, nonce: &Nonce) -> Option<Action> {
    let is_member = ledger.membership == Membership::Joined;
    if is_member {
        // A member that is not rebuilt is one of the ring without taking clients.
        let is_in = |reading: &super::Reading| {
            reading.serves() || rebuild::is_owed(facts) && reading.is_full_member()
        };
        let done = facts.process == Process::Running && facts.reading.is_some_and(is_in);
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
            Some(settled(nonce, PermitState::Withdrawn, Some(Ended::Withdrawn.into())))
        }
        (Process::Absent, false) => {
            let last = facts.last_words.map(|w| Message::quoted(&w.text));
            let message = last.unwrap_or_else(|| Exited::BeforeItJoined.into());
            Some(settled(nonce, PermitState::Failed, Some(message)))
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
    let refuse =
        |why: Refused| Some(settled(&permit.nonce, PermitState::Refused, Some(why.into())));
    if permit.pod_uid != *facts.pod_uid {
        let (meant, own) = (permit.pod_uid.clone(), facts.pod_uid.clone());
        return refuse(Refused::OtherPod { meant, own });
    }
    if permit.volume_id != ledger.volume_id {
        let (meant, own) = (permit.volume_id.clone(), ledger.volume_id.clone());
        return refuse(Refused::OtherVolume { meant, own });
    }
    if ledger.ban == Ban::GivenUp {
        return refuse(Refused::GivenUp);
    }
    if ledger.has_used(&permit.nonce) {
        return refuse(Refused::UsedBefore);
    }
    if let Some(unknown) = unknown(permit) {
        return refuse(unknown);
    }
    if facts.process == Process::Running {
        return refuse(Refused::ServerRuns);
    }
    None
}

/// What a newer operator permits and this agent does not know.
pub fn unknown(permit: &StartPermit) -> Option<Refused> {
    let kind = match permit.kind {
        PermitKind::Unknown(word) => Some(word),
        PermitKind::Initialize
        | PermitKind::Join
        | PermitKind::Restore
        | PermitKind::Replace
        | PermitKind::ResumeLeave
        | PermitKind::Readdress => None,
    };
    let data = match permit.data {
        DataBeforeStart::Unknown(word) => Some(word),
        DataBeforeStart::MustBeEmpty
        | DataBeforeStart::Keep
        | DataBeforeStart::Wipe
        | DataBeforeStart::Retire => None,
    };
    kind.or(data).map(Refused::unknown)
}

fn settled(nonce: &Nonce, state: PermitState, message: Option<Message>) -> Action {
    Action::SettlePermit { nonce: nonce.clone(), state, message }
}

/// Make a start of a permit that is for this pod and this volume, or say why it
/// is refused. `elsewhere` is the seed of one that knows nobody of its datacenter.
pub fn start(
    spec: &CassandraMemberSpec,
    permit: &StartPermit,
    (found, ledger): (&Found, &Ledger),
    state: VolumeState,
    (address, elsewhere): (&StaticAddress, Option<StaticAddress>),
) -> Result<Start, Refused> {
    check_data(permit, ledger, state)?;
    let restored = restored::tokens(permit, &found.tokens)?;
    let others = || -> Vec<StaticAddress> {
        spec.seeds.iter().filter(|s| *s != address).chain(&elsewhere).cloned().collect()
    };
    let (entry, seeds) = match permit.kind {
        PermitKind::Unknown(word) => return Err(Refused::unknown(word)),
        // The only start that may list itself on an empty volume.
        PermitKind::Initialize => {
            let entry = restored.map_or(Entry::Plain, |tokens| Entry::Restore { tokens });
            (entry, vec![address.clone()])
        }
        PermitKind::Restore => {
            let tokens = restored.ok_or(Refused::NamesNoTokens)?;
            (Entry::Restore { tokens }, others())
        }
        // The ring has it as a full member already: it comes back, it does not join again.
        PermitKind::Join if permit.data == DataBeforeStart::Keep => (Entry::Plain, others()),
        PermitKind::Join => (Entry::Join, others()),
        PermitKind::Replace => {
            let address = permit.replace_address.clone().ok_or(Refused::NoAddress)?;
            (Entry::Replace { address, host_id: permit.host_id.clone() }, others())
        }
        PermitKind::ResumeLeave => {
            check_host_id(permit, ledger)?;
            check_is_where_it_was(ledger, address)?;
            (Entry::ResumeLeave, spec.seeds.clone())
        }
        // It has data: its own address is fine among the seeds, and enough.
        PermitKind::Readdress => {
            check_host_id(permit, ledger)?;
            check_address(permit, ledger)?;
            (Entry::Plain, spec.seeds.clone())
        }
    };
    if seeds.is_empty() {
        return Err(Refused::NoSeeds);
    }
    let cause = Cause::Permit { kind: permit.kind, nonce: permit.nonce.clone(), data: permit.data };
    let (clients, door) = (Clients::default(), Door::Open);
    let identity = Identity { address: address.clone(), clients, seeds, entry, door };
    Ok(Start { cause, identity })
}

/// Is this the address that is given up?
fn check_address(permit: &StartPermit, ledger: &Ledger) -> Result<(), Refused> {
    let meant = permit.replace_address.clone().ok_or(Refused::NoAddress)?;
    match ledger.address.clone() {
        Some(own) if own != meant => Err(Refused::OtherAddress { meant, own }),
        Some(_) | None => Ok(()),
    }
}

/// The others know a leaver under the address of its ledger. Under another one nobody has
/// been asked about it: that may be another member's.
fn check_is_where_it_was(ledger: &Ledger, now: &StaticAddress) -> Result<(), Refused> {
    match ledger.address.clone() {
        Some(before) if before == *now => Ok(()),
        Some(before) => Err(Refused::LeavesElsewhere { before, now: now.clone() }),
        None => Err(Refused::NoOwnAddress),
    }
}

fn check_host_id(permit: &StartPermit, ledger: &Ledger) -> Result<(), Refused> {
    match (permit.host_id.clone(), ledger.host_id.clone()) {
        (Some(meant), Some(own)) if meant == own => Ok(()),
        (Some(meant), Some(own)) => Err(Refused::OtherHostId { meant, own }),
        (Some(_), None) => Err(Refused::NoOwnHostId),
        (None, _) => Err(Refused::NoHostId),
    }
}

/// Does what is on the volume fit the permit?
fn check_data(permit: &StartPermit, ledger: &Ledger, state: VolumeState) -> Result<(), Refused> {
    let resumes_initialization =
        matches!(&ledger.membership, Membership::Joining { kind: PermitKind::Initialize, .. });
    let fits = match (permit.kind, permit.data) {
        (PermitKind::Initialize, DataBeforeStart::MustBeEmpty) => state == VolumeState::Empty,
        // What a founder wrote in a try that failed is the ring's only data.
        (PermitKind::Initialize, DataBeforeStart::Keep) => {
            matches!(state, VolumeState::Empty | VolumeState::Incomplete)
                && (resumes_initialization || state == VolumeState::Empty)
        }
        // On a volume that was lost a member of another time may have had other tokens.
        (PermitKind::Restore, DataBeforeStart::MustBeEmpty) => state == VolumeState::Empty,
        (PermitKind::Join | PermitKind::Replace, DataBeforeStart::MustBeEmpty) => {
            matches!(state, VolumeState::Empty | VolumeState::Lost)
        }
        (PermitKind::Initialize | PermitKind::Restore, DataBeforeStart::Wipe) => {
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
        (PermitKind::Readdress, DataBeforeStart::Keep) => {
            state == VolumeState::Joined && ledger.membership == Membership::Joined
        }
        (PermitKind::Unknown(_), _)
        | (_, DataBeforeStart::Unknown(_))
        | (PermitKind::Initialize, DataBeforeStart::Retire)
        | (PermitKind::Restore, DataBeforeStart::Keep | DataBeforeStart::Retire)
        | (PermitKind::Replace, DataBeforeStart::Keep)
        | (
            PermitKind::ResumeLeave | PermitKind::Readdress,
            DataBeforeStart::MustBeEmpty | DataBeforeStart::Wipe | DataBeforeStart::Retire,
        ) => false,
    };
    if fits {
        return Ok(());
    }
    Err(Refused::WrongVolume {
        kind: format!("{:?}", permit.kind),
        data: format!("{:?}", permit.data),
        volume: format!("{state:?}"),
    })
}
