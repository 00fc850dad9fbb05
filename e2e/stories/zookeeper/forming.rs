//! How an ensemble begins, and what clients find.

use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::service::operator_rests;
use palladion_e2e::zookeeper::{Client, Ensemble};

use super::NAMESPACE;
use super::changes::three_vote;

/// The ensemble of an earlier step, if it is as it was formed, or a new one.
pub fn three() -> Ensemble {
    let found = bed().get(NAMESPACE, "zookeepercluster", NAMESPACE).expect("get");
    let is_well = found.is_some_and(|found| {
        found["status"]["servers"] == "3/3" && condition(&found, "Degraded")["status"] == "False"
    });
    match is_well {
        true => Ensemble { name: NAMESPACE },
        false => Ensemble::form(NAMESPACE, 3, &[]),
    }
}

pub fn formed_once() {
    let ensemble = Ensemble::form(NAMESPACE, 3, &[]);
    let status = ensemble.service().status();
    let voters = three_vote(&ensemble);
    assert_eq!(text(&status, "/initialized/member"), ensemble.service().member_name(0));
    assert_eq!(status["service"]["active"], true);
    assert_eq!(status["service"]["ready"], 3);
    let addresses = ensemble.addresses();
    assert_eq!(addresses.len(), 3);
    // ZooKeeper's own client, from one server to the Service of all.
    let server = format!("{NAMESPACE}-zk-client:2181");
    let typed = |words: &[&str]| {
        let command = [&["zkCli.sh", "-server", &server][..], words].concat();
        bed().exec(NAMESPACE, &ensemble.service().member_name(1), &command).expect("zkCli.sh")
    };
    typed(&["create", "/greeting", "hello"]);
    assert!(typed(&["get", "/greeting"]).contains("hello"));
    // One ensemble: what was written through one is there for clients of each.
    for address in addresses {
        let port = bed().cluster.forward(address).expect("forwarded");
        let mut client = Client::open(port).expect("a session");
        let names = client.children("/").expect("names");
        assert!(names.iter().any(|name| name == "greeting"), "{address}: {names:?}");
        client.close();
    }
    let claims = bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims");
    let id = |claim| text(claim, "/metadata/annotations/palladion.dev~1server-id").parse();
    let mut ids: Vec<i64> = claims.iter().map(|claim| id(claim).expect("a number")).collect();
    ids.sort_unstable();
    assert_eq!(ids, voters, "each volume has the ID of its server");
}

pub fn at_rest() {
    let ensemble = three();
    ensemble.wait_servers(3);
    operator_rests();
}
