//! The sealed start (safety rule 7.15): where nobody has made roles yet, a server makes a
//! superuser with a known password. So a ring that asks for passwords is initialized behind a
//! door that opens to its own agent alone, which makes the roles and closes that one; then the
//! server is started again, as it is to run.

use super::{Action, Cause, Facts, Start, StopWhy, VolumeFact, closed};
use crate::render::Door;
use crate::volume::ledger::{Ledger, Membership};
use crate::volume::roles::Roles;
use crate::words::start::Waiting;
use palladion_api::member::{Guard, PermitKind};

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
    if asks && (makes_ring || is_begun) { Door::Sealed } else { closed::door(facts, start) }
}

/// What is noted of the roles before a start: where a member comes to others, they have them.
pub fn noted_before(start: &Start, guards: &[Guard], noted: Roles) -> Roles {
    let comes = match &start.cause {
        Cause::Permit { kind, .. } => {
            matches!(kind, PermitKind::Join | PermitKind::Replace | PermitKind::Restore)
        }
        Cause::Autonomous => false,
    };
    match start.identity.door {
        Door::Sealed => Roles::Sealing,
        Door::Open | Door::Closed | Door::AwaitsRebuild
            if comes && guards.contains(&Guard::Password) =>
        {
            Roles::Made
        }
        Door::Open | Door::Closed | Door::AwaitsRebuild => noted,
    }
}

/// A sealed server is stopped once the roles are made and it is on record who it is; and where
/// nobody has its keys.
pub fn ends(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_on_record = ledger.membership == Membership::Joined;
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
