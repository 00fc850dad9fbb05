//! Who starts by itself, and who does not.

use super::super::testing::*;
use super::super::*;
use crate::decide::action::{Cause, Entry};
use crate::volume::Data;
use crate::volume::ledger::{Ban, End, Membership};
use crate::words::volume::Part;
use palladion_api::member::RunState;
use palladion_api::service::LostMember;
use palladion_api::service_member::{LossCause, ServerMode, VolumeLoss};
use palladion_api::zookeeper::{ServerId, Zxid};

#[test]
fn a_member_starts_by_itself_with_what_its_server_has_written() {
    let start = a_member().start();
    assert_eq!((start.cause, start.entry), (Cause::Autonomous, Entry::Plain));
    assert_eq!((start.server_id, start.address), (OWN, ADDRESS.into()));
    let away = a_member().with(|w| w.source = Source::Saved);
    assert_eq!(away.start().cause, Cause::Autonomous);
}

#[test]
fn a_member_without_any_part_of_its_data_starts_no_more() {
    for part in [Part::Snapshots, Part::Logs, Part::CurrentEpoch, Part::Configuration] {
        a_member().with(|w| w.found.data = Data::Partial(vec![part])).waits(Reason::VolumeLost);
    }
    a_member().with(|w| w.found.data = Data::Absent).waits(Reason::VolumeLost);
}

#[test]
fn an_old_copy_of_the_volume_starts_no_more() {
    a_member().with(|w| w.spec().starts = Some(4)).waits(Reason::VolumeRolledBack);
    let same = a_member().with(|w| w.spec().starts = Some(3));
    assert_eq!(same.start().cause, Cause::Autonomous);
}

#[test]
fn the_disk_of_a_member_that_was_replaced_starts_no_more() {
    a_member().with(|w| w.spec().volume_id = Some("v2".into())).waits(Reason::StaleTwin);
    a_member().with(|w| w.spec().server_id = Some(ServerId::new(4))).waits(Reason::StaleTwin);
}

#[test]
fn who_is_missing_in_its_newest_configuration_starts_no_more() {
    let removed = a_member().with(|w| w.found.config = Some(config(8 << 32, &[1, 3], &[])));
    removed.waits(Reason::NotInEnsemble);
    a_member().with(|w| w.ledger().missing_in = Some(Zxid::new(9))).waits(Reason::NotInEnsemble);
}

/// Its member was deleted because it had left, and its pod ended before that was noted.
#[test]
fn who_is_on_no_record_starts_no_more() {
    let deleted = a_member().with(|w| {
        (w.spec().volume_id, w.spec().server_id) = (None, None);
    });
    deleted.clone().waits(Reason::VolumeForeign);
    deleted.with(|w| w.source = Source::Saved).waits(Reason::VolumeForeign);
}

#[test]
fn another_address_than_the_others_know_ends_autonomy() {
    a_member().with(|w| w.spec().address = Some("10.96.0.99".into())).waits(Reason::AddressChanged);
    a_member().with(|w| w.spec().address = None).waits(Reason::WaitingForMember);
}

#[test]
fn an_empty_volume_waits_for_a_permit() {
    a_new_member().waits(Reason::WaitingForPermit);
    a_new_member().with(|w| w.source = Source::Saved).waits(Reason::WaitingForPermit);
}

#[test]
fn an_unmarked_empty_volume_is_taken_where_nothing_is_recorded() {
    let fresh = a_new_member().with(|w| (w.found.marker, w.found.ledger) = (None, None));
    assert_eq!(fresh.action(), Action::TakeVolume { successor_of: None });
    let recorded = fresh.clone().with(|w| {
        w.spec().volume_id = Some("v0".into());
        w.spec().file_system = Some("ext4/1/a".into());
    });
    assert_eq!(recorded.action(), Action::TakeVolume { successor_of: Some("v0".into()) });
    recorded.with(|w| w.found.file_system = "xfs/2/b".into()).waits(Reason::VolumeNotMounted);
    fresh.with(|w| w.spec = None).waits(Reason::WaitingForMember);
}

#[test]
fn nothing_starts_in_a_revision_that_is_not_released_or_a_container_that_ends() {
    a_member().with(|w| w.spec().revisions.clear()).waits(Reason::WaitingForRevision);
    a_member().with(|w| w.container = Phase::Ending).waits(Reason::StoppedByIntent);
    a_member().with(|w| w.spec().run = RunState::Stopped).waits(Reason::StoppedByIntent);
}

#[test]
fn who_is_terminated_is_noted_and_never_started_again() {
    let terminated = a_member().with(|w| w.spec().run = RunState::Terminated);
    assert_eq!(terminated.action(), Action::Terminate);
    let noted = terminated.with(|w| w.ledger().terminate(POD.into()));
    noted.waits(Reason::Decommissioned);
    noted.with(|w| w.spec().run = RunState::Running).waits(Reason::Decommissioned);
}

/// A stale twin notes nothing by the record of a member that is no longer its own.
#[test]
fn a_stale_twin_is_not_terminated_by_its_successors_record() {
    let twin = a_member().with(|w| {
        w.spec().volume_id = Some("v2".into());
        w.spec().run = RunState::Terminated;
    });
    twin.waits(Reason::StaleTwin);
}

#[test]
fn a_volume_without_data_is_wanted_again_by_a_permit_for_a_later_pod() {
    use palladion_api::service_member::{DataBeforeServiceStart, ServicePermitKind};
    let banned = a_new_member().with(|w| {
        w.ledger().ban = Ban::Terminated;
        w.ledger().ban_pod = Some("p0".into());
    });
    banned.waits(Reason::StoppedByIntent);
    let later = banned.permit(ServicePermitKind::Join, DataBeforeServiceStart::MustBeEmpty);
    assert!(matches!(later.start().entry, Entry::Observer { .. }));
    later.with(|w| w.ledger().ban_pod = Some(POD.into())).waits(Reason::StoppedByIntent);
}

#[test]
fn a_server_that_keeps_dying_is_started_ever_more_slowly() {
    let died = a_member().with(|w| {
        for _ in 0..3 {
            w.ledger().begin_start("t", "Autonomous", Timestamp::UNIX_EPOCH);
            let at = Timestamp::from_second(99_999).unwrap();
            w.ledger().end_start(End::Died, at, Some(1), None);
        }
    });
    died.waits(Reason::ServerFailed);
    let asked = died.with(|w| w.spec().restart_token = Some("again".into()));
    assert_eq!(asked.start().cause, Cause::Autonomous);
}

/// Its agent ended right after the change of the configuration, and the operator, which
/// had the word of the others, took the permit back.
#[test]
fn a_participant_that_is_not_noted_starts_without_a_permit() {
    let made = a_joiner().with(|w| {
        w.found.config = Some(config(8 << 32, &[1, 2], &[]));
        w.spec().start = None;
        w.ledger().permit.as_mut().unwrap().state = palladion_api::member::PermitState::Done;
    });
    assert_eq!(made.start().cause, Cause::Autonomous);
    made.clone().with(|w| w.found.data = Data::Partial(vec![Part::Logs])).waits(Reason::VolumeLost);
    assert!(matches!(made.found.ledger.unwrap().membership, Membership::Joining { .. }));
}

/// The others went on without it, or it is being replaced: it could draw them in.
#[test]
fn no_server_starts_or_runs_on_a_volume_that_is_marked_as_lost() {
    let marked = |world: World, volume: &'static str| {
        world.with(|w| {
            w.spec().replace = Some(VolumeLoss {
                lost: LostMember {
                    volume_id: volume.into(),
                    server_id: Some(OWN),
                    node_name: None,
                    address: None,
                    claim_uid: None,
                },
                cause: LossCause::Rescue,
                reason: String::new(),
                revocable: false,
                earlier_server_ids: Vec::new(),
            });
        })
    };
    marked(a_member(), VOLUME).waits(Reason::VolumeLost);
    assert_eq!(marked(a_member(), "v0").start().cause, Cause::Autonomous);
    let runs = a_member().runs(ServerMode::Follower, config(7 << 32, &[1, 2, 3], &[])).served();
    assert_eq!(marked(runs.clone(), VOLUME).action(), Action::Stop(StopWhy::MarkedAsLost));
    assert_eq!(marked(runs, "v0").action(), Action::Nothing);
}
