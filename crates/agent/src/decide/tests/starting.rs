//! Who may start, by itself or not.

use super::super::testing::*;
use super::super::*;
use crate::render::Entry;
use crate::volume::Data;
use crate::volume::ledger::{Ban, End, Membership};
use palladion_api::member::{Removal, RunState};

#[test]
fn joined_before_starts_by_itself() {
    let start = a_joined_member().start();
    assert_eq!(start.cause, Cause::Autonomous);
    assert_eq!(start.identity.entry, Entry::Plain);
    assert_eq!(start.identity.seeds, [SEED.into()]);
}

#[test]
fn joined_before_starts_with_operator_and_api_away() {
    let away = a_joined_member().with(|w| w.source = Source::Saved);
    assert_eq!(away.start().cause, Cause::Autonomous);
}

#[test]
fn a_member_with_data_may_be_its_own_seed() {
    let only = a_joined_member().with(|w| w.spec().seeds = vec![ADDRESS.into()]);
    assert_eq!(only.start().identity.seeds, [ADDRESS.into()]);
    let none = a_joined_member().with(|w| w.spec().seeds.clear());
    assert_eq!(none.start().identity.seeds, [ADDRESS.into()]);
}

#[test]
fn without_data_nothing_starts_by_itself() {
    let gone = a_joined_member().with(|w| w.found.data = Data::Absent);
    gone.waits(Reason::VolumeLost);
}

#[test]
fn on_what_is_left_of_its_data_nothing_starts_by_itself() {
    let emptied = a_joined_member().with(|w| w.found.data = Data::Partial);
    emptied.waits(Reason::VolumeDamaged);
    // Neither to come back as a leaver.
    let leaving = Membership::Leaving { nonce: "n0".into() };
    let leaver = emptied.membership(leaving).permit(PermitKind::ResumeLeave, DataBeforeStart::Keep);
    leaver.with(|w| w.found.data = Data::Partial).waits(Reason::VolumeDamaged);
}

#[test]
fn the_disk_of_another_member_is_not_started_on() {
    a_joined_member().with(|w| w.found.owner = Some("another".into())).waits(Reason::VolumeForeign);
    let unnamed = a_joined_member().with(|w| w.found.owner = None);
    assert_eq!(unnamed.start().cause, Cause::Autonomous);
}

#[test]
fn without_a_host_id_nothing_starts_by_itself() {
    let unknown = a_joined_member().with(|w| w.ledger().host_id = None);
    unknown.waits(Reason::VolumeForeign);
}

#[test]
fn another_address_ends_autonomy() {
    let moved = a_joined_member().with(|w| w.spec().address = Some("10.96.0.99".into()));
    moved.waits(Reason::AddressChanged);
}

#[test]
fn an_empty_volume_waits_for_a_permit() {
    a_new_member().waits(Reason::WaitingForPermit);
    a_new_member().with(|w| w.source = Source::Saved).waits(Reason::WaitingForPermit);
}

#[test]
fn left_overs_of_a_join_wait_for_a_permit() {
    let joining = Membership::Joining { kind: PermitKind::Join, nonce: "n0".into() };
    a_new_member().membership(joining).data().waits(Reason::WaitingForPermit);
}

/// Its Node came back in the middle: the ring would get back whom it removes.
#[test]
fn who_is_being_removed_does_not_start_on_that_volume() {
    let removed = |volume: &'static str| {
        a_joined_member().with(|w| {
            let (nonce, host_id, volume_id) = ("n1".into(), HOST.into(), volume.into());
            w.spec().removal = Some(Removal { nonce, host_id, volume_id, since: None });
        })
    };
    removed(VOLUME).waits(Reason::WaitingForPermit);
    assert_eq!(removed("another").start().cause, Cause::Autonomous);
}

#[test]
fn nothing_is_known_without_a_spec() {
    a_joined_member().with(|w| w.spec = None).waits(Reason::WaitingForMember);
    a_new_member()
        .with(|w| {
            w.spec = None;
            (w.found.marker, w.found.ledger) = (None, None);
        })
        .waits(Reason::WaitingForMember);
}

#[test]
fn a_member_without_address_waits() {
    a_joined_member().with(|w| w.spec().address = None).waits(Reason::WaitingForMember);
}

#[test]
fn an_unmarked_empty_volume_is_taken_where_nothing_is_recorded() {
    let fresh = a_new_member().with(|w| (w.found.marker, w.found.ledger) = (None, None));
    assert_eq!(fresh.action(), Action::TakeVolume { successor_of: None });
}

#[test]
fn a_marker_that_is_missing_on_the_recorded_file_system_is_lost() {
    let lost = a_new_member().recorded().with(|w| (w.found.marker, w.found.ledger) = (None, None));
    assert_eq!(lost.action(), Action::TakeVolume { successor_of: Some(VOLUME.into()) });
    // Taken in its place, it waits to replace, and is no stale twin.
    let successor = a_new_member().recorded().with(|w| {
        w.found.marker = Some("v2".into());
        w.ledger().volume_id = "v2".into();
        w.ledger().successor_of = Some(VOLUME.into());
    });
    successor.waits(Reason::VolumeLost);
    assert_eq!(volume_state_of(&successor), VolumeState::Lost);
}

fn volume_state_of(world: &World) -> VolumeState {
    let spec = world.spec.as_ref().unwrap();
    match judge(&world.found, &MEMBER.into(), spec) {
        Judgement::Is(state, _) => state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_marker_that_is_missing_on_another_file_system_is_not_mounted() {
    let other = a_new_member().recorded().with(|w| {
        (w.found.marker, w.found.ledger) = (None, None);
        w.found.file_system = "ext4/2/".into();
    });
    other.waits(Reason::VolumeNotMounted);
}

#[test]
fn a_volume_of_another_ring_is_never_used() {
    a_joined_member().with(|w| w.ledger().ring = Some("other".into())).waits(Reason::VolumeForeign);
}

#[test]
fn data_that_no_ledger_accounts_for_is_never_used() {
    a_new_member()
        .data()
        .permit(PermitKind::Initialize, DataBeforeStart::MustBeEmpty)
        .waits(Reason::VolumeForeign);
    a_new_member().data().with(|w| w.found.marker = None).waits(Reason::VolumeForeign);
}

#[test]
fn the_stale_twin_does_nothing() {
    a_joined_member().with(|w| w.spec().volume_id = Some("v2".into())).waits(Reason::StaleTwin);
    // Also where only the host ID is recorded, and it is another.
    a_joined_member()
        .with(|w| {
            w.spec().volume_id = None;
            w.spec().host_id = Some("h2".into());
        })
        .waits(Reason::StaleTwin);
}

#[test]
fn a_revision_that_is_not_released_starts_nothing() {
    let held = |w: &mut World| w.spec().revisions = vec!["rev-0".into()];
    a_joined_member().with(held).waits(Reason::WaitingForRevision);
    a_joined_member()
        .with(held)
        .with(|w| w.source = Source::Saved)
        .waits(Reason::WaitingForRevision);
    a_new_member()
        .permit(PermitKind::Join, DataBeforeStart::MustBeEmpty)
        .with(held)
        .waits(Reason::WaitingForRevision);
    a_joined_member().with(|w| w.spec().revisions.clear()).waits(Reason::WaitingForRevision);
}

#[test]
fn stopped_by_intent_does_not_start() {
    a_joined_member().with(|w| w.spec().run = RunState::Stopped).waits(Reason::StoppedByIntent);
}

#[test]
fn terminated_is_for_good() {
    let terminated = a_joined_member().with(|w| w.spec().run = RunState::Terminated);
    assert_eq!(terminated.action(), Action::Ban(Ban::Terminated));
    // Noted in the ledger, it outlives the spec.
    a_joined_member().with(|w| w.ledger().ban = Ban::Terminated).waits(Reason::StoppedByIntent);
}

fn given_up(volume: &'static str) -> palladion_api::member::Termination {
    palladion_api::member::Termination {
        volume_id: volume.into(),
        host_id: HOST.into(),
        since: crate::volume::seconds(Timestamp::UNIX_EPOCH),
    }
}

#[test]
fn a_volume_that_a_user_has_given_up_is_banned_before_its_server_is_stopped() {
    let running = a_running_member().with(|w| w.spec().terminated = Some(given_up(VOLUME)));
    assert_eq!(running.action(), Action::Ban(Ban::GivenUp));
    let noted = running.with(|w| w.ledger().ban_for_good(Ban::GivenUp, POD.into()));
    assert_eq!(noted.action(), Action::Stop(StopWhy::SpecSaysSo), "whatever `run` says");
    // Also by the spec beside the ledger, and when the spec is lost.
    let saved = a_joined_member()
        .with(|w| w.spec().terminated = Some(given_up(VOLUME)))
        .with(|w| w.source = Source::Saved);
    assert_eq!(saved.action(), Action::Ban(Ban::GivenUp));
    let banned = saved.with(|w| w.ledger().ban_for_good(Ban::GivenUp, POD.into()));
    banned.waits(Reason::MemberTerminated);
    banned.clone().with(|w| w.spec().terminated = None).waits(Reason::MemberTerminated);
    // Also where it was taken out of the ring before its agent had read of it.
    let gone = banned.with(|w| w.ledger().ban = Ban::Terminated);
    assert_eq!(gone.action(), Action::Ban(Ban::GivenUp));
}

#[test]
fn no_permit_lifts_the_ban_of_a_volume_that_a_user_has_given_up() {
    let kinds = [PermitKind::Join, PermitKind::Replace, PermitKind::ResumeLeave];
    let datas = [DataBeforeStart::Retire, DataBeforeStart::Wipe, DataBeforeStart::Keep];
    for (kind, data) in kinds.into_iter().flat_map(|k| datas.map(|d| (k, d))) {
        for joined in [a_joined_member(), a_joined_member().membership(Membership::Left)] {
            let banned = joined.with(|w| {
                w.spec().left_host_id = w.ledger().host_id.clone();
                w.ledger().ban_for_good(Ban::GivenUp, "pod-0".into());
            });
            let permitted = banned.permit(kind, data);
            permitted.settles(PermitState::Refused);
            // Also by the spec beside the ledger.
            permitted.with(|w| w.source = Source::Saved).waits(Reason::MemberTerminated);
        }
    }
}

/// Whoever waits for it is told, instead of waiting for ever.
#[test]
fn a_member_that_should_run_on_a_banned_volume_waits_and_says_why() {
    let state = |run: RunState, ban: Ban| {
        let member = a_joined_member().with(|w| {
            w.spec().run = run;
            w.spec().host_id = Some(HOST.into());
            w.ledger().ban_for_good(ban, POD.into());
        });
        member.decide().state
    };
    for ban in [Ban::Terminated, Ban::GivenUp] {
        assert_eq!(state(RunState::Running, ban), ServerState::Waiting);
        assert_eq!(state(RunState::Stopped, ban), ServerState::Stopped);
    }
}

#[test]
fn a_volume_that_was_given_up_says_nothing_of_its_successor() {
    let other = |world: World| world.with(|w| w.spec().terminated = Some(given_up("v0")));
    other(a_running_member()).waits(Reason::Running);
    other(a_joined_member()).start();
    other(a_new_member()).permit(PermitKind::Replace, DataBeforeStart::MustBeEmpty).start();
}

#[test]
fn a_ban_where_no_data_ever_was_is_lifted_by_a_permit_for_a_later_pod() {
    let banned = |world: World, pod: &'static str| {
        world.with(|w| {
            w.ledger().ban = Ban::Terminated;
            w.ledger().ban_pod = Some(pod.into());
        })
    };
    let join = (PermitKind::Join, DataBeforeStart::MustBeEmpty);
    banned(a_new_member(), "pod-0").waits(Reason::StoppedByIntent);
    banned(a_new_member(), "pod-0").permit(join.0, join.1).start();
    // An old permit that comes late is for the pod that was told to stop.
    banned(a_new_member(), POD).permit(join.0, join.1).waits(Reason::StoppedByIntent);
    banned(a_joined_member(), "pod-0").permit(join.0, join.1).waits(Reason::StoppedByIntent);
}

#[test]
fn a_member_that_has_left_never_starts() {
    let left = a_joined_member().membership(Membership::Left);
    left.waits(Reason::Decommissioned);
    left.clone().permit(PermitKind::Join, DataBeforeStart::Wipe).waits(Reason::Decommissioned);
}

/// Its own ledger does not know: it was removed while its machine was down.
#[test]
fn a_member_that_was_removed_starts_only_with_its_data_set_aside() {
    let removed = a_joined_member().with(|w| {
        w.spec().left_host_id = w.ledger().host_id.clone();
        assert!(w.spec().left_host_id.is_some());
    });
    removed.waits(Reason::Decommissioned);
    removed
        .clone()
        .permit(PermitKind::Join, DataBeforeStart::MustBeEmpty)
        .waits(Reason::Decommissioned);
    removed.permit(PermitKind::Join, DataBeforeStart::Retire).start();
    let another = a_joined_member().with(|w| w.spec().left_host_id = Some("another".into()));
    another.start();
}

#[test]
fn a_container_that_ends_starts_nothing() {
    a_joined_member().with(|w| w.container = Phase::Ending).waits(Reason::StoppedByIntent);
}

#[test]
fn a_server_that_died_is_started_again_after_a_while() {
    let died = a_joined_member().with(|w| {
        let now = w.now;
        w.ledger().begin_start("t", "Autonomous", &[SEED.into()], now);
        w.ledger().starts[0].end = End::Died;
        w.ledger().starts[0].record.ended_at = Some(crate::volume::seconds(now));
        w.last_words =
            Some(LastWords { reason: Reason::ConfigurationRefused, text: "Invalid yaml".into() });
    });
    died.waits(Reason::ConfigurationRefused);
    assert!(died.decide().message.unwrap().to_string().contains("Invalid yaml"));
    assert_eq!(died.decide().state, ServerState::Failed);
    // News that may cure it are tried at once.
    let seeds = died.clone().with(|w| w.spec().seeds = vec![ADDRESS.into()]);
    assert_eq!(seeds.start().identity.seeds, [ADDRESS.into()]);
    let asked = died.clone().with(|w| w.spec().restart_token = Some("t1".into()));
    assert_eq!(asked.start().cause, Cause::Autonomous);
    let later = died.with(|w| w.now = Timestamp::from_second(1_000_011).unwrap());
    assert_eq!(later.start().cause, Cause::Autonomous);
}

#[test]
fn what_init_does_not_tell_is_not_guessed() {
    a_joined_member()
        .with(|w| w.process = Process::Unknown("no socket".into()))
        .waits(Reason::FactUnknown);
}
