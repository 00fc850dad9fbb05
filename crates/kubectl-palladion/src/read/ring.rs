//! A `CassandraCluster`, as far as it is shown.

use super::condition::{Condition, Wait, conditions, waits};
use super::health::{self, Health};
use super::{items, text, time};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ring {
    /// Namespace.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// `Cassandra` or `Scylla`.
    pub server: String,
    /// Version that the spec names.
    pub version: String,
    /// Name of the datacenter.
    pub datacenter: String,
    /// Names of the racks in the spec.
    pub racks: Vec<String>,
    /// Is it well?
    pub health: Health,
    /// Ready members out of all, for example `2/3`.
    pub members: String,
    /// Who has the turn.
    pub turn: Option<Turn>,
    /// The job that members work at, one after the other.
    pub job: Option<Job>,
    /// What the operator waits for, the most important first.
    pub waits: Vec<Wait>,
    /// All conditions.
    pub conditions: Vec<Condition>,
    /// Is it paused by its spec?
    pub paused: bool,
    /// Generation of the spec.
    pub generation: i64,
    /// Generation that the status describes.
    pub observed_generation: i64,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Do clients use TLS? As the spec has it, or what was settled where it says nothing.
    pub client_tls: String,
}

/// The ring's one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The member that has it.
    pub member: String,
    /// What it does in it.
    pub step: String,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// The job of a ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Who asked for it: `Task`.
    pub origin: String,
    /// The task that asked for it.
    pub task: String,
    /// Kind of the work.
    pub kind: String,
    /// The IDs of its members' jobs begin with it.
    pub nonce: String,
    /// Since when.
    pub since: Option<Timestamp>,
}

impl Ring {
    /// Read the object.
    pub fn read(object: &Value) -> Self {
        let conditions = conditions(object);
        let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
        let server = match text(object, "/spec/mode").as_str() {
            "scylla" => "Scylla",
            _ => "Cassandra",
        };
        Self {
            namespace: text(object, "/metadata/namespace"),
            name: text(object, "/metadata/name"),
            server: server.to_string(),
            version: text(object, "/spec/version"),
            datacenter: text(object, "/spec/datacenter/name"),
            racks: items(object, "/spec/datacenter/racks")
                .map(|r| text(r, "/name"))
                .chain(items(object, "/spec/datacenter/zones").map(|zone| text(zone, "")))
                .collect(),
            health: health::of(object, &conditions),
            members: text(object, "/status/members"),
            turn: object.pointer("/status/turn").filter(|t| t.is_object()).map(turn),
            job: object.pointer("/status/job").filter(|j| j.is_object()).map(job),
            waits: waits(object),
            paused: object.pointer("/spec/paused").and_then(Value::as_bool).unwrap_or(false),
            conditions,
            generation: number("/metadata/generation"),
            observed_generation: number("/status/observedGeneration"),
            created: time(object, "/metadata/creationTimestamp"),
            client_tls: match text(object, "/spec/tls/client/mode") {
                said if !said.is_empty() => said,
                _ => text(object, "/status/security/defaults/clientTls"),
            },
        }
    }

    /// The container of the server in a member's pod.
    pub fn container(&self) -> String {
        self.server.to_lowercase()
    }

    /// A condition.
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        self.conditions.iter().find(|c| c.type_ == type_)
    }

    /// Has the operator looked at the newest spec?
    pub fn is_observed(&self) -> bool {
        self.observed_generation >= self.generation
    }
}

fn turn(turn: &Value) -> Turn {
    Turn { member: text(turn, "/member"), step: text(turn, "/step"), since: time(turn, "/since") }
}

fn job(job: &Value) -> Job {
    Job {
        origin: text(job, "/origin"),
        task: text(job, "/task"),
        kind: text(job, "/kind"),
        nonce: text(job, "/nonce"),
        since: time(job, "/since"),
    }
}
