//! Stores of other projects, as they answer over HTTP: what a backup relies on holds in each, and
//! what goes wrong on the way makes no backup complete that is not.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

#[path = "support/servers/mod.rs"]
mod servers;

#[path = "../../backup/tests/support/mod.rs"]
mod ring;

#[path = "support/faulty.rs"]
mod faulty;

#[path = "support/token.rs"]
mod token;

use palladion_backup::store::{Created, Store};
use palladion_store::objects::Objects;
use palladion_store::settings::{Checksum, Settings};
use servers::{Kind, Server};
use std::sync::Barrier;
use support::conformance::{self, body};
use support::fault::Fault;

with_each_server!(
    every_object_is_written_once_and_found_again,
    of_those_who_create_a_name_at_once_one_does,
    a_list_is_whole_however_many_pages_it_has,
    what_breaks_off_or_changes_on_its_way_is_seen,
    an_answer_that_cannot_be_given_says_why,
    no_fault_makes_a_backup_complete_that_is_not
);

/// Azure asks for a right by the token before it looks at the condition.
mod azurite_by_token {
    use super::*;

    fn open(server: &Server, rights: &str) -> Objects {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sasToken"), token::with_rights(rights)).unwrap();
        server.open_at(&server.address("demo"), &server.settings(), folder.path())
    }

    #[test]
    #[ignore = "needs servers of other projects: cargo xtask soak --stores"]
    fn members_need_to_read_write_and_list() {
        let server = Server::start(Kind::Azurite);
        let member = open(&server, "rwl");
        assert_eq!(member.put_if_absent("a", b"one"), Ok(Created::Now));
        assert_eq!(member.put_if_absent("a", b"two"), Ok(Created::Before));
        assert_eq!(member.get("a"), Ok(Some(b"one".to_vec())));
        assert_eq!(member.list("").unwrap().len(), 1);
        // To a deletion by a token Azurite answers with an error of its own, whatever the rights.
        assert!(member.delete("a").is_err());
        assert_eq!(member.get("a"), Ok(Some(b"one".to_vec())));
        let without = open(&server, "rcl").put_if_absent("a", b"two").unwrap_err().0;
        assert!(without.contains("give the credentials the right"), "{without}");
        let blind = open(&server, "rw").list("").unwrap_err().0;
        assert!(blind.contains("give the credentials the right"), "{blind}");
    }
}

/// Two pages of Azure; other stores have a thousand names in one.
const MANY: usize = 5100;
/// Those who send them.
const HANDS: usize = 4;
/// How often a name is fought for, and by how many.
const NAMES: usize = 25;
/// Seeds for each server.
const SEEDS: u64 = 30;
/// The largest piece of a backup that is sent in one request.
const LARGEST: usize = 32 * 1024 * 1024;

fn every_object_is_written_once_and_found_again(server: &Server) {
    conformance::objects_are_written_once_listed_and_deleted(&server.patient("rings/demo"));
    let (one, other) = (server.patient("demo"), server.patient("demo2"));
    conformance::prefixes_that_begin_alike_do_not_see_each_other(&one, &other);
    for checksum in [Checksum::Crc64Nvme, Checksum::Sha256, Checksum::None] {
        if !server.is_s3() {
            break;
        }
        let (name, settings) = (format!("{checksum:?}"), server.settings());
        let settings = Settings { checksum: Some(checksum), ..settings };
        let store = server.open_at(&server.address("sums"), &settings, &server.credentials());
        assert_eq!(store.put_if_absent(&name, &body(70_000)), Ok(Created::Now), "{name}");
        assert!(store.get(&name).unwrap().unwrap() == body(70_000), "{name}");
    }
    let (store, whole) = (server.patient("large"), body(LARGEST));
    assert_eq!(store.put_if_absent("a", &whole), Ok(Created::Now));
    assert_eq!(store.put_if_absent("empty", b""), Ok(Created::Now));
    assert!(store.get("a").unwrap().unwrap() == whole);
    assert_eq!(store.get("empty").unwrap().unwrap(), b"");
    assert_eq!(store.head("a").unwrap().unwrap().bytes, LARGEST as u64);
}

fn of_those_who_create_a_name_at_once_one_does(server: &Server) {
    let stores: Vec<_> = (0..HANDS).map(|_| server.patient("race")).collect();
    // Each has tried the condition before.
    for (number, store) in stores.iter().enumerate() {
        assert_eq!(store.put_if_absent(&format!("own/{number}"), b"x"), Ok(Created::Now));
    }
    let barrier = Barrier::new(HANDS);
    let (barrier, stores) = (&barrier, &stores);
    for number in 0..NAMES {
        let name = format!("one/{number}");
        let name = &name;
        let of_hand = move |hand: usize| {
            barrier.wait();
            stores[hand].put_if_absent(name, format!("{hand}").as_bytes())
        };
        let ended: Vec<_> = std::thread::scope(|scope| {
            let all = (0..HANDS).map(|hand| scope.spawn(move || of_hand(hand)));
            let all: Vec<_> = all.collect();
            all.into_iter().map(|hand| hand.join().unwrap()).collect()
        });
        let there = stores[0].get(name).unwrap().unwrap();
        let created = |(hand, ended): (usize, &Result<Created, _>)| {
            matches!(ended, Ok(Created::Now)).then_some(hand)
        };
        let created: Vec<usize> = ended.iter().enumerate().filter_map(created).collect();
        let there: usize = String::from_utf8(there).unwrap().parse().unwrap();
        assert_eq!(created, [there], "{name}: {ended:?}");
    }
}

fn a_list_is_whole_however_many_pages_it_has(server: &Server) {
    let all: Vec<usize> = (0..MANY).collect();
    std::thread::scope(|scope| {
        for part in all.chunks(MANY.div_ceil(HANDS)) {
            let store = server.patient("demo");
            scope.spawn(move || {
                for number in part {
                    let name = format!("many/{number:05}");
                    assert_eq!(store.put_if_absent(&name, b"x"), Ok(Created::Now));
                }
            });
        }
    });
    let store = server.patient("demo");
    let listed = store.list("many/").unwrap();
    assert_eq!(listed.len(), MANY);
    assert!(listed.is_sorted() && listed[MANY - 1].name == format!("many/{:05}", MANY - 1));
    conformance::the_begin_of_a_folder_and_what_comes_after_a_name(&store);
}

fn what_breaks_off_or_changes_on_its_way_is_seen(server: &Server) {
    let (store, whole) = (server.patient("demo"), body(3_000_000));
    assert_eq!(store.put_if_absent("a", &whole), Ok(Created::Now));
    server.faults.plan("GET", Fault::Cut);
    assert!(store.get("a").unwrap().unwrap() == whole);
    assert_eq!((server.faults.requests("GET"), server.faults.requests("RANGE")), (1, 1));
    server.faults.plan("PUT", Fault::Lost);
    // It was written, and asked for again it was there before: the caller compares.
    assert_eq!(store.put_if_absent("b", b"one"), Ok(Created::Before));
    assert_eq!(store.get("b"), Ok(Some(b"one".to_vec())));
    server.faults.plan("PUT", Fault::WrongSent);
    let sent = store.put_if_absent("c", &whole);
    let is_another = store.get("c").unwrap().is_some_and(|there| there != whole);
    println!("{:?} takes what has changed on its way: {is_another} ({sent:?})", server.kind);
    assert!(!(is_another && server.compares_what_arrives()), "{sent:?}");
}

fn an_answer_that_cannot_be_given_says_why(server: &Server) {
    let missing = server.address_in("missing", "demo");
    let store = server.open_at(&missing, &server.settings(), &server.credentials());
    let said = store.put_if_absent("a", b"x").unwrap_err().0;
    assert!(said.contains("create the bucket"), "{said}");
    let said = store.list("").unwrap_err().0;
    assert!(said.contains("create the bucket"), "{said}");
    if server.kind != Kind::FakeGcs {
        for said in [store.get("a").unwrap_err().0, store.head("a").unwrap_err().0] {
            assert!(said.contains("create the bucket"), "{said}");
        }
    }
    let others = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(server.credentials()).unwrap().map(Result::unwrap) {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let text = if entry.file_name() == "accountKey" { "d3Jvbmc=".into() } else { text };
        let text = if entry.file_name() == "secretAccessKey" { "wrong".into() } else { text };
        std::fs::write(others.path().join(entry.file_name()), text).unwrap();
    }
    let store = server.open_at(&server.address("demo"), &server.settings(), others.path());
    match (server.knows_who_asks(), store.put_if_absent("a", b"x")) {
        (true, Err(said)) => assert!(said.0.contains("credentials"), "{said:?}"),
        (false, Ok(Created::Now)) => {}
        (_, other) => panic!("{other:?}"),
    }
}

fn no_fault_makes_a_backup_complete_that_is_not(server: &Server) {
    let told = faulty::back_up_with_faults(
        SEEDS,
        &server.faults,
        &|prefix| server.open(prefix),
        &|prefix| server.patient(prefix),
    );
    println!("{:?}: {told}", server.kind);
}
