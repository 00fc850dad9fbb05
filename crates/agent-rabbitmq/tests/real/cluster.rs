//! A cluster, and the test as its operator: it gives permits, orders operations and records
//! what agents report, each by the member's spec.

use super::amqp::Client;
use super::fake_api::{FakeApi, Kind};
use super::network;
use super::pod::{Place, Pod, USER};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for anything that should happen, on a machine that has other work.
const PATIENCE: Duration = Duration::from_secs(240);
const MEMBERS: Kind = Kind { name: "ServiceMember", plural: "servicemembers" };

pub struct Cluster {
    pub api: FakeApi,
    pub scratch: tempfile::TempDir,
    pub bin: PathBuf,
    pods: BTreeMap<String, Pod>,
    nonces: u32,
}

/// `rmq-3` has the address that ends with 13.
pub fn address_of(name: &str) -> String {
    let number: u32 = name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap();
    format!("10.77.0.{}", 10 + number)
}

pub fn node_of(name: &str) -> String {
    format!("rabbit@{name}.rmq-nodes.test.svc.cluster.local")
}

impl Cluster {
    pub fn new(bin: &Path) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let name = |number: u32| {
            let name = format!("rmq-{number}");
            let node = node_of(&name);
            format!("{} {} {name}\n", address_of(&name), node.split_once('@').unwrap().1)
        };
        let hosts: String = (1..=5).map(name).collect();
        fs::write(scratch.path().join("hosts"), format!("127.0.0.1 localhost\n{hosts}")).unwrap();
        Self {
            api: FakeApi::start(MEMBERS, network::HERE),
            scratch,
            bin: bin.to_path_buf(),
            pods: BTreeMap::new(),
            nonces: 0,
        }
    }

    /// Of these, initialized by the first and joined by the others.
    pub fn of(bin: &Path, names: &[&str]) -> Self {
        let mut cluster = Self::new(bin);
        let (first, others) = names.split_first().unwrap();
        cluster.add(first);
        cluster.initialize(first);
        let mut there = vec![*first];
        for other in others {
            cluster.add(other);
            cluster.join(other, &there);
            there.push(*other);
        }
        cluster
    }

    pub fn volume(&self, name: &str) -> PathBuf {
        self.scratch.path().join(format!("volume-{name}"))
    }

    pub fn pod(&self, name: &str) -> &Pod {
        &self.pods[name]
    }

    pub fn spec(&self, name: &str, change: Value) {
        self.api.change_spec(name, change);
    }

    /// A member with an empty volume, and its pod.
    pub fn add(&mut self, name: &str) {
        self.spec(
            name,
            json!({
                "system": "RabbitMQ", "cluster": "rmq", "address": address_of(name),
                "nodeName": node_of(name), "revisions": ["r1"],
            }),
        );
        self.start(name);
    }

    /// The pod of a member, on its volume.
    pub fn start(&mut self, name: &str) {
        let (volume, address) = (self.volume(name), address_of(name));
        let (api, hosts) = (self.api.url(), self.scratch.path().join("hosts"));
        let place = Place {
            name,
            address: &address,
            volume: &volume,
            bin: &self.bin,
            api: &api,
            hosts: &hosts,
        };
        let pod = Pod::start(&place, self.scratch.path());
        assert!(self.pods.insert(name.into(), pod).is_none(), "{name} has a pod");
    }

    pub fn take(&mut self, name: &str) -> Pod {
        self.pods.remove(name).unwrap()
    }

    pub fn nonce(&mut self) -> String {
        self.nonces += 1;
        format!("n{}", self.nonces)
    }

    fn volume_id(&self, name: &str) -> Value {
        let told = |s: &Value| s["volume"]["volumeID"].is_string();
        self.wait_for(name, "the volume", told)["volume"]["volumeID"].clone()
    }

    /// A permit for the pod and the volume that are there now; its nonce.
    pub fn permit(&mut self, name: &str, kind: &str, data: &str, through: &[&str]) -> String {
        let (nonce, volume) = (self.nonce(), self.volume_id(name));
        let nodes: Vec<String> = through.iter().map(|other| node_of(other)).collect();
        let flags = match through.first() {
            Some(other) => self.view(other)["broker"]["flags"]["enabled"].clone(),
            None => json!([]),
        };
        let start = json!({
            "kind": kind, "nonce": nonce, "podUID": self.pod(name).uid, "volumeID": volume,
            "reason": "a test", "attempt": 1, "nodes": nodes, "flags": flags, "data": data,
        });
        // An operator records the volume with the permit.
        self.spec(name, json!({ "start": start, "volumeID": volume }));
        nonce
    }

    pub fn initialize(&mut self, name: &str) {
        let nonce = self.permit(name, "Initialize", "MustBeEmpty", &[]);
        self.is_member(name, &nonce);
    }

    /// Joined through those, and grown.
    pub fn join(&mut self, name: &str, there: &[&str]) {
        let nonce = self.permit(name, "Join", "MustBeEmpty", there);
        self.is_member(name, &nonce);
        let grown = self.operate(name, "Grow", json!({}));
        assert_eq!(grown["state"], "Succeeded", "{grown:#}");
    }

    /// The permit is done; what is reported is recorded, as an operator does.
    fn is_member(&mut self, name: &str, nonce: &str) {
        let done = |s: &Value| s["permit"]["nonce"] == nonce && s["permit"]["state"] == "Done";
        self.wait_for(name, "a member", done);
        // On that word an operator replaces it.
        let is_lost = |status: &Value| status["volume"]["state"] == "Lost";
        let since = self.api.statuses(name).into_iter().rev();
        let lost = since.take_while(|s| s["permit"]["nonce"] == nonce).find(is_lost);
        assert_eq!(lost, None, "{name} was said to be lost while it became a member");
        self.spec(name, json!({ "start": null }));
        self.record(name);
    }

    /// Record volume, file system and starts of a member.
    pub fn record(&self, name: &str) {
        let volume = self.api.status(name)["volume"].clone();
        self.spec(
            name,
            json!({
                "volumeID": volume["volumeID"], "fileSystem": volume["fileSystem"],
                "starts": volume["starts"],
            }),
        );
    }

    /// Cluster and queues as a member shows them after a fresh nonce.
    pub fn view(&mut self, name: &str) -> Value {
        let nonce = self.nonce();
        self.spec(name, json!({ "evidence": { "nonce": nonce } }));
        let answered = |s: &Value| s["evidence"]["nonce"] == nonce.as_str();
        self.wait_for(name, "an answer", answered)["evidence"].clone()
    }

    /// Have a member carry an operation out; what became of it.
    pub fn operate(&mut self, by: &str, kind: &str, more: Value) -> Value {
        let (id, volume) = (self.nonce(), self.volume_id(by));
        let mut operation = json!({ "id": id, "volumeID": volume, "kind": kind });
        operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.spec(by, json!({ "operation": operation }));
        let ended = |s: &Value| {
            let operation = &s["operation"];
            operation["id"] == id.as_str() && operation["state"] != "Running"
        };
        let done = self.wait_for(by, "the end of the operation", ended)["operation"].clone();
        self.spec(by, json!({ "operation": null }));
        done
    }

    /// Give a member an intent, and wait until it is done.
    pub fn intend(&mut self, name: &str, kind: &str) {
        let (nonce, volume) = (self.nonce(), self.volume_id(name));
        self.spec(name, json!({ "intent": { "kind": kind, "nonce": nonce, "volumeID": volume } }));
        let done =
            |s: &Value| s["intent"]["nonce"] == nonce.as_str() && s["intent"]["state"] == "Done";
        self.wait_for(name, kind, done);
    }

    /// Wait until the status of a member is as it should be.
    pub fn wait_for(&self, name: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.api.status(name);
            if holds(&status) {
                return status;
            }
            let log = || self.pods.get(name).map(Pod::log).unwrap_or_default();
            assert!(
                Instant::now() < until,
                "waited for {what} of {name}; status: {status:#}\nlog:\n{}",
                log()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub fn waits_with(&self, name: &str, reason: &str) -> Value {
        self.wait_for(name, reason, |s| s["server"]["reason"] == reason)
    }

    /// Wait until a node takes clients as a member.
    pub fn is_ready(&self, name: &str) {
        eventually(&format!("{name} is ready"), || self.pod(name).get("/readyz").0 == 200);
    }

    pub fn client(&self, name: &str) -> std::io::Result<Client> {
        let address = format!("{}:5672", address_of(name)).parse().unwrap();
        Client::open(address, USER)
    }

    /// Publish a message through a member, until it is confirmed.
    pub fn publish(&self, name: &str, queue: &str, text: &str) {
        eventually(&format!("{name} confirms {text}"), || {
            self.client(name).and_then(|mut client| client.publish(queue, text)).is_ok()
        });
    }

    /// All messages of a queue, as a member has them. One that was published twice, as its
    /// confirmation was not heard, is there twice. A queue that elects a leader answers later.
    pub fn messages(&self, name: &str, queue: &str) -> Vec<String> {
        let mut found = Vec::new();
        eventually(&format!("{name} reads {queue}"), || {
            let all = self.client(name).and_then(|client| client.all(queue));
            all.map(|all| found = all).is_ok()
        });
        found.sort();
        found.dedup();
        found
    }

    /// Remove what is on a volume, as a disk that is replaced.
    pub fn wipe(&self, name: &str) {
        fs::remove_dir_all(self.volume(name)).unwrap();
    }
}

pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
