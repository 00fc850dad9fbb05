//! A volume on a disk.

use super::data::COOKIE;
use super::judge::{Judgement, judge};
use super::ledger::{Entered, Membership};
use super::*;
use palladion_agent_core::service::ledger::Own as _;
use palladion_api::service_member::{MemberVolumeState, ServicePermitKind};

const NODE: &str = "rabbit@r-0.r-nodes.x.svc.cluster.local";

fn volume() -> (tempfile::TempDir, Volume) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_path_buf();
    let volume = Volume::new(root.clone(), root.join("data"));
    (directory, volume)
}

fn put(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// With the files that a node of 3.10.8 leaves, and the ledger of a member.
fn served() -> (tempfile::TempDir, Volume) {
    let (directory, volume) = volume();
    let own = volume.data().join(NODE);
    put(volume.data().join(COOKIE), "AAAA");
    put(volume.data().join(format!("{NODE}-feature_flags")), "[quorum_queue].");
    put(own.join("schema.DAT"), "x");
    put(own.join("cluster_nodes.config"), &format!("{{['{NODE}',rabbit@b],['{NODE}']}}.\n"));
    put(own.join(format!("quorum/{NODE}/00000001.wal")), "x");
    put(own.join(format!("coordination/{NODE}/00000001.wal")), "x");
    put(own.join("msg_stores/vhosts/628WB79CIFDYO9LJI6DKMI09L/recovery.dets"), "x");
    let mut ledger = volume.take(&"r-0".into(), None).unwrap();
    ledger.own.name(NodeName::new(NODE));
    ledger.membership = Membership::Joined;
    ledger.parts = volume.kinds(&NodeName::new(NODE)).unwrap();
    volume.save(&ledger).unwrap();
    (directory, volume)
}

fn state(volume: &Volume) -> MemberVolumeState {
    match judge(&volume.look_over().unwrap(), &"r-0".into(), &ServiceMemberSpec::default()) {
        Judgement::Is(state, _) => state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_node_that_has_served_is_found_whole_with_the_nodes_of_its_cluster() {
    let (_directory, volume) = served();
    let found = volume.look_over().unwrap();
    assert_eq!(found.data, Data::Whole);
    assert_eq!(found.members, ["rabbit@b", NODE].map(NodeName::new));
    assert_eq!(state(&volume), MemberVolumeState::Joined);
}

#[test]
fn each_part_that_is_gone_is_named() {
    let losses = [
        (Kind::Tables, "schema.DAT"),
        (Kind::Membership, "cluster_nodes.config"),
        (Kind::Quorum, "quorum"),
        (Kind::Coordination, "coordination"),
        (Kind::Messages, "msg_stores"),
    ];
    for (kind, path) in losses {
        let (_directory, volume) = served();
        let path = volume.data().join(NODE).join(path);
        fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)).unwrap();
        assert_eq!(volume.look_over().unwrap().data, Data::Partial(vec![kind]));
        assert_eq!(state(&volume), MemberVolumeState::Lost);
    }
}

/// The agent may have ended before it could note anything.
#[test]
fn what_every_node_has_is_missed_also_where_nothing_was_noted() {
    let (_directory, volume) = served();
    let mut ledger = volume.look_over().unwrap().ledger.unwrap();
    ledger.parts.clear();
    volume.save(&ledger).unwrap();
    fs::remove_dir_all(volume.data().join(NODE).join("quorum")).unwrap();
    assert_eq!(volume.look_over().unwrap().data, Data::Partial(vec![Kind::Quorum]));
}

/// A power cut may leave a file that has no content.
#[test]
fn an_empty_file_is_a_part_that_is_gone() {
    let (_directory, volume) = served();
    fs::write(volume.data().join(NODE).join("schema.DAT"), "").unwrap();
    assert_eq!(volume.look_over().unwrap().data, Data::Partial(vec![Kind::Tables]));
}

/// Streams are there only where somebody has used them.
#[test]
fn a_part_that_never_was_is_not_missed_and_one_that_was_is() {
    let (_directory, volume) = served();
    put(volume.data().join(NODE).join("stream/s_1/00000.segment"), "x");
    let mut ledger = volume.look_over().unwrap().ledger.unwrap();
    ledger.parts = volume.kinds(&NodeName::new(NODE)).unwrap();
    volume.save(&ledger).unwrap();
    fs::remove_dir_all(volume.data().join(NODE).join("stream/s_1")).unwrap();
    assert_eq!(volume.look_over().unwrap().data, Data::Whole, "somebody deleted the last one");
    fs::remove_dir_all(volume.data().join(NODE).join("stream")).unwrap();
    assert_eq!(volume.look_over().unwrap().data, Data::Partial(vec![Kind::Streams]));
}

#[test]
fn what_the_agent_writes_is_no_data_and_the_cookie_outlives_the_rest() {
    let (_directory, volume) = volume();
    put(volume.data().join(COOKIE), "AAAA");
    put(volume.configuration().join("rabbitmq.conf"), "");
    volume.take(&"r-0".into(), None).unwrap();
    assert_eq!(volume.look_over().unwrap().data, Data::Absent);
    let (_directory, volume) = served();
    volume.wipe().unwrap();
    assert_eq!(volume.look_over().unwrap().data, Data::Absent);
    assert_eq!(fs::read_to_string(volume.data().join(COOKIE)).unwrap(), "AAAA");
    volume.wipe().unwrap();
}

/// Files of another node are data, too: a volume is not empty that holds them.
#[test]
fn the_data_of_a_node_of_another_name_is_not_overlooked() {
    let (_directory, volume) = served();
    let mut ledger = volume.look_over().unwrap().ledger.unwrap();
    ledger.own.name(NodeName::new("rabbit@other"));
    volume.save(&ledger).unwrap();
    assert_eq!(state(&volume), MemberVolumeState::Lost);
    ledger.membership = Membership::Empty;
    volume.save(&ledger).unwrap();
    assert_eq!(state(&volume), MemberVolumeState::Unaccounted);
}

/// As it is between `join_cluster` and `start_app`. Whatever else an application makes says that
/// it has run, and then its logs are missed.
#[test]
fn a_node_that_was_taken_in_and_never_ran_is_told_from_one_that_lost_its_logs() {
    let (_directory, volume) = served();
    let own = volume.data().join(NODE);
    let mut ledger = volume.look_over().unwrap().ledger.unwrap();
    ledger.membership = Membership::Joining { kind: ServicePermitKind::Join, nonce: "n".into() };
    ledger.parts.clear();
    volume.save(&ledger).unwrap();
    for (gone, then) in [
        ("quorum", MemberVolumeState::Lost),
        ("coordination", MemberVolumeState::Lost),
        ("msg_stores", MemberVolumeState::Joined),
    ] {
        fs::remove_dir_all(own.join(gone)).unwrap();
        assert_eq!(state(&volume), then, "without {gone}");
    }
    assert_eq!(volume.look_over().unwrap().data, Data::Unstarted);
    ledger.parts = [Kind::Tables].into();
    volume.save(&ledger).unwrap();
    assert_eq!(state(&volume), MemberVolumeState::Lost, "it has served");
}

/// It has joined by what it wrote itself, before its agent could note that.
#[test]
fn a_joiner_is_a_member_as_soon_as_its_files_name_others() {
    let (_directory, volume) = served();
    let mut ledger = volume.look_over().unwrap().ledger.unwrap();
    ledger.membership = Membership::Joining { kind: ServicePermitKind::Join, nonce: "n".into() };
    assert_eq!(ledger.entered, Entered::No);
    volume.save(&ledger).unwrap();
    assert_eq!(state(&volume), MemberVolumeState::Joined);
    let alone = format!("{{['{NODE}'],['{NODE}']}}.");
    put(volume.data().join(NODE).join("cluster_nodes.config"), &alone);
    assert_eq!(state(&volume), MemberVolumeState::Incomplete);
}
