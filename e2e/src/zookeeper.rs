//! A `ZookeeperCluster` under test: its manifest, its state, and a client of its own that
//! shares nothing with the agent.

#![expect(clippy::missing_panics_doc, reason = "test helpers: a panic is a failed test")]

mod client;
mod writing;

pub use client::Client;
pub use writing::{Writing, Written};

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::bed::{bed, condition, text, wait_for};

/// Servers are started, or leave, one after the other.
pub const PATIENCE: Duration = Duration::from_secs(180);
/// The version that ensembles under test have.
pub const VERSION: &str = "3.9.3";
/// One of the line before it.
pub const OLDER_VERSION: &str = "3.8.4";

/// An example that the documentation shows.
pub fn example(name: &str) -> String {
    let path = format!("{}/../examples/zookeeper/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("reading {path}: {e}"))
}

/// An ensemble in a namespace of its own, of the same name.
#[derive(Clone, Copy, Debug)]
pub struct Ensemble {
    /// Its namespace and its name.
    pub name: &'static str,
}

impl Ensemble {
    /// A manifest of so many small servers, with more lines of the spec.
    pub fn manifest(&self, servers: u32, lines: &[&str]) -> String {
        let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        format!(
            "apiVersion: palladion.dev/v1alpha1
kind: ZookeeperCluster
metadata:
  name: {}
spec:
{lines}  servers: {servers}
  repository: palladion.dev/zookeeper
  version: {VERSION}
  heapSize: 128Mi
  jvmOptions: [-XX:+UseSerialGC, -XX:TieredStopAtLevel=1]
  terminationGracePeriodSeconds: 20
  resources:
    requests: {{cpu: 50m, memory: 256Mi}}
    limits: {{memory: 512Mi}}
",
            self.name
        )
    }

    /// Form one of so many servers in a fresh namespace.
    pub fn form(name: &'static str, servers: u32, lines: &[&str]) -> Self {
        let ensemble = Self { name };
        bed().fresh_namespace(name).expect("a namespace");
        bed().apply(name, &ensemble.manifest(servers, lines)).expect("accepted");
        ensemble.wait_servers(servers);
        ensemble
    }

    /// The object.
    pub fn owner(&self) -> Result<Value> {
        bed().get(self.name, "zookeepercluster", self.name)?.context("the object is gone")
    }

    /// Its status.
    pub fn status(&self) -> Value {
        self.owner().expect("the object")["status"].take()
    }

    /// Ask for so many servers.
    pub fn set_servers(&self, servers: u32) {
        let patch = json!({ "spec": { "servers": servers } });
        bed().patch(self.name, "zookeepercluster", self.name, &patch).expect("patch");
    }

    /// Wait until so many servers, and no others, are voters and ready, and nothing is left
    /// to be done.
    pub fn wait_servers(&self, servers: u32) -> Value {
        let count = format!("{servers}/{servers}");
        self.wait(&format!("{servers} servers"), |o| {
            let status = &o["status"];
            status["servers"] == count.as_str()
                && status["ensemble"].as_array().map(Vec::len) == usize::try_from(servers).ok()
                && status["turn"].is_null()
                && condition(o, "Progressing")["reason"] == "UpToDate"
                && status["observedGeneration"] == o["metadata"]["generation"]
        })
    }

    /// Wait for something of the object, which is returned.
    pub fn wait(&self, what: &str, test: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let found = wait_for(what, PATIENCE, || {
            last = self.owner()?;
            Ok(test(&last).then(|| last.clone()))
        });
        found.unwrap_or_else(|e| panic!("{e:#}; status: {:#}", last["status"]))
    }

    /// A member.
    pub fn member(&self, ordinal: u32) -> Value {
        let name = self.member_name(ordinal);
        let member = bed().get(self.name, "servicemember", &name).expect("get");
        member.unwrap_or_else(|| panic!("there is no member {name}"))
    }

    /// The name of a member and of its pod.
    pub fn member_name(&self, ordinal: u32) -> String {
        format!("{}-zk-{ordinal}", self.name)
    }

    /// Server IDs of those that vote.
    pub fn voters(&self) -> Vec<i64> {
        let status = self.status();
        let servers = status["ensemble"].as_array().into_iter().flatten();
        servers.filter(|s| s["role"] == "Participant").filter_map(|s| s["id"].as_i64()).collect()
    }

    /// Where clients reach the members of record, by what the status says to dependents.
    pub fn addresses(&self) -> Vec<SocketAddrV4> {
        let status = self.status();
        let port = status["service"]["ports"]["client"].as_u64().expect("a port");
        let nodes = status["service"]["nodes"].as_array().cloned().unwrap_or_default();
        let address = |node: &Value| {
            let address = format!("{}:{port}", text(node, "/address"));
            address.parse().unwrap_or_else(|e| panic!("{address}: {e}"))
        };
        nodes.iter().map(address).collect()
    }

    /// Uids of the pods by name.
    pub fn pods(&self) -> BTreeMap<String, String> {
        let pods = bed().list(self.name, "pods").expect("list pods");
        let both = |p: &Value| {
            (text(p, "/metadata/name").to_string(), text(p, "/metadata/uid").to_string())
        };
        pods.iter().map(both).collect()
    }

    /// Everything on the volume of a member is gone, marker and ledger too, and its pod ends.
    pub fn wipe(&self, ordinal: u32) {
        let pod = self.member_name(ordinal);
        let wipe = "find /palladion -mindepth 1 -delete 2>/dev/null; ls -A /palladion/data /palladion/datalog 2>/dev/null; true";
        let left = bed().exec(self.name, &pod, &["sh", "-c", wipe]).expect("wipe");
        println!("left on the volume of {pod}: {:?}", left.trim());
        let words = format!("delete pod {pod} -n {} --wait=false --grace-period=1", self.name);
        bed().kubectl(&words).expect("delete");
    }

    /// Remove the namespace, without waiting for it: the next test has its own.
    pub fn end(self) {
        let words = format!("delete namespace {} --wait=false", self.name);
        bed().kubectl(&words).expect("clean up");
    }
}
