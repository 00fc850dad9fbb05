//! A `RabbitmqCluster` under test: its manifest, its state, and a client of its own that
//! shares nothing with the agent.

#![expect(clippy::missing_panics_doc, reason = "test helpers: a panic is a failed test")]

mod client;
mod publishing;
mod replicas;

pub use client::Client;
pub use publishing::{Published, Publishing};

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use palladion_api::labels;
use serde_json::{Value, json};

use crate::bed::{bed, condition};
use crate::service::{Service, apart};

/// A node boots for half a minute on a machine that does more than this, and each call of
/// its command line takes a second of a processor.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// The version that clusters under test have.
pub const VERSION: &str = "3.10.8";

/// An example that the documentation shows.
pub fn example(name: &str) -> String {
    let path = format!("{}/../examples/rabbitmq/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("reading {path}: {e}"))
}

/// A user of a cluster.
#[derive(Clone, Debug)]
pub struct User {
    name: String,
    password: String,
}

impl User {
    /// Name and password.
    pub fn login(&self) -> (&str, &str) {
        (&self.name, &self.password)
    }
}

/// A cluster in a namespace of its own, of the same name.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// Its namespace and its name.
    pub name: &'static str,
}

impl Cluster {
    /// A manifest of so many small nodes, with more lines of the spec.
    pub fn manifest(&self, nodes: u32, lines: &[&str]) -> String {
        let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        format!(
            "apiVersion: palladion.dev/v1alpha1
kind: RabbitmqCluster
metadata:
  name: {}
spec:
{lines}  nodes: {nodes}
  repository: palladion.dev/rabbitmq
  version: {VERSION}
  terminationGracePeriodSeconds: 60
  resources:
    requests: {{cpu: 50m, memory: 512Mi}}
    limits: {{memory: 768Mi}}
",
            self.name
        )
    }

    /// Form one of so many nodes in a fresh namespace.
    pub fn form(name: &'static str, nodes: u32, lines: &[&str]) -> Self {
        let cluster = Self { name };
        cluster.service().create(&cluster.manifest(nodes, lines));
        cluster.wait_nodes(nodes);
        cluster
    }

    /// What it has like clusters of other services.
    pub fn service(&self) -> Service {
        Service { kind: "rabbitmqcluster", infix: "rmq", name: self.name, patience: PATIENCE }
    }

    /// Form one whose nodes are each on a machine of its own.
    pub fn form_apart(name: &'static str, nodes: u32) -> Self {
        Self::form(name, nodes, &[&apart(labels::RABBITMQ, name)])
    }

    /// Ask for so many nodes.
    pub fn set_nodes(&self, nodes: u32) {
        self.service().patch_spec(&json!({ "nodes": nodes }));
    }

    /// Wait until so many nodes, and no others, are members and ready, and nothing is left to
    /// be done.
    pub fn wait_nodes(&self, nodes: u32) -> Value {
        let count = format!("{nodes}/{nodes}");
        self.service().wait(&format!("{nodes} nodes"), |o| {
            let status = &o["status"];
            status["nodes"] == count.as_str()
                && status["cluster"].as_array().map(Vec::len) == usize::try_from(nodes).ok()
                && status["turn"].is_null()
                && condition(o, "Progressing")["reason"] == "UpToDate"
                && status["observedGeneration"] == o["metadata"]["generation"]
        })
    }

    /// The user of its Secret.
    ///
    /// # Errors
    /// There is no Secret, or it lacks them.
    pub fn user(&self) -> Result<User> {
        let secret = format!("{}-rmq", self.name);
        let read = |key: &str| {
            let template = format!("-o=go-template={{{{.data.{key} | base64decode}}}}");
            let words = ["get", "secret", &secret, "-n", self.name, &template];
            bed().cluster.kubectl_with_input(&words, "").context("reading the Secret")
        };
        Ok(User { name: read("username")?, password: read("password")? })
    }

    /// Where the members of record are reached from here.
    ///
    /// # Errors
    /// The testbed does not let one be reached.
    pub fn forwarded(&self) -> Result<Vec<SocketAddr>> {
        Ok(self.members_of_record()?.into_iter().map(|(_, address)| address).collect())
    }

    /// The members of record: their pods, and where they are reached from here.
    fn members_of_record(&self) -> Result<Vec<(String, SocketAddr)>> {
        let members = self.service().members_of_record("amqp");
        let here = |address| bed().cluster.forward(address).map(publishing::here);
        members.into_iter().map(|(name, address)| Ok((name, here(address)?))).collect()
    }

    /// A connection with the first member of record.
    pub fn client(&self) -> Client {
        let user = self.user().expect("the Secret");
        let nodes = self.forwarded().expect("forwarded");
        Client::open(nodes[0], user.login()).expect("a connection")
    }

    /// Call `rabbitmqctl` in the pod of a member; what it printed.
    pub fn ctl(&self, ordinal: u32, words: &[&str]) -> String {
        let command = [&["rabbitmqctl", "--quiet"], words].concat();
        bed().exec(self.name, &self.service().member_name(ordinal), &command).expect("rabbitmqctl")
    }
}
