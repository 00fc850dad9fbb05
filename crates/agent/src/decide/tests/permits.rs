//! Permits: whom they fit, and what becomes of them.

use super::super::testing::*;
use super::super::*;
use crate::render::Entry;
use crate::volume::changes::Cause;
use crate::volume::ledger::Membership;
use palladion_api::member::Word;

use DataBeforeStart::{Keep, MustBeEmpty, Retire, Wipe};

fn joining(kind: PermitKind) -> Membership {
    Membership::Joining { kind, nonce: "n0".into() }
}

fn used(world: World, kind: PermitKind) -> World {
    world
        .membership(Membership::Joining { kind, nonce: "n1".into() })
        .with(|w| w.ledger().use_permit(&"n1".into()))
}

#[test]
fn found_lists_only_itself_as_seed() {
    let start = a_new_member().permit(PermitKind::Initialize, MustBeEmpty).start();
    assert_eq!(start.identity.seeds, [ADDRESS.into()]);
    assert_eq!(start.identity.entry, Entry::Plain);
}

#[test]
fn found_wants_an_empty_volume_or_the_left_overs_of_its_own_founding() {
    let founding = a_new_member().membership(joining(PermitKind::Initialize)).data();
    assert_eq!(
        founding.clone().permit(PermitKind::Initialize, Keep).start().identity.seeds,
        [ADDRESS.into()]
    );
    founding.permit(PermitKind::Initialize, MustBeEmpty).settles(PermitState::Refused);
    let other = a_new_member().membership(joining(PermitKind::Join)).data();
    other.permit(PermitKind::Initialize, Keep).settles(PermitState::Refused);
}

#[test]
fn join_never_lists_itself_as_seed() {
    let join = |w: &mut World| w.spec().seeds = vec![ADDRESS.into(), SEED.into()];
    let start = a_new_member().permit(PermitKind::Join, MustBeEmpty).with(join).start();
    assert_eq!(start.identity.seeds, [SEED.into()]);
    assert_eq!(start.identity.entry, Entry::Join);
}

#[test]
fn without_another_seed_an_empty_volume_never_starts_but_by_found() {
    for kind in [PermitKind::Join, PermitKind::Replace] {
        let alone = a_new_member()
            .permit(kind, MustBeEmpty)
            .with(|w| w.spec().seeds = vec![ADDRESS.into()]);
        assert!(alone.settles(PermitState::Refused).contains("no seeds other than itself"));
    }
}

#[test]
fn the_first_member_of_a_datacenter_names_one_seed_elsewhere_that_answers_and_never_itself() {
    let joins = |answers: Option<&'static str>| {
        a_new_member().permit(PermitKind::Join, MustBeEmpty).with(|w| {
            w.spec().seeds.clear();
            w.spec().external_seeds = vec!["seeds.west.example.com".into()];
            w.elsewhere.addresses = vec![ELSEWHERE.into(), "10.96.9.9".into()];
            w.elsewhere.answers = answers.map(Into::into);
        })
    };
    let start = joins(Some(ELSEWHERE)).start();
    assert_eq!(start.identity.seeds, [ELSEWHERE.into()]);
    assert_eq!(start.identity.entry, Entry::Join);
    joins(None).waits(Reason::SeedsUnreachable);
    joins(Some(ADDRESS)).waits(Reason::SeedsUnreachable);
    let itself = joins(None).with(|w| w.spec().seeds = vec![ADDRESS.into()]);
    itself.waits(Reason::SeedsUnreachable);
}

#[test]
fn where_its_datacenter_has_members_a_joiner_names_those_and_no_seed_elsewhere() {
    let start = a_new_member()
        .permit(PermitKind::Join, MustBeEmpty)
        .with(|w| {
            w.spec().external_seeds = vec![ELSEWHERE.into()];
            w.elsewhere.answers = Some(ELSEWHERE.into());
        })
        .start();
    assert_eq!(start.identity.seeds, [SEED.into()]);
}

#[test]
fn a_ring_is_initialized_without_seeds_elsewhere() {
    let start = a_new_member()
        .permit(PermitKind::Initialize, MustBeEmpty)
        .with(|w| {
            w.spec().external_seeds = vec![ELSEWHERE.into()];
            w.elsewhere.answers = Some(ELSEWHERE.into());
        })
        .start();
    assert_eq!(start.identity.seeds, [ADDRESS.into()]);
}

#[test]
fn a_join_that_failed_is_tried_again_on_wiped_directories_only() {
    let left_overs = a_new_member().membership(joining(PermitKind::Join)).data();
    let again = left_overs.clone().permit(PermitKind::Join, Wipe).start();
    assert!(matches!(again.cause, Cause::Permit { data: Wipe, .. }));
    left_overs.permit(PermitKind::Join, MustBeEmpty).settles(PermitState::Refused);
}

#[test]
fn a_member_that_joined_unnoticed_comes_back_with_its_data() {
    let killed = a_new_member().membership(joining(PermitKind::Join)).data();
    let start = killed.permit(PermitKind::Join, Keep).start();
    assert_eq!(start.identity.entry, Entry::Plain);
    assert!(matches!(start.cause, Cause::Permit { data: Keep, .. }));
    a_new_member().permit(PermitKind::Join, Keep).settles(PermitState::Refused);
}

#[test]
fn replace_carries_the_address_and_host_id_of_the_dead() {
    let start = a_new_member().permit(PermitKind::Replace, MustBeEmpty).start();
    assert_eq!(
        start.identity.entry,
        Entry::Replace { address: "10.96.0.13".into(), host_id: Some(HOST.into()) }
    );
    let nameless = a_new_member()
        .permit(PermitKind::Replace, MustBeEmpty)
        .with(|w| w.spec().start.as_mut().unwrap().replace_address = None);
    nameless.settles(PermitState::Refused);
}

#[test]
fn a_lost_member_takes_its_own_place_by_replace() {
    let successor = a_new_member().recorded().permit(PermitKind::Replace, MustBeEmpty).with(|w| {
        w.found.marker = Some("v2".into());
        w.ledger().volume_id = "v2".into();
        w.ledger().successor_of = Some(VOLUME.into());
        w.spec().start.as_mut().unwrap().volume_id = "v2".into();
    });
    assert!(matches!(successor.start().identity.entry, Entry::Replace { .. }));
    let found = successor.with(|w| w.spec().start.as_mut().unwrap().kind = PermitKind::Initialize);
    found.settles(PermitState::Refused);
}

#[test]
fn a_permit_for_another_pod_or_volume_is_refused() {
    let join = || a_new_member().permit(PermitKind::Join, MustBeEmpty);
    let pod = join().with(|w| w.spec().start.as_mut().unwrap().pod_uid = "pod-0".into());
    assert!(pod.settles(PermitState::Refused).contains("pod-0"));
    let volume = join().with(|w| w.spec().start.as_mut().unwrap().volume_id = "v0".into());
    assert!(volume.settles(PermitState::Refused).contains("v0"));
}

/// An agent stays for long beside a newer operator.
#[test]
fn a_permit_that_is_not_known_is_refused_by_name() {
    let rewind = Word::new("Rewind");
    let kind = (PermitKind::Unknown(rewind), MustBeEmpty);
    let data = (PermitKind::Join, DataBeforeStart::Unknown(rewind));
    for (kind, data) in [kind, data] {
        for world in [a_new_member(), a_joined_member(), a_running_member()] {
            let permitted = world.permit(kind, data);
            let why = permitted.settles(PermitState::Refused);
            assert!(why.contains("`Rewind`") && why.contains("does not support"), "{why}");
        }
        // The data may not be what that start is for.
        let refused = a_joined_member().permit(kind, data).with(|w| {
            w.ledger().set_permit(&"n1".into(), PermitState::Refused, Some("no".into()));
        });
        refused.waits(Reason::WaitingForPermit);
    }
}

#[test]
fn a_left_over_permit_does_not_touch_a_member_that_has_joined() {
    // It starts by itself, whatever the permit says, and then the permit is refused.
    let joined = a_joined_member().permit(PermitKind::Join, Wipe);
    assert_eq!(joined.start().cause, Cause::Autonomous);
    a_running_member().permit(PermitKind::Join, Wipe).settles(PermitState::Refused);
}

#[test]
fn a_permit_counts_only_as_read_from_the_api() {
    let saved =
        a_new_member().permit(PermitKind::Join, MustBeEmpty).with(|w| w.source = Source::Saved);
    saved.waits(Reason::WaitingForMember);
}

#[test]
fn a_permit_is_used_once() {
    let ended = used(a_new_member(), PermitKind::Join).permit(PermitKind::Join, Wipe);
    ended.settles(PermitState::Failed);
    let failed = ended
        .clone()
        .with(|w| w.ledger().set_permit(&"n1".into(), PermitState::Failed, Some("words".into())));
    assert_eq!(failed.decide().state, ServerState::Failed);
    assert_eq!(failed.action(), Action::Nothing);
    // Even where another permit came between.
    let between = failed.with(|w| w.ledger().set_permit(&"n2".into(), PermitState::Failed, None));
    assert!(between.settles(PermitState::Refused).contains("already used"));
}

#[test]
fn a_failed_start_tells_the_servers_last_words() {
    let ended = used(a_new_member(), PermitKind::Join).permit(PermitKind::Join, Wipe).with(|w| {
        w.last_words =
            Some(LastWords { reason: Reason::ServerFailed, text: "already exists".into() });
    });
    assert_eq!(ended.settles(PermitState::Failed), "already exists");
}

#[test]
fn a_permit_is_done_when_the_member_is_normal_and_answers_cql() {
    let running = a_running_member().with(|w| w.ledger().use_permit(&"n1".into()));
    running.settles(PermitState::Done);
    let deaf = running.with(|w| w.reading.as_mut().unwrap().native_transport = Some(false));
    assert_eq!(deaf.action(), Action::Nothing);
}

#[test]
fn a_withdrawn_permit_stops_the_server_and_is_acknowledged() {
    let joining = used(a_new_member(), PermitKind::Join).running("JOINING");
    assert_eq!(joining.action(), Action::Stop(StopWhy::PermitWithdrawn));
    let stopped = used(a_new_member(), PermitKind::Join);
    stopped.settles(PermitState::Withdrawn);
    // An API that is away withdraws nothing.
    let away = joining.with(|w| w.source = Source::Saved);
    assert_eq!(away.action(), Action::Nothing);
}

#[test]
fn data_of_a_host_id_that_is_gone_is_set_aside_by_permit() {
    for membership in [Membership::Left, Membership::Joined] {
        let kept = a_joined_member().membership(membership).permit(PermitKind::Join, Retire);
        assert!(matches!(kept.start().cause, Cause::Permit { data: Retire, .. }));
    }
}

#[test]
fn a_member_that_joined_after_its_data_was_set_aside_starts_by_itself() {
    let again = a_joined_member().permit(PermitKind::Join, Retire).with(|w| {
        w.ledger().use_permit(&"n1".into());
        w.ledger().set_permit(&"n1".into(), PermitState::Done, None);
    });
    assert_eq!(again.start().cause, Cause::Autonomous);
}

#[test]
fn every_kind_of_permit_fits_its_volumes_and_no_other() {
    let volumes = [
        ("empty", a_new_member()),
        ("incomplete", a_new_member().membership(joining(PermitKind::Join)).data()),
        ("left", a_joined_member().membership(Membership::Left)),
        ("leaving", a_joined_member().membership(Membership::Leaving { nonce: "i0".into() })),
    ];
    let mut table = String::new();
    for (name, world) in volumes {
        for kind in
            [PermitKind::Initialize, PermitKind::Join, PermitKind::Replace, PermitKind::ResumeLeave]
        {
            for data in [MustBeEmpty, Keep, Wipe, Retire] {
                if matches!(world.clone().permit(kind, data).action(), Action::Start(_)) {
                    table.push_str(&format!("{name}: {kind:?} {data:?}\n"));
                }
            }
        }
    }
    insta::assert_snapshot!(table);
}

const ELSEWHERE: &str = "10.96.0.99";

/// A member whose Service has another address, with the permit to come back under it.
fn a_moved_member() -> World {
    let moved = a_joined_member().permit(PermitKind::Readdress, Keep);
    moved.with(|w| w.spec().address = Some(ELSEWHERE.into()))
}

#[test]
fn a_member_comes_back_under_another_address_with_its_data() {
    let start = a_moved_member().start();
    assert_eq!(start.identity.entry, Entry::Plain);
    assert_eq!(start.identity.address, ELSEWHERE.into());
    assert!(matches!(start.cause, Cause::Permit { kind: PermitKind::Readdress, data: Keep, .. }));
    let only_seed = a_moved_member().with(|w| w.spec().seeds = vec![ELSEWHERE.into()]);
    assert_eq!(only_seed.start().identity.seeds, [ELSEWHERE.into()], "it has data");
}

#[test]
fn a_permit_for_another_address_or_member_is_refused() {
    let of_another = a_moved_member()
        .with(|w| w.spec().start.as_mut().unwrap().replace_address = Some("10.96.0.50".into()));
    assert!(of_another.settles(PermitState::Refused).contains("10.96.0.50"));
    let host = a_moved_member()
        .with(|w| w.spec().start.as_mut().unwrap().host_id = Some("another".into()));
    assert!(host.settles(PermitState::Refused).contains("another"));
    let wiped = a_moved_member().with(|w| w.spec().start.as_mut().unwrap().data = Wipe);
    wiped.settles(PermitState::Refused);
    let volume =
        a_moved_member().with(|w| w.spec().start.as_mut().unwrap().volume_id = "v0".into());
    assert!(volume.settles(PermitState::Refused).contains("v0"));
}

#[test]
fn a_permit_that_was_used_starts_nothing_under_the_old_address() {
    let used = a_moved_member().with(|w| w.ledger().use_permit(&"n1".into()));
    used.waits(Reason::AddressChanged);
    let came_up = a_moved_member().with(|w| {
        let (kind, nonce) = (PermitKind::Readdress, "n1".into());
        let cause = Cause::Permit { kind, nonce, data: Keep };
        w.ledger().use_cause(&cause, &ELSEWHERE.into());
    });
    assert_eq!(came_up.start().cause, Cause::Autonomous, "it is known under the new one");
}
