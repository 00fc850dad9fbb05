//! A disk with the data of an ensemble that nobody has on record comes to a new one of the same
//! name: neither is it taken for that ensemble, nor does a new one begin beside it unasked.

use std::thread;
use std::time::{Duration, Instant};

use palladion_api::labels::ALLOW_INITIALIZATION;
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::zookeeper::{Client, Ensemble, PATIENCE};
use serde_json::{Value, json};

/// What the operator would do it does in this time.
const WATCHED: Duration = Duration::from_secs(10);

/// An ensemble of one server with something in it, of which nothing but the disk is left; the
/// claim of the same name gets the disk again.
fn leave_a_disk(ensemble: &Ensemble) {
    let (service, name) = (ensemble.service(), ensemble.name);
    service.create(&ensemble.manifest(1, &[]));
    ensemble.wait_servers(1);
    let port = bed().cluster.forward(ensemble.addresses()[0]).expect("forwarded");
    Client::open(port).expect("a session").create("/older", "").expect("created");
    let claim = service.claim_name(0);
    let found = bed().get(name, "persistentvolumeclaim", &claim).expect("get").expect("it");
    let disk = text(&found, "/spec/volumeName").to_string();
    assert!(!disk.is_empty(), "{found:#}");
    bed()
        .kubectl(&format!("delete zookeepercluster {name} -n {name} --wait=true --timeout=60s"))
        .expect("deleted");
    bed()
        .kubectl(&format!("delete pvc {claim} -n {name} --wait=true --timeout=60s"))
        .expect("deleted");
    wait_for("the disk to be free", PATIENCE, || {
        let disk = bed().get(name, "persistentvolume", &disk)?.unwrap_or_default();
        Ok((disk["status"]["phase"] == "Released").then_some(()))
    })
    .expect("released");
    let to = json!({ "spec": { "claimRef": {
        "namespace": name, "name": claim, "uid": Value::Null, "resourceVersion": Value::Null,
    } } });
    bed().patch(name, "persistentvolume", &disk, &to).expect("given to the claim of that name");
}

pub fn given_up() {
    let ensemble = Ensemble { name: "zk-older" };
    let service = ensemble.service();
    leave_a_disk(&ensemble);
    service.apply(&ensemble.manifest(3, &[]));
    let refused = Reason::InitializationRefused.as_str();
    let asked =
        service.wait("a user to be asked", |o| condition(o, "Degraded")["reason"] == refused);
    let said = condition(&asked, "Degraded")["message"].to_string();
    let first = service.member_name(0);
    assert!(said.contains(&format!("the volume of member {first} holds the data")), "{said}");
    service.annotate(&format!("{ALLOW_INITIALIZATION}=whatever-it-takes"));
    thread::sleep(WATCHED);
    let status = service.status();
    assert!(status["initialized"].is_null() && status["turn"].is_null(), "{status:#}");
    let nonce = text(&asked, "/status/ask/nonce");
    let begin = Instant::now();
    service.annotate(&format!("{ALLOW_INITIALIZATION}={nonce}"));
    let foreign = service.wait("the others to begin, and the older disk to be told", |o| {
        o["status"]["servers"] == "2/3"
            && condition(o, "Degraded")["reason"] == Reason::VolumeForeign.as_str()
    });
    let began = begin.elapsed();
    assert_eq!(text(&foreign, "/status/initialized/member"), service.member_name(1));
    let volume = text(&service.member(0), "/status/volume/volumeID").to_string();
    let said = condition(&foreign, "Degraded")["message"].to_string();
    assert!(said.contains(&format!("palladion.dev/replace={volume}")), "{said}");
    thread::sleep(WATCHED);
    assert_eq!(service.status()["servers"], "2/3", "nobody has given the older data up");
    let given_up = Instant::now();
    service.give_up(0, &volume);
    ensemble.wait_servers(3);
    let took = given_up.elapsed();
    let voters = ensemble.voters();
    assert!(voters.len() == 3 && !voters.contains(&1), "no ID is given again: {voters:?}");
    for address in ensemble.addresses() {
        let port = bed().cluster.forward(address).expect("forwarded");
        let names = Client::open(port).expect("a session").children("/").expect("names");
        assert!(!names.iter().any(|name| name == "older"), "{address} has older data: {names:?}");
    }
    println!(
        "figure: zk-older: two of three serve {:.1} s after that was allowed; the third {:.1} s after its disk was given up",
        began.as_secs_f64(),
        took.as_secs_f64()
    );
    service.end();
}
