//! An ensemble, and the test as its operator: it gives permits, orders changes of the
//! configuration and records what agents report, each by the member's spec.

use super::client::Client;
use super::fake_api::{FakeApi, Kind};
use super::network;
use super::pod::{Place, Pod};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for anything that should happen, on a machine that has other work.
const PATIENCE: Duration = Duration::from_secs(90);
const MEMBERS: Kind = Kind { name: "ServiceMember", plural: "servicemembers" };

pub struct Ensemble {
    pub api: FakeApi,
    pub scratch: tempfile::TempDir,
    home: PathBuf,
    pods: BTreeMap<String, Pod>,
    nonces: u32,
}

/// `zk-3` has the ID 3 at first, and the address that ends with 13.
pub fn id_of(name: &str) -> i64 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap()
}

pub fn address_of(name: &str) -> String {
    format!("10.77.0.{}", 10 + id_of(name))
}

impl Ensemble {
    pub fn new(home: &Path) -> Self {
        Self {
            api: FakeApi::start(MEMBERS, network::HERE),
            scratch: tempfile::tempdir().unwrap(),
            home: home.to_path_buf(),
            pods: BTreeMap::new(),
            nonces: 0,
        }
    }

    /// Of these, initialized by the first and joined by the others.
    pub fn of(home: &Path, names: &[&str]) -> Self {
        let mut ensemble = Self::new(home);
        let (first, others) = names.split_first().unwrap();
        ensemble.add(first);
        ensemble.initialize(first);
        let mut there = vec![*first];
        for other in others {
            ensemble.add(other);
            ensemble.join(other, &there);
            there.push(*other);
        }
        ensemble
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
                "system": "ZooKeeper", "cluster": "zk", "address": address_of(name),
                "serverID": id_of(name), "revisions": ["r1"],
            }),
        );
        self.start(name);
    }

    /// The pod of a member, on its volume.
    pub fn start(&mut self, name: &str) {
        let (volume, home) = (self.volume(name), self.home.clone());
        self.start_with(name, &volume, &home);
    }

    pub fn start_with(&mut self, name: &str, volume: &Path, home: &Path) {
        let (address, api) = (address_of(name), self.api.url());
        let place = Place { name, address: &address, volume, home, api: &api };
        let pod = Pod::start(&place, self.scratch.path());
        assert!(self.pods.insert(name.into(), pod).is_none(), "{name} has a pod");
    }

    pub fn take(&mut self, name: &str) -> Pod {
        self.pods.remove(name).unwrap()
    }

    /// A permit for the pod and the volume that are there now; its nonce.
    pub fn permit(&mut self, name: &str, kind: &str, data: &str, peers: &[&str]) -> String {
        let nonce = self.nonce();
        let volume = self.wait_for(name, "the volume", |s| s["volume"]["volumeID"].is_string());
        let peer = |name: &&str| json!({ "serverID": id_of(name), "address": address_of(name) });
        let peers: Vec<Value> = peers.iter().map(peer).collect();
        let start = json!({
            "kind": kind, "nonce": nonce, "podUID": self.pod(name).uid,
            "volumeID": volume["volume"]["volumeID"], "reason": "a test", "attempt": 1,
            "peers": peers, "data": data,
        });
        self.spec(name, json!({ "start": start }));
        nonce
    }

    pub fn nonce(&mut self) -> String {
        self.nonces += 1;
        format!("n{}", self.nonces)
    }

    pub fn initialize(&mut self, name: &str) {
        let nonce = self.permit(name, "Initialize", "MustBeEmpty", &[]);
        self.is_member(name, &nonce);
    }

    /// Synchronized as an observer, then made to vote by the first of the others.
    pub fn join(&mut self, name: &str, there: &[&str]) {
        let nonce = self.permit(name, "Join", "MustBeEmpty", there);
        self.wait_for(name, "a quorum", |s| s["ensemble"]["mode"] == "Follower");
        let add = json!([{ "serverID": id_of(name), "address": address_of(name) }]);
        let done = self.reconfigure(there[0], add, json!([]));
        assert_eq!(done["answer"], "Made", "{done:#}");
        self.is_member(name, &nonce);
    }

    /// The permit is done; what is reported is recorded, as an operator does.
    fn is_member(&mut self, name: &str, nonce: &str) {
        let done = |s: &Value| s["permit"]["nonce"] == nonce && s["permit"]["state"] == "Done";
        self.wait_for(name, "a member", done);
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

    /// The ensemble as a member shows it after a fresh nonce.
    pub fn view(&mut self, name: &str) -> Value {
        let nonce = self.nonce();
        self.spec(name, json!({ "evidence": { "nonce": nonce } }));
        let answered = |s: &Value| s["evidence"]["nonce"] == nonce.as_str();
        self.wait_for(name, "an answer", answered)["evidence"]["ensemble"].clone()
    }

    /// IDs of those that vote, as this member sees it.
    pub fn voters(&mut self, name: &str) -> Vec<i64> {
        let view = self.view(name);
        let servers = view["servers"].as_array().cloned().unwrap_or_default();
        let votes = servers.iter().filter(|server| server["role"] == "Participant");
        votes.filter_map(|server| server["serverID"].as_i64()).collect()
    }

    /// Have a member change the configuration; what became of that.
    pub fn reconfigure(&mut self, by: &str, add: Value, remove: Value) -> Value {
        let version = self.view(by)["configVersion"].clone();
        self.reconfigure_version(by, &version, add, remove)
    }

    pub fn reconfigure_version(
        &mut self,
        by: &str,
        version: &Value,
        add: Value,
        remove: Value,
    ) -> Value {
        let id = self.nonce();
        let volume = self.api.status(by)["volume"]["volumeID"].clone();
        let operation = json!({
            "id": id, "volumeID": volume, "kind": "Reconfig",
            "reconfig": { "version": version, "add": add, "remove": remove },
        });
        self.spec(by, json!({ "operation": operation }));
        let ended = |s: &Value| {
            let operation = &s["operation"];
            operation["id"] == id.as_str() && operation["state"] != "Running"
        };
        self.wait_for(by, "the end of the change", ended)["operation"].clone()
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
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn waits_with(&self, name: &str, reason: &str) -> Value {
        self.wait_for(name, reason, |s| s["server"]["reason"] == reason)
    }

    /// Wait until a server serves clients that is in the configuration.
    pub fn serves(&self, name: &str) {
        let serves =
            |s: &Value| s["server"]["state"] == "Running" && s["ensemble"]["mode"].is_string();
        self.wait_for(name, "a server that serves", serves);
    }

    /// Write a node through a member, until it is acknowledged.
    pub fn write(&self, name: &str, path: &str, data: &str) {
        eventually(&format!("{name} takes {path}"), || {
            let made = Client::open(&address_of(name)).and_then(|mut c| c.create(path, data));
            made.is_ok_and(|made| made) || self.read(name, path).as_deref() == Some(data)
        });
    }

    /// What a member shows of a node, if it serves.
    pub fn read(&self, name: &str, path: &str) -> Option<String> {
        let read = Client::open(&address_of(name)).and_then(|mut client| client.read(path));
        read.ok().flatten()
    }

    /// Remove what is on a volume, as a disk that is replaced.
    pub fn wipe(&self, name: &str) {
        fs::remove_dir_all(self.volume(name)).unwrap();
    }
}

pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
