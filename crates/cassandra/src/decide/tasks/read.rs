//! A task as it is stored.

use palladion_api::conditions::{COMPLETE, FAILED};
use palladion_api::ids::Uid;
use palladion_api::task::{CassandraTaskSpec, CassandraTaskStatus, TaskKind, TaskPhase};
use palladion_plan::Object;
use serde::Deserialize;
use serde_json::Value;

/// Has it ended? Asked of every task at each decision, so one that has ended is
/// not parsed.
pub fn is_over(object: &Object) -> bool {
    let conditions = object.at("/status/conditions").and_then(Value::as_array);
    let says = |c: &Value| (c["type"] == COMPLETE || c["type"] == FAILED) && c["status"] == "True";
    // In the version before `Failed`, the phase alone said it.
    let phase = object.at("/status/phase").and_then(|p| TaskPhase::deserialize(p).ok());
    conditions.into_iter().flatten().any(says) || phase.is_some_and(TaskPhase::is_final)
}

/// What kind of task it is, by the field of its spec.
pub fn kind(object: &Object) -> Option<TaskKind> {
    let spec = object.at("/spec")?;
    TaskKind::ALL.iter().copied().find(|kind| spec[kind.field()].is_object())
}

/// A task as it is stored.
pub struct Task<'a> {
    /// The stored object.
    pub object: &'a Object,
    /// What is wanted.
    pub spec: CassandraTaskSpec,
    /// How it went so far.
    pub status: CassandraTaskStatus,
}

impl<'a> Task<'a> {
    /// Read it; `None` for one of another version of this kind.
    pub fn read(object: &'a Object) -> Option<Self> {
        let part = |field: &str| object.body.get(field).cloned().unwrap_or(Value::Null);
        let status: Option<CassandraTaskStatus> = serde_json::from_value(part("status")).ok()?;
        Some(Self {
            object,
            spec: serde_json::from_value(part("spec")).ok()?,
            status: status.unwrap_or_default(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.object.meta.name
    }

    /// Its uid: another task of the same name is another task.
    pub fn uid(&self) -> &Uid {
        &self.object.meta.uid
    }
}
