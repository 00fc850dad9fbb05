//! The audit log of a ring's servers.

use crate::rules::audit as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Most keyspaces that are left out.
const MOST_KEYSPACES: usize = 256;

/// What servers log of what their clients do. Each entry is a line of JSON in the log of the container `cassandra`: `{"time": …, "audit": "user:…|host:…|source:…|…|operation:…"}`. Values that are bound to prepared statements are not logged, and passwords are masked.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Audit {
    /// Categories that are logged. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::categories_are_unique())]
    #[schemars(length(min = 1, max = 8))]
    pub categories: Vec<AuditCategory>,
    /// Keyspaces of which nothing is logged, in addition to `system`, `system_schema` and `system_virtual_schema`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::keyspaces_are_names())]
    #[schemars(length(max = MOST_KEYSPACES), inner(length(max = 48)))]
    pub excluded_keyspaces: Vec<String>,
}

/// A category of audit log entries, by Cassandra's name of it (`AuditLogEntryCategory`).
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum AuditCategory {
    /// SELECT.
    Query,
    /// INSERT, UPDATE, DELETE, BATCH.
    Dml,
    /// CREATE, ALTER and DROP of keyspaces, tables and what belongs to them; TRUNCATE.
    Ddl,
    /// Roles and permissions.
    Dcl,
    /// USE and others.
    Other,
    /// Log-ins, successful or not.
    Auth,
    /// Requests that failed.
    Error,
    /// PREPARE.
    Prepare,
}

impl AuditCategory {
    /// As Cassandra writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "QUERY",
            Self::Dml => "DML",
            Self::Ddl => "DDL",
            Self::Dcl => "DCL",
            Self::Other => "OTHER",
            Self::Auth => "AUTH",
            Self::Error => "ERROR",
            Self::Prepare => "PREPARE",
        }
    }
}

/// Is it a name that a keyspace can have?
pub fn is_keyspace(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=48).contains(&name.len()) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_written_as_the_manifest_has_it() {
        for name in ["QUERY", "DML", "DDL", "DCL", "OTHER", "AUTH", "ERROR", "PREPARE"] {
            let read: AuditCategory = serde_json::from_value(name.into()).expect("a category");
            assert_eq!(read.as_str(), name);
        }
    }

    #[test]
    fn names_of_keyspaces_bring_no_other_list() {
        assert!(is_keyspace("shop_2") && is_keyspace("Shop"));
        for name in ["", "a,b", "a b", "a-b", &"a".repeat(49)] {
            assert!(!is_keyspace(name), "{name}");
        }
    }
}
