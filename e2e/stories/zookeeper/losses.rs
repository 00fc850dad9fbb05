//! Volumes that have forgotten: they never vote again under their old ID.

use std::thread;
use std::time::{Duration, Instant};

use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::service::Service;
use palladion_e2e::zookeeper::{Client, Ensemble, PATIENCE, Writing};
use serde_json::json;

use super::forming::three;

/// The member that is wiped; the first one forms the ensemble, and is asked about data.
const WIPED: u32 = 2;
/// Nodes before all are killed, and after they are back.
const SOME: usize = 50;

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
    writing.wait_acknowledged(SOME).expect("acknowledged before they are killed");
    let ids = ensemble.voters();
    let name = ensemble.name;
    let words = format!("delete pods --all -n {name} --grace-period=1 --wait=false");
    bed().kubectl(&words).expect("deleted");
    ensemble
        .service()
        .wait("the quorum to be missed", |o| condition(o, "Available")["status"] == "False");
    ensemble.wait_servers(3);
    assert_eq!(ensemble.voters(), ids, "the same servers");
    writing.wait_acknowledged(SOME).expect("acknowledged after they were killed");
    writing.end(&ensemble).expect("all that was acknowledged is there");
}

/// Wait until the agent in the pod that a member has now says this of its volume.
fn wait_volume(service: &Service, ordinal: u32, state: &str) {
    let name = service.member_name(ordinal);
    wait_for(&format!("the volume of {name} to be {state}"), PATIENCE, || {
        let member = bed().get(service.name, "servicemember", &name)?.unwrap_or_default();
        let pod = bed().get(service.name, "pod", &name)?.unwrap_or_default();
        let is_its_own = member["status"]["agent"]["podUID"] == pod["metadata"]["uid"];
        let is_so = member["status"]["volume"]["state"] == state;
        Ok((is_its_own && is_so).then_some(()))
    })
    .expect("its agent says so");
}

/// Every member of record has this node.
fn all_have(ensemble: &Ensemble, node: &str) {
    for address in ensemble.addresses() {
        let port = bed().cluster.forward(address).expect("forwarded");
        let names = Client::open(port).expect("a session").children("/").expect("names");
        assert!(names.iter().any(|name| name == node), "{address} has lost {node}: {names:?}");
    }
}

/// A write is acknowledged by A and B, A goes, and B is wiped: C, which has not heard of the
/// write, elects nobody with what is left of B.
pub fn wiped_while_another_is_down() {
    const A: u32 = 0;
    const B: u32 = 1;
    const C: u32 = 2;
    let ensemble = Ensemble::form_apart("zk-order", 3);
    let service = ensemble.service();
    let ports: Vec<u16> = ensemble
        .addresses()
        .into_iter()
        .map(|address| bed().cluster.forward(address).expect("forwarded"))
        .collect();
    let c_is_away = service.keep_away(&[C]);
    wait_for("A and B to take a write", PATIENCE, || {
        let mut client = Client::open(ports[0])?;
        client.create("/w", "")?;
        client.close();
        Ok(Some(()))
    })
    .expect("two of three take it");
    let before = service.member(B);
    let claim = |ordinal: u32| {
        let claim = format!("data-{}", service.member_name(ordinal));
        let claim = bed().get(ensemble.name, "persistentvolumeclaim", &claim).expect("get");
        text(&claim.expect("the claim"), "/metadata/uid").to_string()
    };
    let claimed = claim(B);
    let a_is_away = service.keep_away(&[A]);
    let begin = Instant::now();
    ensemble.wipe(B);
    drop(c_is_away);
    wait_volume(&service, B, "Lost");
    wait_volume(&service, C, "Joined");
    for _ in 0..10 {
        for port in &ports {
            assert!(Client::open(*port).is_err(), "nobody may serve without the write");
        }
        thread::sleep(Duration::from_secs(2));
    }
    let status = service.status();
    assert!(status["ask"].is_null() && status["turn"].is_null(), "{status:#}");
    assert_eq!(claim(B), claimed, "C alone is no majority, and proves nothing");
    let missed = begin.elapsed();
    drop(a_is_away);
    let id = before["spec"]["serverID"].as_i64();
    service.wait("another server in the place of B", |o| {
        let all = o["status"]["ensemble"].as_array().cloned().unwrap_or_default();
        all.len() == 3 && all.iter().all(|server| server["id"].as_i64() != id)
    });
    ensemble.wait_servers(3);
    let after = service.member(B);
    assert!(after["spec"]["serverID"].as_i64() > id, "{after:#}");
    assert_ne!(after["spec"]["volumeID"], before["spec"]["volumeID"], "another volume");
    all_have(&ensemble, "w");
    println!(
        "figure: zk-wiped: nobody served for {:.0} s with A down and B wiped; all of it {:.0} s",
        missed.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
    service.end();
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
