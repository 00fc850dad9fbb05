//! A task as it is stored.

use palladion_api::task::{CassandraTaskSpec, CassandraTaskStatus};
use palladion_plan::Object;
use serde_json::Value;

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
}
