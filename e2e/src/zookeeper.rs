//! A `ZookeeperCluster` under test: its manifest, its state, and a client of its own that
//! shares nothing with the agent.

#![expect(clippy::missing_panics_doc, reason = "test helpers: a panic is a failed test")]

mod client;
mod writing;

pub use client::{Client, Created};
pub use writing::{Writing, Written};

use std::net::SocketAddrV4;

use anyhow::{Context, Result};
use palladion_api::labels;
use serde_json::{Value, json};

use crate::bed::{bed, condition};
pub use crate::service::PATIENCE;
use crate::service::{Service, apart};

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
        ensemble.service().create(&ensemble.manifest(servers, lines));
        ensemble.wait_servers(servers);
        ensemble
    }

    /// Form one whose servers are each on a node of its own.
    pub fn form_apart(name: &'static str, servers: u32) -> Self {
        Self::form(name, servers, &[&apart(labels::ZOOKEEPER, name)])
    }

    /// Ask for so many servers.
    pub fn set_servers(&self, servers: u32) {
        self.service().patch_spec(&json!({ "servers": servers }));
    }

    /// Wait until so many servers, and no others, are voters and ready, and nothing is left
    /// to be done.
    pub fn wait_servers(&self, servers: u32) -> Value {
        let count = format!("{servers}/{servers}");
        self.service().wait(&format!("{servers} servers"), |o| {
            let status = &o["status"];
            status["servers"] == count.as_str()
                && status["ensemble"].as_array().map(Vec::len) == usize::try_from(servers).ok()
                && status["turn"].is_null()
                && condition(o, "Progressing")["reason"] == "UpToDate"
                && status["observedGeneration"] == o["metadata"]["generation"]
        })
    }

    /// See to it that one of those leads that leave when so many stay; its name. Each election
    /// costs the leader its pod.
    pub fn let_a_leaver_lead(&self, servers: u32, stay: u32) -> String {
        let leads = || self.service().status()["leader"].as_str().expect("a leader").to_string();
        let stays: Vec<String> = (0..stay).map(|n| self.service().member_name(n)).collect();
        // The highest ID is elected among those that know as much, and leaves first. Ended once,
        // another leads; whoever stays must not lead.
        let mut elections = 0;
        while elections == 0 || stays.contains(&leads()) {
            assert!(elections < 5, "one of {stays:?} is elected again and again");
            let leader = leads();
            let delete = format!("delete pod {leader} -n {} --wait=false", self.name);
            bed().kubectl(&delete).expect("deleted");
            self.service().wait("another leader", |o| {
                o["status"]["leader"].as_str().is_some_and(|now| now != leader)
            });
            self.wait_servers(servers);
            elections += 1;
        }
        let leader = leads();
        assert!(!stays.contains(&leader), "the leader is among those that leave");
        println!("{leader} leads, and all but {stays:?} leave");
        leader
    }

    /// Server IDs of those that vote.
    pub fn voters(&self) -> Vec<i64> {
        let status = self.service().status();
        let servers = status["ensemble"].as_array().into_iter().flatten();
        servers.filter(|s| s["role"] == "Participant").filter_map(|s| s["id"].as_i64()).collect()
    }

    /// The configuration as each member of record has it, read in a session.
    ///
    /// # Errors
    /// One of them does not serve.
    pub fn configurations(&self) -> Result<Vec<String>> {
        let read = |address| {
            let port = bed().cluster.forward(address)?;
            let mut client = Client::open(port).with_context(|| format!("asking {address}"))?;
            let configuration = client.data("/zookeeper/config");
            client.close();
            // Servers list the same ones in orders of their own.
            let mut lines: Vec<String> = configuration?.lines().map(str::to_string).collect();
            lines.sort();
            Ok(lines.join("\n"))
        };
        self.addresses().into_iter().map(read).collect()
    }

    /// Where clients reach the members of record.
    pub fn addresses(&self) -> Vec<SocketAddrV4> {
        self.service().addresses("client")
    }

    /// Everything on the volume of a member is gone.
    pub fn wipe(&self, ordinal: u32) {
        self.service().wipe(ordinal, "/palladion");
    }

    /// What it has like clusters of other services.
    pub fn service(&self) -> Service {
        Service { kind: "zookeepercluster", infix: "zk", name: self.name, patience: PATIENCE }
    }
}
