//! What a volume is, as far as marker, ledger and record alone say it. What its data adds,
//! its agent knows. Pure.

use super::ledger::{Ledger, Membership, Own};
use crate::volume::{Unmarked, unmarked};
use crate::words::service_volume::Wrong;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::service_member::{MemberVolumeState as State, ServiceMemberSpec};

/// A judgement on a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Unmarked, empty, and nothing else is recorded: may be taken into use.
    New,
    /// Unmarked and empty on the recorded file system: that volume is lost, and this one
    /// may be taken into use in its place.
    LostUnmarked {
        /// ID of the volume that is lost.
        lost: VolumeId,
    },
    /// As reported.
    Is(State, Option<Wrong>),
}

/// Judge a volume without a marker and without data, on this file system.
pub fn of_unmarked(file_system: &str, spec: &ServiceMemberSpec) -> Judgement {
    // Whose loss is on record is not waited for: this is the volume that takes its place.
    let is_lost =
        spec.replace.as_ref().is_some_and(|l| Some(&l.lost.volume_id) == spec.volume_id.as_ref());
    match unmarked(spec.volume_id.as_ref(), spec.file_system.as_ref(), file_system) {
        Unmarked::New => Judgement::New,
        Unmarked::Lost(lost) => Judgement::LostUnmarked { lost },
        Unmarked::OtherFileSystem { .. }
        | Unmarked::CannotTell { .. }
        | Unmarked::NoMarker { .. }
            if is_lost =>
        {
            Judgement::New
        }
        Unmarked::OtherFileSystem { recorded } => {
            let wrong = Wrong::OtherFileSystem { recorded, found: file_system.to_string() };
            Judgement::Is(State::NotMounted, Some(wrong))
        }
        Unmarked::CannotTell { recorded } => {
            let wrong = Wrong::CannotTell { recorded, found: file_system.to_string() };
            Judgement::Is(State::NotMounted, Some(wrong))
        }
        Unmarked::NoMarker { recorded } => {
            Judgement::Is(State::NotMounted, Some(Wrong::NoMarker { recorded }))
        }
    }
}

/// What makes a volume with a ledger one that nobody may use, whatever its data.
pub fn unusable<O: Own>(
    ledger: &Ledger<O>,
    owner: Option<&MemberName>,
    member: &MemberName,
    spec: &ServiceMemberSpec,
) -> Option<(State, Wrong)> {
    if let Some(cluster) = ledger.cluster.as_ref().filter(|c| **c != spec.cluster) {
        let (ledger, member) = (cluster.clone(), spec.cluster.clone());
        return Some((State::Foreign, Wrong::OtherCluster { ledger, member }));
    }
    if let Some(wrong) = rolled_back(ledger, spec) {
        return Some((State::RolledBack, wrong));
    }
    of_somebody_else(ledger, owner, member).map(|wrong| (State::Foreign, wrong))
}

/// A volume on which no server was started yet: is there data?
pub fn never_started<O>(
    ledger: &Ledger<O>,
    spec: &ServiceMemberSpec,
    data: Presence,
) -> (State, Option<Wrong>) {
    let lost = ledger.successor_of.as_ref().filter(|lost| spec.volume_id.as_ref() == Some(*lost));
    match (data, lost) {
        (Presence::None, Some(lost)) => (State::Lost, Some(Wrong::Replaced { lost: lost.clone() })),
        (Presence::None, None) => (State::Empty, None),
        (Presence::Some, _) => (State::Unaccounted, Some(Wrong::DataWithoutStart)),
    }
}

/// Is there any file of a server?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Not one.
    None,
    /// One at least.
    Some,
}

/// Has this very volume been seen with more starts than it knows of?
fn rolled_back<O>(ledger: &Ledger<O>, spec: &ServiceMemberSpec) -> Option<Wrong> {
    let recorded = spec.starts.filter(|_| spec.volume_id.as_ref() == Some(&ledger.volume_id))?;
    let found = ledger.counter;
    (found < recorded).then_some(Wrong::RolledBack { recorded, found })
}

/// Is it the data of another member of the same cluster? On a volume of one that never
/// joined, or has left, there is nothing that could be taken for this one's.
fn of_somebody_else<O>(
    ledger: &Ledger<O>,
    owner: Option<&MemberName>,
    member: &MemberName,
) -> Option<Wrong> {
    let owner = owner.filter(|owner| *owner != member)?.clone();
    match ledger.membership {
        Membership::Joined => Some(Wrong::OtherMember { owner, member: member.clone() }),
        Membership::Empty | Membership::Joining { .. } | Membership::Left => None,
    }
}
