//! A `CassandraTask`, as far as it is shown.

use super::condition::{Condition, conditions};
use super::{text, time};
use jiff::Timestamp;
use palladion_api::conditions::COMPLETE;
use palladion_api::task::TaskKind;
use serde::Serialize;
use serde_json::{Value, json};

/// Fields of a task's spec that every kind of task has; the one that is left
/// is its body.
const COMMON: [&str; 9] = [
    "cluster",
    "members",
    "racks",
    "onFailure",
    "whenDown",
    "memberDeadlineSeconds",
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
    "abort",
];

/// State of a member, and of a keyspace, that is done.
const SUCCEEDED: &str = "Succeeded";

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Its ring.
    pub ring: String,
    /// What it does: the name of its body.
    pub kind: String,
    /// The member that it is about, where there is one.
    pub member: String,
    /// Its place in the queue of its ring, while it waits.
    pub position: Option<u64>,
    /// How far it is, for example `41%`.
    pub progress: String,
    /// Its phase; empty until the operator has seen it.
    pub phase: String,
    /// For people: the message of `Complete`.
    pub message: String,
    /// Is it asked to abort?
    pub abort: bool,
    /// How each of its members goes, in the order of the task.
    pub members: Vec<Member>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

/// What a task does on one member.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its name.
    pub name: String,
    /// How it goes: `Waiting`, `Running`, `Succeeded`, `Failed`, `Skipped`, `Interrupted` or
    /// what a newer operator says.
    pub state: String,
    /// Why, in one word; empty where the operator has given none.
    pub reason: String,
    /// Details; empty where there are none.
    pub message: String,
    /// Keyspaces that did not succeed, or of which there is something to say.
    pub keyspaces: Vec<Keyspace>,
}

/// What a task did not do of a keyspace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Keyspace {
    /// Its name.
    pub name: String,
    /// `Failed`, `Aborted`, `Interrupted` or what a newer agent says.
    pub state: String,
    /// Details; empty where there are none.
    pub message: String,
}

impl Keyspace {
    fn read(result: &Value) -> Self {
        let [name, state, message] = ["/name", "/state", "/message"].map(|at| text(result, at));
        Self { name, state, message }
    }
}

impl Member {
    fn read(entry: &Value) -> Self {
        let keyspaces = entry["keyspaces"].as_array().into_iter().flatten();
        let all = keyspaces.map(Keyspace::read);
        Self {
            name: text(entry, "/name"),
            state: text(entry, "/state"),
            reason: text(entry, "/reason"),
            message: text(entry, "/message"),
            keyspaces: all.filter(|k| k.state != SUCCEEDED || !k.message.is_empty()).collect(),
        }
    }

    /// Has it done its part?
    pub fn is_done(&self) -> bool {
        self.state == SUCCEEDED
    }
}

impl Task {
    /// Read the object.
    pub fn read(object: &Value) -> Self {
        let conditions = conditions(object);
        let complete = conditions.iter().find(|c: &&Condition| c.type_ == COMPLETE);
        let members = object.pointer("/status/members").and_then(Value::as_array);
        let spec = object["spec"].as_object();
        let body = spec
            .into_iter()
            .flatten()
            .find(|(key, value)| !COMMON.contains(&key.as_str()) && value.is_object());
        Self {
            namespace: text(object, "/metadata/namespace"),
            name: text(object, "/metadata/name"),
            ring: text(object, "/spec/cluster"),
            kind: body.map(|(key, _)| key.clone()).unwrap_or_default(),
            member: body.map(|(_, body)| text(body, "/member")).unwrap_or_default(),
            position: object.pointer("/status/position").and_then(Value::as_u64),
            progress: text(object, "/status/progress"),
            phase: text(object, "/status/phase"),
            message: complete.map(|c| c.message.clone()).unwrap_or_default(),
            abort: object.pointer("/spec/abort").and_then(Value::as_bool).unwrap_or(false),
            members: members.into_iter().flatten().map(Member::read).collect(),
            created: time(object, "/metadata/creationTimestamp"),
            ended: time(object, "/status/endedAt"),
        }
    }

    /// What it does, as the status of its ring and `kubectl get` have it.
    pub fn shown_kind(&self) -> String {
        let known = TaskKind::ALL.iter().find(|kind| kind.field() == self.kind);
        known.map_or_else(|| self.kind.clone(), |kind| text(&json!({ "kind": kind }), "/kind"))
    }

    /// Oldest first.
    pub fn order(&self) -> (Option<Timestamp>, String, String) {
        (self.created, self.namespace.clone(), self.name.clone())
    }

    /// Has it ended? A phase that this version does not know is an end if the
    /// operator has written when.
    pub fn has_ended(&self) -> bool {
        match self.phase.as_str() {
            "" | "Running" | "Waiting" => false,
            "Done" | "Partial" | "Refused" | "Aborted" | "Failed" => true,
            _ => self.ended.is_some(),
        }
    }

    /// Has it done all that it was for?
    pub fn is_done(&self) -> bool {
        self.phase == "Done"
    }
}
