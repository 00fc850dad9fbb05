//! Starts without a permit, and what stands in the way of every start.

use super::super::testing::*;
use super::super::*;
use crate::launch::credentials::Logins;
use crate::volume::cookie::Comparison;
use crate::volume::ledger::{Ban, End, Entered, Membership};
use crate::volume::{Data, Kind};
use palladion_api::member::RunState;
use palladion_api::service::LostMember;
use palladion_api::service_member::{
    DataBeforeServiceStart as Before, LossCause, ServicePermitKind as Kinds, VolumeLoss,
};

#[test]
fn a_member_starts_by_itself_open_and_with_the_api_away() {
    let start = a_member().start();
    assert_eq!((start.cause, start.entry.doors()), (Cause::Autonomous, Doors::Open));
    assert_eq!((start.node, start.entry), (node("a"), Entry::Plain));
    assert_eq!(a_member().with(|w| w.source = Source::Saved).start().entry, Entry::Plain);
}

/// After its member was recreated: the others may have forgotten it.
#[test]
fn a_volume_that_is_not_on_record_is_not_started_without_a_permit() {
    a_member().with(|w| w.spec().volume_id = None).waits(Reason::VolumeForeign);
}

/// R15, R16: all of them start at once and wait for each other; nobody forces one to boot.
#[test]
fn a_member_does_not_wait_for_others_before_it_starts() {
    let alone = a_member().with(|w| w.spec().evidence = None);
    assert_eq!(alone.start().entry, Entry::Plain);
}

#[test]
fn a_volume_is_taken_only_where_nothing_is_on_it_and_nothing_else_is_recorded() {
    let unmarked = || a_new_member().with(|w| (w.found.marker, w.found.ledger) = (None, None));
    assert_eq!(unmarked().action(), Action::TakeVolume { successor_of: None });
    let lost = unmarked().with(|w| {
        w.spec().volume_id = Some("v0".into());
        w.spec().file_system = Some("ext4/1/a".into());
    });
    assert_eq!(lost.action(), Action::TakeVolume { successor_of: Some("v0".into()) });
    lost.with(|w| w.spec().file_system = Some("ext4/2/b".into())).waits(Reason::VolumeNotMounted);
    unmarked().with(|w| w.found.data = Data::Whole).waits(Reason::VolumeForeign);
    unmarked().with(|w| w.spec = None).waits(Reason::WaitingForMember);
}

/// R6: its replicas would be empty and vote.
#[test]
fn a_member_that_lost_a_part_of_its_data_does_not_start_and_no_permit_starts_it() {
    for data in [Data::Absent, Data::Partial(vec![Kind::Quorum])] {
        let lost = a_member().with(|w| w.found.data = data.clone());
        lost.waits(Reason::VolumeLost);
        for kind in [Kinds::Initialize, Kinds::Join] {
            for before in [Before::MustBeEmpty, Before::Wipe, Before::Keep] {
                lost.clone().permit(kind, before).refuses("cannot be used on a volume");
            }
        }
    }
}

#[test]
fn no_node_starts_without_a_cookie_or_under_a_name_that_leads_elsewhere() {
    let cookie = |cookie| {
        a_member().with(|w| w.credentials = Some(Present { cookie, logins: Logins::Missing }))
    };
    cookie(Comparison::Missing).waits(Reason::CredentialsMissing);
    a_member().with(|w| w.credentials = None).waits(Reason::CredentialsMissing);
    // Its volume keeps the cookie that it began with; the passwords are for the first start.
    assert_eq!(cookie(Comparison::Differs).start().entry, Entry::Plain);
    let named = |named| a_member().with(|w| w.named = named);
    named(None).waits(Reason::Starting);
    let elsewhere = Named::Elsewhere { node: node("a"), found: Default::default() };
    named(Some((node("a"), Err(elsewhere)))).waits(Reason::NameUnresolved);
    // The name was corrected since it was looked up.
    named(Some((node("b"), Ok(())))).waits(Reason::Starting);
}

#[test]
fn a_first_start_needs_all_passwords_and_a_join_does_not() {
    let without = |kind| {
        a_new_member().permit(kind, Before::MustBeEmpty).with(|w| {
            w.credentials = Some(Present { cookie: Comparison::Fits, logins: Logins::Missing });
        })
    };
    without(Kinds::Initialize).waits(Reason::CredentialsMissing);
    assert!(matches!(without(Kinds::Join).start().entry, Entry::Joiner { .. }));
}

#[test]
fn what_the_spec_forbids_is_not_started() {
    let member = |change: fn(&mut ServiceMemberSpec)| a_member().with(|w| change(w.spec()));
    member(|s| s.run = RunState::Stopped).waits(Reason::StoppedByIntent);
    member(|s| s.revisions.clear()).waits(Reason::WaitingForRevision);
    member(|s| s.volume_id = Some("v0".into())).waits(Reason::StaleTwin);
    member(|s| s.node_name = Some(node("b"))).waits(Reason::StaleTwin);
    member(|s| s.starts = Some(4)).waits(Reason::VolumeRolledBack);
    member(|s| s.cluster = "other".into()).waits(Reason::VolumeForeign);
    member(|s| s.address = None).waits(Reason::WaitingForMember);
    assert_eq!(member(|s| s.run = RunState::Terminated).action(), Action::Terminate);
    let banned = a_member().with(|w| w.ledger().terminate("p0".into()));
    banned.waits(Reason::Decommissioned);
    let ended = a_new_member().with(|w| w.ledger().ban = Ban::Terminated);
    ended.waits(Reason::StoppedByIntent);
}

#[test]
fn a_volume_that_is_marked_as_lost_is_not_started() {
    let lost = LostMember {
        volume_id: VOLUME.into(),
        server_id: None,
        node_name: None,
        address: None,
        claim_uid: None,
    };
    let loss = VolumeLoss {
        lost,
        cause: LossCause::User,
        reason: String::new(),
        revocable: false,
        earlier_server_ids: Vec::new(),
    };
    let marked = a_member().with(|w| w.spec().replace = Some(loss));
    marked.waits(Reason::VolumeLost);
    let running = marked.runs(&["a", "b", "c"], &["a", "b", "c"]).served();
    assert_eq!(running.action(), Action::Stop(StopWhy::MarkedAsLost));
}

#[test]
fn a_node_that_died_is_started_again_after_a_while_and_at_once_if_somebody_asks() {
    let died = a_member().with(|w| {
        let now = Timestamp::from_second(99_999).unwrap();
        w.ledger().begin_start("t", "Autonomous", now);
        w.ledger().end_start(End::Died, now, Some(1), None);
        let text = "disagrees".to_string();
        w.last_words = Some(LastWords { reason: Reason::NotInCluster, text });
    });
    died.waits(Reason::NotInCluster);
    died.says("disagrees");
    let asked = died.with(|w| w.spec().restart_token = Some("t1".into()));
    assert_eq!(asked.start().entry, Entry::Plain);
}

#[test]
fn nothing_starts_in_a_container_that_ends_or_while_init_is_silent() {
    a_member().with(|w| w.container = Phase::Ending).waits(Reason::StoppedByIntent);
    a_member().with(|w| w.process = Process::Unknown("x".into())).waits(Reason::FactUnknown);
}

/// The agent ended after its node had joined, and before it noted that.
#[test]
fn a_joiner_that_has_joined_starts_by_itself_with_its_data() {
    let joined = a_joiner(Kinds::Join).with(|w| {
        w.process = Process::Absent;
        w.found.data = Data::Whole;
        w.found.members = vec![node("a"), node("b")];
    });
    assert_eq!(joined.action(), Action::RecordEntered);
    let joined = joined.with(|w| w.ledger().entered = Entered::Yes);
    let start = joined.start();
    assert_eq!((start.cause, start.entry), (Cause::Autonomous, Entry::Plain));
    assert!(matches!(joined.clone().ledger().membership, Membership::Joining { .. }));
}
