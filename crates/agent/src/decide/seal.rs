//! The sealed start (safety rule 7.15): where nobody has made roles yet, a server makes a
//! superuser with a known password. So a ring that asks for passwords is initialized behind a
//! door that opens to its own agent alone, which makes the roles and closes that one; then the
//! server is started again, as it is to run. The same is done at each member of a ring that
//! asked nobody and is to ask now: its first server made that superuser long ago. Such a member
//! is one of several, and is restarted in its turn.

use super::{Action, Cause, Facts, Start, StopWhy, VolumeFact, closed};
use crate::admin::Reading;
use crate::render::Door;
use crate::volume::ledger::{Ledger, Membership};
use crate::volume::roles::Roles;
use crate::words::start::Waiting;
use palladion_api::member::{Guard, PermitKind, RingMember};

/// What a sealed start is decided by, besides what is noted on the volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seal {
    /// What the configuration of the pod keeps others out with.
    pub guards: Vec<Guard>,
    /// The server that runs, where it was started sealed.
    pub running: Option<Keys>,
    /// What a sealed start waits for: a Secret whose user the agent is to make.
    pub lacks: Option<Waiting>,
}

/// The keys to the door of a sealed server. They are in the memory of the agent that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// This agent has them.
    Held,
    /// An earlier agent had them: nobody can speak to this server any more.
    Lost,
}

/// How the next start is to be made.
pub fn door(facts: &Facts<'_>, start: &Start) -> Door {
    let makes_ring = matches!(start.cause, Cause::Permit { kind: PermitKind::Initialize, .. });
    let is_begun = noted(facts) == Roles::Sealing;
    let asks = facts.seal.guards.contains(&Guard::Password);
    let is_sealed = asks && (makes_ring || is_begun || has_asked_nobody(facts, start));
    if is_sealed { Door::Sealed } else { closed::door(facts, start) }
}

/// Has the server of this full member let in anybody until now? Where no note of roles was made,
/// the floor says of older members that they have asked for passwords for long.
fn has_asked_nobody(facts: &Facts<'_>, start: &Start) -> bool {
    let VolumeFact::Found(found) = &facts.volume else { return false };
    let has_asked = found.note.floor.iter().flatten().any(|guard| *guard == Guard::Password);
    let is_old = matches!(start.cause, Cause::Autonomous) && is_member(facts);
    is_old && found.note.roles == Roles::NotNoted && !has_asked
}

/// What a sealed start waits for. A full member waits inside of its seal: it has what others
/// read and write, and nobody but its agent can log in there.
pub fn lacks<'a>(facts: &'a Facts<'_>, door: Door) -> Option<&'a Waiting> {
    let waits = door == Door::Sealed && !is_member(facts);
    facts.seal.lacks.as_ref().filter(|_| waits)
}

/// Is its data that of a full member?
fn is_member(facts: &Facts<'_>) -> bool {
    match &facts.volume {
        VolumeFact::Found(found) => {
            let ledger = found.ledger.as_ref();
            ledger.is_some_and(|ledger| ledger.membership == Membership::Joined)
        }
        VolumeFact::Unreadable(_) => false,
    }
}

/// What is noted of the roles before a start: where a member comes to others, they have them.
/// Where nobody is asked, anybody may change them: what was noted holds no longer.
pub fn noted_before(start: &Start, guards: &[Guard], noted: Roles) -> Roles {
    let asks = guards.contains(&Guard::Password);
    let comes = match &start.cause {
        Cause::Permit { kind, .. } => {
            matches!(kind, PermitKind::Join | PermitKind::Replace | PermitKind::Restore)
        }
        Cause::Autonomous => false,
    };
    match start.identity.door {
        Door::Sealed => Roles::Sealing,
        Door::Open | Door::Closed | Door::AwaitsRebuild if comes && asks => Roles::Made,
        Door::Open | Door::Closed | Door::AwaitsRebuild if asks => noted,
        Door::Open | Door::Closed | Door::AwaitsRebuild => match noted {
            Roles::NotNoted | Roles::Sealing | Roles::Made => Roles::NotNoted,
            Roles::Unreadable => Roles::Unreadable,
        },
    }
}

/// Is it a member beside others? Where that is not known it may be. They read and write what it
/// has: it is restarted in its turn, as the operator says.
pub fn is_among_others(reading: Option<&Reading>, ledger: &Ledger) -> bool {
    let members = reading.and_then(|reading| reading.members.as_ref());
    let is_other = |member: &RingMember| Some(&member.host_id) != ledger.host_id.as_ref();
    members.is_none_or(|all| all.iter().any(is_other))
}

/// The sealed server of a new ring is stopped once the roles are made and it is on record who it
/// is; and where nobody has its keys.
pub fn ends(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_on_record = ledger.membership == Membership::Joined;
    if is_among_others(facts.reading, ledger) {
        return None;
    }
    let why = match facts.seal.running? {
        Keys::Held if noted(facts) == Roles::Made => StopWhy::SealEnds,
        Keys::Held => return None,
        Keys::Lost => StopWhy::SealLost,
    };
    // Before, a stop would be a failed try of the permit; nobody speaks to it meanwhile.
    is_on_record.then_some(Action::Stop(why))
}

fn noted(facts: &Facts<'_>) -> Roles {
    match &facts.volume {
        VolumeFact::Found(found) => found.note.roles,
        VolumeFact::Unreadable(_) => Roles::Unreadable,
    }
}
