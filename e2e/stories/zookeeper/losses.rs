//! Volumes that have forgotten: they never vote again under their old ID.

use std::thread;
use std::time::Duration;

use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::zookeeper::{Client, Ensemble, Writing};
use serde_json::json;

use super::forming::three;

/// The member that is wiped; the first one forms the ensemble, and is asked about data.
const WIPED: u32 = 2;

pub fn wiped() {
    let ensemble = three();
    let writing = Writing::begin(&ensemble).expect("writing");
    let before = ensemble.service().member(WIPED);
    let (id, volume) = (before["spec"]["serverID"].as_i64(), text(&before, "/spec/volumeID"));
    ensemble.wipe(WIPED);
    ensemble.service().wait("another server ID", |o| {
        let ids = o["status"]["ensemble"].as_array().cloned().unwrap_or_default();
        let voting = ids.iter().filter(|s| s["role"] == "Participant");
        voting.filter(|s| s["id"].as_i64() != id).count() == 3
    });
    ensemble.wait_servers(3);
    let after = ensemble.service().member(WIPED);
    assert!(after["spec"]["serverID"].as_i64() > id, "{after:#}");
    assert_ne!(text(&after, "/spec/volumeID"), volume, "another volume");
    assert_ne!(after["spec"]["address"], before["spec"]["address"], "another address");
    assert_eq!(after["spec"]["replace"], json!(null), "nothing is left of it");
    writing.follow(&ensemble).expect("through the new one, too");
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!("figure: zk-wiped: {written}");
}

pub fn all_killed() {
    let ensemble = three();
    let writing = Writing::begin(&ensemble).expect("writing");
    let ids = ensemble.voters();
    let name = ensemble.name;
    bed().kubectl(&format!("delete pods --all -n {name} --grace-period=1")).expect("deleted");
    ensemble
        .service()
        .wait("the quorum to be missed", |o| condition(o, "Available")["status"] == "False");
    ensemble.wait_servers(3);
    assert_eq!(ensemble.voters(), ids, "the same servers");
    writing.end(&ensemble).expect("all that was acknowledged is there");
}

pub fn two_wiped() {
    let ensemble = Ensemble::form("zk-two-wiped", 3, &[]);
    let port = bed().cluster.forward(ensemble.addresses()[0]).expect("forwarded");
    Client::open(port).expect("a session").create("/kept", "").expect("created");
    ensemble.wipe(1);
    ensemble.wipe(2);
    let asked =
        ensemble.service().wait("a user to be asked", |o| o["status"]["ask"]["kind"] == "Rescue");
    let ask = &asked["status"]["ask"];
    assert_eq!(ask["about"].as_array().map(Vec::len), Some(2), "{ask:#}");
    assert_eq!(condition(&asked, "Available")["status"], "False");
    thread::sleep(Duration::from_secs(10));
    assert!(Client::open(port).is_err(), "a minority grants no session");
    let nonce = text(ask, "/nonce");
    let name = ensemble.name;
    bed()
        .kubectl(&format!(
            "annotate zookeepercluster {name} -n {name} palladion.dev/allow-rescue={nonce}"
        ))
        .expect("annotated");
    ensemble.wait_servers(3);
    assert_eq!(ensemble.voters().first(), Some(&1));
    let port = bed().cluster.forward(ensemble.addresses()[2]).expect("forwarded");
    let names = Client::open(port).expect("a session").children("/").expect("names");
    assert!(names.iter().any(|name| name == "kept"), "{names:?}");
    ensemble.service().end();
}
