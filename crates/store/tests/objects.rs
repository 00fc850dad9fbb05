//! A store of objects, over HTTP: what is created once stays, what is not known is
//! said as such, and an error names the next step.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::store::{Created, Store, Undeleted};
use palladion_store::credentials::Credentials;
use palladion_store::objects::Objects;
use palladion_store::settings::{Checksum, Settings};
use support::conformance::{self, body};
use support::fault::Fault;
use support::s3::{ID, S3, credentials, objects};

#[test]
fn objects_are_written_once_listed_and_deleted() {
    for address in ["s3://bucket", "s3://bucket/rings/demo"] {
        let s3 = S3::new();
        conformance::objects_are_written_once_listed_and_deleted(&s3.open(address));
    }
}

#[test]
fn prefixes_that_begin_alike_do_not_see_each_other() {
    let s3 = S3::new();
    let (one, other) = (s3.open("s3://bucket/demo"), s3.open("s3://bucket/demo2"));
    conformance::prefixes_that_begin_alike_do_not_see_each_other(&one, &other);
}

#[test]
fn more_objects_than_one_answer_holds_are_all_listed() {
    let s3 = S3::new();
    let folder = s3.bucket().join("demo/many");
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..2100 {
        std::fs::write(folder.join(format!("{number:05}")), "x").unwrap();
    }
    let store = s3.open("s3://bucket/demo");
    let listed = store.list("many/").unwrap();
    assert_eq!(listed.len(), 2100);
    assert!(listed.is_sorted() && listed[2099].name == "many/02099");
    assert_eq!(s3.faults.requests("GET"), 3, "a thousand names are in one answer");
    // The begin of a long folder costs one answer, and so does what comes after a name.
    conformance::the_begin_of_a_folder_and_what_comes_after_a_name(&store);
    assert_eq!(s3.faults.requests("GET"), 10);
    // One page that does not come is no end of the list.
    s3.faults.plan("GET", Fault::Status(503, "SlowDown"));
    s3.faults.plan("GET", Fault::Status(503, "SlowDown"));
    assert!(store.list("many/").is_err());
}

#[test]
fn a_store_that_overwrites_is_seen_by_the_first_object_and_refused() {
    let s3 = S3::new();
    s3.faults.ignore_conditions();
    let store = s3.open("s3://bucket/demo");
    let refused = store.put_if_absent("repository.json", b"one").unwrap_err().0;
    assert!(refused.contains("overwrites objects instead of refusing"), "{refused}");
    assert!(refused.contains("use a store"), "{refused}");
}

#[test]
fn the_condition_is_tried_once_and_not_for_every_object() {
    let s3 = S3::new();
    let store = s3.open("s3://bucket/demo");
    for name in ["a", "b", "c"] {
        assert_eq!(store.put_if_absent(name, b"x"), Ok(Created::Now));
    }
    assert_eq!(s3.faults.requests("PUT"), 4);
}

#[test]
fn a_read_that_breaks_off_goes_on_from_there() {
    let s3 = S3::new();
    let mut settings = s3.settings();
    settings.patience.retries = 3;
    let store = Objects::open(&objects("s3://bucket/demo"), &settings, &credentials()).unwrap();
    let whole = body(3_000_000);
    store.put_if_absent("a", &whole).unwrap();
    s3.faults.plan("GET", Fault::Cut);
    let read = store.get("a");
    assert!(read.unwrap().unwrap() == whole);
    assert_eq!((s3.faults.requests("GET"), s3.faults.requests("RANGE")), (1, 1));
}

#[test]
fn bytes_that_change_on_their_way_never_stand_under_the_name() {
    for checksum in [Checksum::Crc64Nvme, Checksum::Sha256, Checksum::None] {
        let s3 = S3::new();
        let settings = Settings { checksum: Some(checksum), ..s3.settings() };
        let store = Objects::open(&objects("s3://bucket/demo"), &settings, &credentials()).unwrap();
        s3.faults.plan("PUT", Fault::WrongSent);
        let put = store.put_if_absent("a", &body(100_000));
        assert_eq!(s3.faults.counts().len(), 1);
        match store.get("a").unwrap() {
            Some(there) => assert!(there == body(100_000), "{checksum:?}"),
            None => assert!(put.is_err(), "{checksum:?}"),
        }
    }
}

#[test]
fn an_answer_that_is_lost_is_no_second_object() {
    let s3 = S3::new();
    let store = s3.open("s3://bucket/demo");
    s3.faults.plan("PUT", Fault::Lost);
    // It was written, and asked for again it was there before: the caller compares.
    assert_eq!(store.put_if_absent("a", b"one"), Ok(Created::Before));
    assert_eq!(store.get("a"), Ok(Some(b"one".to_vec())));
}

#[test]
fn what_is_not_known_is_an_error_with_the_next_step_and_never_an_absence() {
    let s3 = S3::new();
    let store = s3.open("s3://bucket/demo");
    store.put_if_absent("a", b"one").unwrap();
    let twice = |fault: Fault| {
        s3.faults.plan("GET", fault);
        s3.faults.plan("GET", fault);
        let said = store.get("a").unwrap_err().0;
        while s3.faults.draw("GET", false).is_some() {}
        said
    };
    assert!(twice(Fault::Status(403, "AccessDenied")).contains("give the credentials the right"));
    assert!(twice(Fault::Status(429, "TooManyRequests")).contains("try again"));
    assert!(twice(Fault::Status(500, "InternalError")).contains("try again"));
    assert!(twice(Fault::Status(404, "NoSuchBucket")).contains("create the bucket"));
    // A list fails in other words of the client, and is told with the same next step.
    let listed = |fault: Fault| {
        s3.faults.plan("GET", fault);
        s3.faults.plan("GET", fault);
        let said = store.list("").unwrap_err().0;
        while s3.faults.draw("GET", false).is_some() {}
        said
    };
    assert!(listed(Fault::Status(403, "AccessDenied")).contains("give the credentials the right"));
    assert!(listed(Fault::Status(404, "NoSuchBucket")).contains("create the bucket"));
    assert!(listed(Fault::Status(503, "SlowDown")).contains("try again"));
    // The answer to a HEAD has no body, so another one says what is missing.
    s3.faults.plan("HEAD", Fault::Status(404, "NoSuchBucket"));
    assert_eq!(store.head("a").unwrap().unwrap().bytes, 3);
    s3.faults.plan("HEAD", Fault::Status(404, "NoSuchBucket"));
    s3.faults.plan("GET", Fault::Status(404, "NoSuchBucket"));
    assert!(store.head("a").unwrap_err().0.contains("create the bucket"));
    let without = |credentials: &Credentials| {
        let other = Objects::open(&objects("s3://bucket/demo"), &s3.settings(), credentials);
        other.unwrap().get("a").unwrap_err().0
    };
    let wrong = Credentials { secret_access_key: Some("wrong".into()), ..credentials() };
    let refused = without(&wrong);
    assert!(refused.contains("credentials") && !refused.contains(ID), "{refused}");
}

#[test]
fn a_missing_right_to_delete_is_told_apart_from_a_deletion_that_is_not_known() {
    let s3 = S3::new();
    let store = s3.open("s3://bucket/demo");
    store.put_if_absent("a", b"one").unwrap();
    let twice = |fault: Fault| {
        s3.faults.plan("DELETE", fault);
        s3.faults.plan("DELETE", fault);
        let undeleted = store.delete("a").unwrap_err();
        while s3.faults.draw("DELETE", false).is_some() {}
        undeleted
    };
    let refused = twice(Fault::Status(403, "AccessDenied"));
    assert!(matches!(refused, Undeleted::Refused(_)), "{refused:?}");
    for fault in [Fault::Status(429, "TooManyRequests"), Fault::Status(500, "InternalError")] {
        let unknown = twice(fault);
        assert!(matches!(unknown, Undeleted::Unknown(_)), "{unknown:?}");
    }
    assert_eq!(store.delete("a"), Ok(()));
}
