//! A volume on a disk.

use super::data::{INITIALIZE, MY_ID, VERSION};
use super::txn_log::testing::log;
use super::*;
use crate::read::Server;
use crate::words::volume::Part;
use palladion_api::service_member::ServerRole;
use palladion_api::zookeeper::{ServerId, ZookeeperPorts};
use std::fs;

fn volume() -> (tempfile::TempDir, Volume) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_path_buf();
    let volume = Volume::new(root.clone(), root.join("data"), root.join("datalog"));
    (directory, volume)
}

fn put(path: PathBuf, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// With the files of a server that has served.
fn served() -> (tempfile::TempDir, Volume) {
    let (directory, volume) = volume();
    let (data, logs) = (volume.data().join(VERSION), volume.logs().join(VERSION));
    put(data.join("snapshot.0"), b"x");
    put(data.join("currentEpoch"), b"1");
    put(data.join("acceptedEpoch"), b"1\n");
    put(logs.join("log.100000001"), &log(&[0x1_0000_0001, 0x1_0000_0005]));
    let ports = ZookeeperPorts::default();
    let own = Server::new(&"10.96.0.11".into(), &ports, ServerRole::Participant);
    let servers = [(ServerId::new(1), own)].into();
    volume.files().replace(&Config { version: Zxid::new(1 << 32), servers }).unwrap();
    (directory, volume)
}

fn missing(volume: &Volume) -> Vec<Part> {
    match volume.inspect().unwrap().data {
        Data::Partial(parts) => parts,
        Data::Unlogged => vec![Part::Logs],
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_agent_writes_before_a_start_is_no_data() {
    let (_directory, volume) = volume();
    assert_eq!(volume.inspect().unwrap().data, Data::Absent, "not even the directories");
    put(volume.data().join(MY_ID), b"1");
    put(volume.logs().join(INITIALIZE), b"");
    fs::create_dir_all(volume.data().join(VERSION)).unwrap();
    volume.files().replace(&Config::default()).unwrap();
    assert_eq!(volume.inspect().unwrap().data, Data::Absent);
}

#[test]
fn a_server_that_has_served_is_found_whole_with_epoch_and_last_transaction() {
    let (_directory, volume) = served();
    let found = volume.inspect().unwrap();
    assert_eq!((found.data, found.epoch), (Data::Whole, Some(1)));
    assert_eq!(found.last_zxid, Some(Zxid::new(0x1_0000_0005)));
    assert!(found.config.unwrap().role(ServerId::new(1)).is_some());
    // A snapshot that was taken over from the leader may be newer than all logs.
    put(volume.data().join(VERSION).join("snapshot.200000000"), b"x");
    assert_eq!(volume.inspect().unwrap().last_zxid, Some(Zxid::new(2 << 32)));
}

/// A rescue would rank it by its snapshot, and another volume would be called the newest.
#[test]
fn of_a_log_that_cannot_be_read_no_last_transaction_is_reported() {
    let (_directory, volume) = served();
    put(volume.logs().join(VERSION).join("log.100000006"), b"not the head of a log");
    let found = volume.inspect().unwrap();
    assert_eq!((found.data, found.epoch), (Data::Whole, Some(1)), "it is started all the same");
    assert_eq!(found.last_zxid, None);
}

#[test]
fn each_part_that_is_gone_is_named() {
    type Loss = fn(&Volume);
    let losses: [(Part, Loss); 5] = [
        (Part::Logs, |v| fs::remove_dir_all(v.logs()).unwrap()),
        (Part::Snapshots, |v| fs::remove_file(v.data().join(VERSION).join("snapshot.0")).unwrap()),
        (Part::CurrentEpoch, |v| put(v.data().join(VERSION).join("currentEpoch"), b"")),
        (Part::AcceptedEpoch, |v| {
            fs::remove_file(v.data().join(VERSION).join("acceptedEpoch")).unwrap();
        }),
        (Part::Configuration, |v| {
            fs::remove_file(v.files().newest_path().unwrap().unwrap()).unwrap();
        }),
    ];
    for (part, lose) in losses {
        let (_directory, volume) = served();
        lose(&volume);
        assert_eq!(missing(&volume), [part]);
    }
}

/// A snapshot of nothing and no log: it ended before it logged anything. A later snapshot
/// says that there were logs.
#[test]
fn a_server_that_has_logged_nothing_is_known_by_its_first_snapshot() {
    let (_directory, volume) = served();
    fs::remove_dir_all(volume.logs()).unwrap();
    assert_eq!(volume.inspect().unwrap().data, Data::Unlogged);
    put(volume.data().join(VERSION).join("snapshot.100000005"), b"x");
    assert_eq!(volume.inspect().unwrap().data, Data::Partial(vec![Part::Logs]));
}

#[test]
fn an_epoch_that_is_no_number_is_an_error_and_not_a_missing_one() {
    let (_directory, volume) = served();
    put(volume.data().join(VERSION).join("currentEpoch"), b"one");
    assert!(format!("{:#}", volume.inspect().unwrap_err()).contains("`one`"));
}

#[test]
fn taking_gives_a_new_id_that_is_found_again() {
    let (_directory, volume) = volume();
    let ledger = volume.take(&"m-0".into(), None).unwrap();
    let found = volume.inspect().unwrap();
    assert_eq!(found.marker.as_ref(), Some(&ledger.volume_id));
    assert_eq!((found.owner, found.ledger), (Some("m-0".into()), Some(ledger.clone())));
    let (_other, other) = self::volume();
    assert_ne!(other.take(&"m-0".into(), None).unwrap().volume_id, ledger.volume_id);
}

#[test]
fn a_ledger_of_a_newer_agent_or_of_another_volume_is_an_error() {
    let (_directory, volume) = volume();
    volume.take(&"m-0".into(), None).unwrap();
    let mut ledger = Ledger::new("other".into(), None);
    volume.save(&ledger).unwrap();
    assert!(volume.inspect().unwrap_err().to_string().contains("different volumes"));
    ledger.format = 99;
    volume.save(&ledger).unwrap();
    assert!(volume.inspect().unwrap_err().to_string().contains("format 99"));
}

#[test]
fn the_last_spec_is_kept_beside_the_ledger() {
    let (_directory, volume) = volume();
    volume.take(&"m-0".into(), None).unwrap();
    assert_eq!(volume.saved_member().unwrap(), None);
    let spec = ServiceMemberSpec { cluster: "c".into(), ..Default::default() };
    let member = SavedMember { generation: Some(3), spec };
    volume.save_member(&member).unwrap();
    assert_eq!(volume.saved_member().unwrap(), Some(member));
}
