//! What a volume is, judged from what is on it and what is recorded of it.
//! Pure: safety rules 1.8, 2.2 and 2.8.

use super::ledger::{Ledger, Membership};
use super::{Data, Found};
use crate::words::volume::Wrong;
use palladion_api::ids::VolumeId;
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
pub fn judge(found: &Found, spec: &CassandraMemberSpec) -> Judgement {
    match (&found.marker, &found.ledger) {
        (Some(_), Some(ledger)) => of_ledger(found, ledger, spec),
        (None, _) | (Some(_), None) if found.data == Data::Present => {
            Judgement::Is(VolumeState::Unaccounted, Some(Wrong::NoLedger))
        }
        (None, _) | (Some(_), None) => unmarked(found, spec),
    }
}

fn unmarked(found: &Found, spec: &CassandraMemberSpec) -> Judgement {
    match (&spec.volume_id, &spec.file_system) {
        (None, None) => Judgement::New,
        (Some(lost), Some(recorded)) if *recorded == found.file_system => {
            Judgement::LostUnmarked { lost: lost.clone() }
        }
        (Some(_) | None, Some(recorded)) => Judgement::Is(
            VolumeState::NotMounted,
            Some(Wrong::OtherFileSystem {
                recorded: recorded.clone(),
                found: found.file_system.clone(),
            }),
        ),
        (Some(recorded), None) => Judgement::Is(
            VolumeState::NotMounted,
            Some(Wrong::NoMarker { recorded: recorded.clone() }),
        ),
    }
}

fn of_ledger(found: &Found, ledger: &Ledger, spec: &CassandraMemberSpec) -> Judgement {
    if let Some(ring) = ledger.ring.as_ref().filter(|r| **r != spec.ring) {
        let (ledger, member) = (ring.clone(), spec.ring.clone());
        return Judgement::Is(VolumeState::Foreign, Some(Wrong::OtherRing { ledger, member }));
    }
    let lost = ledger.successor_of.as_ref().filter(|lost| spec.volume_id.as_ref() == Some(*lost));
    let is = |state| Judgement::Is(state, None);
    if has_left(ledger, spec) {
        return is(VolumeState::Left);
    }
    match (&ledger.membership, found.data) {
        (Membership::Empty, Data::Present) => {
            Judgement::Is(VolumeState::Unaccounted, Some(Wrong::DataWithoutStart))
        }
        (Membership::Empty, Data::Absent) => match lost {
            Some(lost) => {
                Judgement::Is(VolumeState::Lost, Some(Wrong::Replaced { lost: lost.clone() }))
            }
            None => is(VolumeState::Empty),
        },
        (Membership::Joining { .. }, Data::Absent) => is(VolumeState::Empty),
        (Membership::Joining { .. }, Data::Present) => is(VolumeState::Incomplete),
        (Membership::Joined | Membership::Leaving { .. }, Data::Absent) => {
            Judgement::Is(VolumeState::Lost, Some(Wrong::DataGone))
        }
        (Membership::Joined | Membership::Leaving { .. }, Data::Present) => is(VolumeState::Joined),
        (Membership::Left, Data::Absent | Data::Present) => is(VolumeState::Left),
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
            ledger,
            data,
            heartbeat: Known::Never,
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
        match judge(found, spec) {
            Judgement::Is(state, _) => state,
            other => panic!("expected a state, got {other:?}"),
        }
    }

    #[test]
    fn an_unmarked_empty_volume_is_new_only_where_nothing_is_recorded() {
        let unmarked = found(None, None, Data::Absent);
        assert_eq!(judge(&unmarked, &spec(None, None)), Judgement::New);
        assert_eq!(state(&unmarked, &spec(Some("v0"), None)), VolumeState::NotMounted);
        assert_eq!(state(&unmarked, &spec(None, Some("ext4/2/b"))), VolumeState::NotMounted);
    }

    #[test]
    fn marker_missing_on_the_recorded_file_system_is_lost() {
        let unmarked = found(None, None, Data::Absent);
        assert_eq!(
            judge(&unmarked, &spec(Some("v0"), Some("ext4/1/a"))),
            Judgement::LostUnmarked { lost: "v0".into() }
        );
    }

    #[test]
    fn marker_missing_on_another_file_system_is_not_mounted() {
        let unmarked = found(None, None, Data::Absent);
        assert_eq!(state(&unmarked, &spec(Some("v0"), Some("ext4/2/a"))), VolumeState::NotMounted);
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
            (leaving(), Data::Present, VolumeState::Joined),
            (leaving(), Data::Absent, VolumeState::Lost),
            (Membership::Left, Data::Present, VolumeState::Left),
            (Membership::Left, Data::Absent, VolumeState::Left),
        ];
        for (membership, data, expected) in table {
            let found = found(Some("v1"), Some(membership.clone()), data);
            assert_eq!(state(&found, &spec(Some("v1"), None)), expected, "{membership:?} {data:?}");
        }
    }
}
