//! What a volume is, judged from what is on it and what is recorded of it.
//! Pure: safety rules 1.8, 2.2 and 2.8.

use super::ledger::{End, Ledger, Membership};
use super::{Data, Found};
use crate::words::volume::Wrong;
use palladion_agent_core::volume::{self, Unmarked};
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::member::{CassandraMemberSpec, VolumeState};

/// A judgement on a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Unmarked, empty, and nothing else is recorded: may be taken into use.
    New,
    /// Unmarked and empty on the recorded file system: that volume is lost, and
    /// this one may be taken into use in its place.
    LostUnmarked {
        /// ID of the volume that is lost.
        lost: VolumeId,
    },
    /// As reported.
    Is(VolumeState, Option<Wrong>),
}

/// Judge a volume. `spec` is the last known one; without it nothing unmarked
/// is taken into use.
pub fn judge(found: &Found, member: &MemberName, spec: &CassandraMemberSpec) -> Judgement {
    match (&found.marker, &found.ledger) {
        (Some(_), Some(ledger)) => of_ledger(found, ledger, member, spec),
        (None, _) | (Some(_), None) if found.data != Data::Absent => {
            Judgement::Is(VolumeState::Unaccounted, Some(Wrong::NoLedger))
        }
        (None, _) | (Some(_), None) => unmarked(found, spec),
    }
}

fn unmarked(found: &Found, spec: &CassandraMemberSpec) -> Judgement {
    let found = &found.file_system;
    match volume::unmarked(spec.volume_id.as_ref(), spec.file_system.as_ref(), found) {
        Unmarked::New => Judgement::New,
        Unmarked::Lost(lost) => Judgement::LostUnmarked { lost },
        Unmarked::OtherFileSystem { recorded } => {
            let wrong = Wrong::OtherFileSystem { recorded, found: found.clone() };
            Judgement::Is(VolumeState::NotMounted, Some(wrong))
        }
        Unmarked::CannotTell { recorded } => {
            let wrong = Wrong::CannotTell { recorded, found: found.clone() };
            Judgement::Is(VolumeState::NotMounted, Some(wrong))
        }
        Unmarked::NoMarker { recorded } => {
            Judgement::Is(VolumeState::NotMounted, Some(Wrong::NoMarker { recorded }))
        }
    }
}

fn of_ledger(
    found: &Found,
    ledger: &Ledger,
    member: &MemberName,
    spec: &CassandraMemberSpec,
) -> Judgement {
    if let Some(ring) = ledger.ring.as_ref().filter(|r| **r != spec.ring) {
        let (ledger, member) = (ring.clone(), spec.ring.clone());
        return Judgement::Is(VolumeState::Foreign, Some(Wrong::OtherRing { ledger, member }));
    }
    let lost = ledger.successor_of.as_ref().filter(|lost| spec.volume_id.as_ref() == Some(*lost));
    let is = |state| Judgement::Is(state, None);
    if has_left(ledger, spec) {
        return is(VolumeState::Left);
    }
    if let Some(wrong) = of_somebody_else(found, ledger, member) {
        return Judgement::Is(VolumeState::Foreign, Some(wrong));
    }
    match (&ledger.membership, found.data) {
        (Membership::Empty, Data::Present | Data::Partial) => {
            Judgement::Is(VolumeState::Unaccounted, Some(Wrong::DataWithoutStart))
        }
        (Membership::Empty, Data::Absent) => match lost {
            Some(lost) => {
                Judgement::Is(VolumeState::Lost, Some(Wrong::Replaced { lost: lost.clone() }))
            }
            None => is(VolumeState::Empty),
        },
        (Membership::Joining { .. }, Data::Absent) => is(VolumeState::Empty),
        (Membership::Joining { .. }, Data::Present | Data::Partial) => is(VolumeState::Incomplete),
        (Membership::Joined | Membership::Leaving { .. }, Data::Absent) => {
            Judgement::Is(VolumeState::Lost, Some(Wrong::DataGone))
        }
        (Membership::Joined | Membership::Leaving { .. }, Data::Partial | Data::Present) => {
            match damage(found, ledger) {
                Some(wrong) => Judgement::Is(VolumeState::Unaccounted, Some(wrong)),
                None => is(VolumeState::Joined),
            }
        }
        (Membership::Left, Data::Absent | Data::Partial | Data::Present) => is(VolumeState::Left),
    }
}

/// Is it the data of another member of the same ring? On a volume of one that never
/// joined, or has left, there is nothing that could be taken for this one's.
fn of_somebody_else(found: &Found, ledger: &Ledger, member: &MemberName) -> Option<Wrong> {
    let owner = found.owner.as_ref().filter(|owner| *owner != member)?.clone();
    match ledger.membership {
        Membership::Joined | Membership::Leaving { .. } => {
            Some(Wrong::OtherMember { owner, member: member.clone() })
        }
        Membership::Empty | Membership::Joining { .. } | Membership::Left => None,
    }
}

/// What of a full member's data is not there, so that its server would be, or was,
/// somebody new.
fn damage(found: &Found, ledger: &Ledger) -> Option<Wrong> {
    let host_id = ledger.host_id.clone().unwrap_or_default();
    let ended = ledger.last_start().is_some_and(|start| start.end == End::OtherHostId);
    // The end of that server may have gone unseen, with its agent.
    let was_another = ended || ledger.came_up_as.is_some();
    match found.data {
        Data::Partial => Some(Wrong::Damaged { host_id }),
        Data::Present if was_another => Some(Wrong::CameUpAsOther { host_id }),
        Data::Absent | Data::Present => None,
    }
}

/// Is its host ID out of the ring? Of one that others have removed its own ledger
/// knows nothing: the record of its claim does.
pub fn has_left(ledger: &Ledger, spec: &CassandraMemberSpec) -> bool {
    match ledger.membership {
        Membership::Left => true,
        Membership::Joined | Membership::Leaving { .. } => {
            ledger.host_id.is_some() && ledger.host_id == spec.left_host_id
        }
        Membership::Empty | Membership::Joining { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::heartbeat::Known;
    use palladion_api::member::PermitKind;

    fn found(marker: Option<&'static str>, membership: Option<Membership>, data: Data) -> Found {
        let ledger = membership.map(|membership| Ledger {
            ring: (membership != Membership::Empty).then(|| "r".into()),
            membership,
            ..Ledger::new("v1".into(), None)
        });
        Found {
            file_system: "ext4/1/a".into(),
            marker: marker.map(Into::into),
            owner: Some("m-0".into()),
            ledger,
            data,
            heartbeat: Known::Never,
            note: Default::default(),
            tokens: Default::default(),
            rebuilt: Default::default(),
        }
    }

    fn spec(volume: Option<&str>, file_system: Option<&str>) -> CassandraMemberSpec {
        CassandraMemberSpec {
            ring: "r".into(),
            volume_id: volume.map(VolumeId::new),
            file_system: file_system.map(Into::into),
            ..Default::default()
        }
    }

    fn state(found: &Found, spec: &CassandraMemberSpec) -> VolumeState {
        match judge(found, &"m-0".into(), spec) {
            Judgement::Is(state, _) => state,
            other => panic!("expected a state, got {other:?}"),
        }
    }

    #[test]
    fn an_unmarked_empty_volume_is_new_only_where_nothing_is_recorded() {
        let unmarked = found(None, None, Data::Absent);
        assert_eq!(judge(&unmarked, &"m-0".into(), &spec(None, None)), Judgement::New);
        assert_eq!(state(&unmarked, &spec(Some("v0"), None)), VolumeState::NotMounted);
        assert_eq!(state(&unmarked, &spec(None, Some("ext4/2/b"))), VolumeState::NotMounted);
    }

    #[test]
    fn marker_missing_on_the_recorded_file_system_is_lost() {
        let unmarked = found(None, None, Data::Absent);
        assert_eq!(
            judge(&unmarked, &"m-0".into(), &spec(Some("v0"), Some("ext4/1/a"))),
            Judgement::LostUnmarked { lost: "v0".into() }
        );
    }

    #[test]
    fn marker_missing_on_another_file_system_is_not_mounted() {
        let unmarked = found(None, None, Data::Absent);
        assert_eq!(state(&unmarked, &spec(Some("v0"), Some("ext4/2/a"))), VolumeState::NotMounted);
    }

    /// As agents recorded XFS once: by the number of its device.
    #[test]
    fn a_file_system_that_is_known_by_its_device_number_proves_no_loss() {
        let by_number = "xfs/0000000000000821/";
        let mut blank = found(None, None, Data::Absent);
        blank.file_system = by_number.into();
        assert_eq!(state(&blank, &spec(Some("v0"), Some(by_number))), VolumeState::NotMounted);
        // With its marker and its ledger it is the member's own, whatever number it has now.
        let mut own = found(Some("v1"), Some(Membership::Joined), Data::Present);
        for now in ["xfs/0000000000000841/", "xfs/1fd108ae430442179b781ccf34f280e8/"] {
            own.file_system = now.into();
            assert_eq!(state(&own, &spec(Some("v1"), Some(by_number))), VolumeState::Joined);
        }
    }

    #[test]
    fn data_without_marker_or_ledger_is_unaccounted() {
        assert_eq!(
            state(&found(None, None, Data::Present), &spec(None, None)),
            VolumeState::Unaccounted
        );
        assert_eq!(
            state(&found(Some("v1"), None, Data::Present), &spec(None, None)),
            VolumeState::Unaccounted
        );
        let unstarted = found(Some("v1"), Some(Membership::Empty), Data::Present);
        assert_eq!(state(&unstarted, &spec(None, None)), VolumeState::Unaccounted);
    }

    #[test]
    fn a_successor_is_lost_while_the_lost_volume_is_recorded() {
        let mut successor = found(Some("v1"), Some(Membership::Empty), Data::Absent);
        successor.ledger.as_mut().unwrap().successor_of = Some("v0".into());
        assert_eq!(state(&successor, &spec(Some("v0"), Some("ext4/1/a"))), VolumeState::Lost);
        assert_eq!(state(&successor, &spec(Some("v1"), Some("ext4/1/a"))), VolumeState::Empty);
        assert_eq!(state(&successor, &spec(None, None)), VolumeState::Empty);
    }

    #[test]
    fn a_ledger_of_another_ring_is_foreign() {
        let mut other = spec(None, None);
        other.ring = "another".into();
        assert_eq!(
            state(&found(Some("v1"), Some(Membership::Joined), Data::Present), &other),
            VolumeState::Foreign
        );
    }

    /// A disk of the same ring, on the wrong machine.
    #[test]
    fn the_data_of_another_member_is_foreign() {
        let of_another = |membership, owner: Option<&'static str>| {
            let mut found = found(Some("v1"), Some(membership), Data::Present);
            found.owner = owner.map(Into::into);
            state(&found, &spec(None, None))
        };
        let leaving = Membership::Leaving { nonce: "n".into() };
        assert_eq!(of_another(Membership::Joined, Some("m-1")), VolumeState::Foreign);
        assert_eq!(of_another(leaving, Some("m-1")), VolumeState::Foreign);
        assert_eq!(of_another(Membership::Joined, Some("m-0")), VolumeState::Joined);
        // An older agent has not noted whose it is; who has left is nobody any more.
        assert_eq!(of_another(Membership::Joined, None), VolumeState::Joined);
        assert_eq!(of_another(Membership::Left, Some("m-1")), VolumeState::Left);
    }

    #[test]
    fn a_volume_on_which_a_server_came_up_as_somebody_else_is_unaccounted() {
        let mut found = found(Some("v1"), Some(Membership::Joined), Data::Present);
        let ledger = found.ledger.as_mut().unwrap();
        ledger.begin_start("t", "Autonomous", &[], jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(state(&found, &spec(Some("v1"), None)), VolumeState::Joined);
        let ledger = found.ledger.as_mut().unwrap();
        ledger.end_start(End::OtherHostId, jiff::Timestamp::UNIX_EPOCH, None, None);
        assert_eq!(state(&found, &spec(Some("v1"), None)), VolumeState::Unaccounted);
    }

    #[test]
    fn membership_and_data_give_the_state() {
        let joining = || Membership::Joining { kind: PermitKind::Join, nonce: "n".into() };
        let leaving = || Membership::Leaving { nonce: "n".into() };
        let table = [
            (Membership::Empty, Data::Absent, VolumeState::Empty),
            (joining(), Data::Absent, VolumeState::Empty),
            (joining(), Data::Present, VolumeState::Incomplete),
            (Membership::Joined, Data::Present, VolumeState::Joined),
            (Membership::Joined, Data::Absent, VolumeState::Lost),
            (Membership::Joined, Data::Partial, VolumeState::Unaccounted),
            (leaving(), Data::Present, VolumeState::Joined),
            (leaving(), Data::Absent, VolumeState::Lost),
            (leaving(), Data::Partial, VolumeState::Unaccounted),
            (Membership::Empty, Data::Partial, VolumeState::Unaccounted),
            (joining(), Data::Partial, VolumeState::Incomplete),
            (Membership::Left, Data::Partial, VolumeState::Left),
            (Membership::Left, Data::Present, VolumeState::Left),
            (Membership::Left, Data::Absent, VolumeState::Left),
        ];
        for (membership, data, expected) in table {
            let found = found(Some("v1"), Some(membership.clone()), data);
            assert_eq!(state(&found, &spec(Some("v1"), None)), expected, "{membership:?} {data:?}");
        }
    }
}
