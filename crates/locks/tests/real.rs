//! The lock in a real etcd with TLS and users. It needs the program that a testbed is made of:
//! `cargo test -p palladion-locks --test real -- --ignored`; the story `regions` plays the same
//! with operators.

#![allow(clippy::unwrap_used, dead_code, missing_docs, reason = "tests")]

mod support;

use palladion_locks::{Credentials, Etcd};
use palladion_plan::lock::{LockStore, Taken, Want};
use palladion_testbed::lock_store::{LockStore as RealEtcd, program};
use std::time::{Duration, Instant};
use support::{
    etcd, goes_on_with_the_token, is_broken_by_its_token, is_held_by_one, is_recorded_once, key,
    ours, take, take_for,
};

fn started(directory: &std::path::Path) -> RealEtcd {
    let program = program().expect("the program etcd");
    RealEtcd::start(&program, directory, &["east", "west"]).expect("etcd starts")
}

#[tokio::test]
#[ignore = "needs the etcd of the testbed's parts"]
async fn one_region_holds_it_and_the_next_follows() {
    let directory = tempfile::tempdir().unwrap();
    let store = started(directory.path());
    let east = etcd(&store.endpoint(), &store.credentials("east").unwrap());
    let west = etcd(&store.endpoint(), &store.credentials("west").unwrap());
    is_held_by_one(&east, &west, "a").await;
    goes_on_with_the_token(&east, "b").await;
    is_broken_by_its_token(&east, &west, "c").await;
    is_recorded_once(&east, &west, "d").await;
    assert_eq!(store.connections().unwrap(), 0, "no connection stays open");
}

#[tokio::test]
#[ignore = "needs the etcd of the testbed's parts"]
async fn it_ends_with_its_lease_and_outlives_a_loss_of_power() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = started(directory.path());
    let east = etcd(&store.endpoint(), &store.credentials("east").unwrap());
    let west = etcd(&store.endpoint(), &store.credentials("west").unwrap());
    let (kept, _) = ours(take(&east, "kept", "east", Want::Take).await);
    store.kill().unwrap();
    let away = east.check(&key("kept"), &kept).await.expect_err("nobody answers");
    assert!(away.to_string().starts_with("cannot reach etcd at https://127.0.0.1:"), "{away}");
    store.begin().unwrap();
    assert!(east.check(&key("kept"), &kept).await.unwrap(), "it is still held");
    let begun = Instant::now();
    let two = Duration::from_secs(2);
    ours(take_for(&east, "short", "east", Want::Take, two).await.unwrap());
    while !matches!(take(&west, "short", "west", Want::Take).await, Taken::Ours { .. }) {
        assert!(begun.elapsed() < Duration::from_secs(20), "the lease does not end");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(begun.elapsed() >= two, "it was taken while it was held");
}

#[tokio::test]
#[ignore = "needs the etcd of the testbed's parts"]
async fn a_stranger_is_refused_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let store = started(directory.path());
    let credentials = store.credentials("east").unwrap();
    std::fs::write(credentials.join("password"), "wrong").unwrap();
    let impostor = etcd(&store.endpoint(), &credentials);
    let wrong = take_for(&impostor, "a", "east", Want::Take, support::TTL);
    let wrong = wrong.await.expect_err("a wrong password").to_string();
    assert!(wrong.contains("authentication failed"), "{wrong}");
    for file in ["username", "password"] {
        std::fs::remove_file(credentials.join(file)).unwrap();
    }
    let nobody = etcd(&store.endpoint(), &credentials);
    let nobody = take_for(&nobody, "a", "east", Want::Take, support::TTL).await;
    let nobody = nobody.expect_err("no user").to_string();
    assert!(nobody.contains("user name is empty"), "{nobody}");
    // An etcd that another authority vouches for.
    let other = tempfile::tempdir().unwrap();
    let stranger = started(other.path());
    let trusting = Credentials::in_directory(store.credentials("east").unwrap());
    let stranger = Etcd::new(vec![stranger.endpoint()], trusting);
    let why = stranger.check(&key("a"), &"1-a".into()).await.expect_err("not trusted").to_string();
    assert!(why.contains("invalid peer certificate"), "{why}");
}

#[tokio::test]
#[ignore = "needs the etcd of the testbed's parts"]
async fn a_token_that_was_forgotten_is_drawn_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = started(directory.path());
    let east = etcd(&store.endpoint(), &store.credentials("east").unwrap());
    let (token, _) = ours(take(&east, "a", "east", Want::Take).await);
    // Tokens of users are in etcd's memory alone.
    store.kill().unwrap();
    store.begin().unwrap();
    assert!(east.check(&key("a"), &token).await.unwrap());
}
