//! Growth, shrinking and rollouts under a writer: no member that stays is restarted, and
//! nothing that was acknowledged is missing afterwards.

use std::time::Duration;

use palladion_e2e::bed;
use palladion_e2e::bed::wait_for;
use palladion_e2e::zookeeper::{Ensemble, OLDER_VERSION, PATIENCE, VERSION, Writing, Written};
use serde_json::json;

/// Of the fewest that a slow machine was seen to take.
const MANY: usize = 200;

fn written(writing: Writing, ensemble: &Ensemble) -> Written {
    let written = writing.end(ensemble).expect("all that was acknowledged is there");
    let count = written.acknowledged.len();
    println!("figure: {}: {written}", ensemble.name);
    assert!(count > MANY, "only {count} nodes were written");
    written
}

/// Three servers vote, and these are their IDs. Whose pod is ready first joins first, and an
/// ID is above all that were given before: where the third overtakes the second, they are 1,
/// 3 and 4.
pub fn three_vote(ensemble: &Ensemble) -> Vec<i64> {
    let voters = ensemble.voters();
    assert!(voters == [1, 2, 3] || voters == [1, 3, 4], "{voters:?}");
    voters
}

pub fn grow_and_shrink() {
    // The claims of those that leave are kept, and go with the cluster.
    let ensemble = Ensemble::form("zk-scale", 1, &["deletionPolicy: Delete"]);
    let writing = Writing::begin(&ensemble).expect("writing");
    let first = ensemble.service().pods();
    ensemble.set_servers(3);
    ensemble.wait_servers(3);
    writing.follow(&ensemble).expect("through all three");
    three_vote(&ensemble);
    let all = ensemble.service().pods();
    assert!(first.iter().all(|(name, uid)| all.get(name) == Some(uid)), "a join restarted a pod");
    ensemble.set_servers(1);
    ensemble.wait_servers(1);
    assert_eq!(ensemble.voters(), [1]);
    wait_for("the pods of those that left to be gone", PATIENCE, || {
        Ok((ensemble.service().pods() == first).then_some(()))
    })
    .expect("one pod, the first");
    let gap = written(writing, &ensemble).longest_gap;
    assert!(gap < Duration::from_secs(30), "nothing was taken for {gap:?}");
    let left = bed().list(ensemble.name, "servicemembers").expect("members");
    assert_eq!(left.len(), 1, "the records of those that left are gone");
    let claims = bed().list(ensemble.name, "persistentvolumeclaims").expect("claims");
    assert_eq!(claims.len(), 3, "their data is kept");
    let name = ensemble.name;
    bed()
        .kubectl(&format!("delete zookeepercluster {name} -n {name} --wait=true --timeout=60s"))
        .expect("deleted");
    wait_for("the claims to go with the cluster", PATIENCE, || {
        Ok(bed().list(name, "persistentvolumeclaims")?.is_empty().then_some(()))
    })
    .expect("deletionPolicy Delete");
    ensemble.service().end();
}

pub fn upgraded() {
    let ensemble = Ensemble { name: "zk-upgrade" };
    bed().fresh_namespace(ensemble.name).expect("a namespace");
    let older = ensemble.manifest(3, &[]).replace(VERSION, OLDER_VERSION);
    bed().apply(ensemble.name, &older).expect("accepted");
    ensemble.wait_servers(3);
    let leader = ensemble.service().status()["leader"].as_str().expect("a leader").to_string();
    let writing = Writing::begin(&ensemble).expect("writing");
    bed().apply(ensemble.name, &ensemble.manifest(3, &[])).expect("accepted");
    let before = ensemble.service().pods();
    wait_for("two of three to be replaced", PATIENCE, || {
        let now = ensemble.service().pods();
        let kept: Vec<&String> =
            before.iter().filter(|(n, uid)| now.get(*n) == Some(uid)).map(|(n, _)| n).collect();
        Ok((kept == [&leader]).then_some(()))
    })
    .expect("the leader is the last");
    ensemble.service().wait("3.9 to be on record", |o| {
        o["status"]["highestReleaseLine"] == "3.9" && o["status"]["servers"] == "3/3"
    });
    ensemble.wait_servers(3);
    written(writing, &ensemble);
    let back = json!({ "spec": { "version": OLDER_VERSION } });
    let refused = bed().patch(ensemble.name, "zookeepercluster", ensemble.name, &back);
    let said = format!("{:#}", refused.expect_err("a server cannot read what a newer line wrote"));
    assert!(said.contains("older release line than 3.9"), "{said}");
    ensemble.service().end();
}

pub fn leader_leaves() {
    let ensemble = Ensemble::form("zk-leader", 3, &[]);
    let writing = Writing::begin(&ensemble).expect("writing");
    ensemble.let_a_leaver_lead(3, 1);
    ensemble.set_servers(1);
    ensemble.wait_servers(1);
    let stays = ensemble.service().member_name(0);
    ensemble
        .service()
        .wait("the one that stays to lead", |o| o["status"]["leader"] == stays.as_str());
    written(writing, &ensemble);
    ensemble.service().end();
}
