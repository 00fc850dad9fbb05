//! What is read of the directory, and what is done to it.

use super::*;
use std::path::PathBuf;

struct Place {
    _root: tempfile::TempDir,
    cdc: PathBuf,
    log: PathBuf,
}

/// A directory with these files, and a commit log with these.
fn place(cdc: &[(&str, &str)], log: &[&str]) -> Place {
    let root = tempfile::tempdir().unwrap();
    let place =
        Place { cdc: root.path().join("cdc_raw"), log: root.path().join("commitlog"), _root: root };
    fs::create_dir_all(&place.cdc).unwrap();
    fs::create_dir_all(&place.log).unwrap();
    for (name, text) in cdc {
        fs::write(place.cdc.join(name), text).unwrap();
    }
    for name in log {
        fs::write(place.log.join(name), "0123456789").unwrap();
    }
    place
}

fn names(place: &Place) -> Vec<String> {
    files(&place.cdc).unwrap().into_keys().collect()
}

#[test]
fn what_has_an_index_waits_and_what_is_complete_is_to_be_read() {
    let place = place(
        &[
            ("CommitLog-7-1.log", "0123456789"),
            ("CommitLog-7-1_cdc.idx", "10\nCOMPLETED"),
            ("CommitLog-7-2.log", "0123456789"),
            ("CommitLog-7-2_cdc.idx", "7\n"),
            ("CommitLog-7-3.log", "01234567890"),
            // The reader is at this one: the segment is gone, and its index goes next.
            ("CommitLog-7-0_cdc.idx", "10\nCOMPLETED"),
        ],
        &[],
    );
    let seen = look(&place.cdc).unwrap();
    assert_eq!((seen.segments, seen.complete, seen.largest), (2, 1, 12));
    assert_eq!(seen.bytes, 10 + 12 + 10 + 2 + 11 + 12);
    assert!(seen.oldest.is_some());
    assert_eq!(look(&place.cdc.join("none")).unwrap(), Seen::default());
}

/// A server that replays a segment says of it what is in it (4.1.9 and 5.0.5, tried): nobody may do
/// that before it.
#[test]
fn before_a_start_only_what_the_server_does_not_replay_is_settled() {
    let place = place(
        &[
            ("CommitLog-7-1.log", "0123456789"),
            ("CommitLog-7-1_cdc.idx", "4"),
            ("CommitLog-7-2.log", "0123456789"),
            ("CommitLog-7-3.log", "0123456789"),
            ("CommitLog-7-4.log", "0123456789"),
            ("CommitLog-7-4_cdc.idx", "4"),
        ],
        &["CommitLog-7-1.log", "CommitLog-7-2.log"],
    );
    settle(&place.cdc, &place.log, Rest::Starts).unwrap();
    assert_eq!(fs::read_to_string(place.cdc.join("CommitLog-7-1_cdc.idx")).unwrap(), "4");
    let left = names(&place);
    assert!(left.contains(&"CommitLog-7-2.log".into()), "it may have a change: {left:?}");
    assert!(
        !left.contains(&"CommitLog-7-3.log".into()),
        "no change, and nobody knows it: {left:?}"
    );
    let index = fs::read_to_string(place.cdc.join("CommitLog-7-4_cdc.idx")).unwrap();
    assert_eq!(index, "10\nCOMPLETED");
}

#[test]
fn who_has_left_has_completed_all_that_has_changes() {
    let place = place(
        &[
            ("CommitLog-7-1.log", "0123456789"),
            ("CommitLog-7-1_cdc.idx", "4"),
            ("CommitLog-7-2.log", "0123456789"),
            ("CommitLog-7-3.log", "0123456789"),
            // The server ended while it wrote this one.
            ("CommitLog-7-3_cdc.idx", ""),
            ("CommitLog-7-4.log", "0123456789"),
            ("CommitLog-7-4_cdc.idx", "6\nCOMPLETED"),
        ],
        &["CommitLog-7-1.log", "CommitLog-7-2.log"],
    );
    settle(&place.cdc, &place.log, Rest::Ended).unwrap();
    let seen = look(&place.cdc).unwrap();
    assert_eq!((seen.segments, seen.complete), (3, 3));
    assert!(!names(&place).contains(&"CommitLog-7-2.log".into()), "{:?}", names(&place));
    let index = |segment: u8| place.cdc.join(format!("CommitLog-7-{segment}_cdc.idx"));
    assert_eq!(fs::read_to_string(index(1)).unwrap(), "10\nCOMPLETED");
    assert_eq!(fs::read_to_string(index(4)).unwrap(), "6\nCOMPLETED", "as the server said");
    assert_eq!(fs::read_dir(&place.log).unwrap().count(), 2, "the commit log is the server's");
    settle(&place.cdc, &place.log, Rest::Ended).unwrap();
    assert_eq!(look(&place.cdc).unwrap().segments, 3);
}

#[test]
fn the_group_reads_and_deletes_and_does_not_write() {
    let place = place(&[("CommitLog-7-1.log", "0123456789")], &[]);
    let file = place.cdc.join("CommitLog-7-1.log");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    fs::set_permissions(&place.cdc, fs::Permissions::from_mode(0o755)).unwrap();
    for _ in 0..2 {
        prepare(&place.cdc).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!((mode(&place.cdc), mode(&file)), (0o2770, 0o644));
    }
    let fresh = place.cdc.join("below");
    prepare(&fresh).unwrap();
    assert_eq!(fs::metadata(&fresh).unwrap().mode() & 0o7777, 0o2770);
}
