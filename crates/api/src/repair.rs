//! Repair that is due before deletions are forgotten: what a schedule covers,
//! as the operator gives it to members, and how each member stands.

use crate::rules::{repair as of_repair, task as rules};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Characters of a keyspace, a dot and a table at the most, as Cassandra limits their names.
pub const LONGEST_TABLE: usize = 271;

/// What is repaired, and how often.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// The keyspaces, with all their tables and materialized views. Default: all but the local ones (`system`, `system_schema`, virtual keyspaces).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 256), inner(length(min = 1, max = 48)))]
    #[x_kube(validation = rules::keyspaces_have_names())]
    pub keyspaces: Vec<String>,
    /// Tables that are left out, each as `keyspace.table`. Nothing is promised of deletions in them. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 256), inner(length(min = 3, max = 271)))]
    #[x_kube(validation = of_repair::left_out_tables_have_keyspaces())]
    pub exclude_tables: Vec<String>,
    /// Seconds after the start of the last repair of a range until it is due again. It is due after 60% of the `gc_grace_seconds` of a table in any case. Default: then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 315_360_000))]
    pub within_seconds: Option<u32>,
}

impl Coverage {
    /// Is this table covered?
    pub fn covers(&self, keyspace: &str, table: &str) -> bool {
        let is_left_out = |name: &String| name.split_once('.') == Some((keyspace, table));
        (self.keyspaces.is_empty() || self.keyspaces.iter().any(|k| k == keyspace))
            && !self.exclude_tables.iter().any(is_left_out)
    }
}

/// Whether a server has more to do than it gets done.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    /// It has.
    High,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Whether a server repairs by itself.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoRepair {
    /// It does.
    Enabled,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// How far the repair of a member's primary ranges is. Times change when something was repaired, or tables, ranges or the coverage have changed; not as time passes.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RepairStatus {
    /// When the next range is due. In the past: since when one has been. Absent if there is nothing to repair, as of keyspaces with one copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
    /// When the first range has used up 90% of the `gc_grace_seconds` of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_at: Option<Time>,
    /// When the first range has used up all of it: from then on rows that were deleted may come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_at: Option<Time>,
    /// Start of the oldest of the ranges' last repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_at: Option<Time>,
    /// Ranges, counted by keyspace, of which a part was never repaired.
    #[serde(default)]
    pub never_ranges: u32,
    /// All ranges, counted by keyspace.
    #[serde(default)]
    pub ranges: u32,
    /// Smallest `gc_grace_seconds` of the covered tables, of those with 600 and more. A member that was down for longer may bring deleted rows back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u32>,
    /// Tables whose `gc_grace_seconds` is below 600: they are repaired every seven days, and nothing is promised of deletions in them. At most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(max = LONGEST_TABLE)))]
    pub short_grace: Vec<String>,
    /// Whether the scheduler of Cassandra's own repair (`auto_repair`) is enabled in the server. What it repairs is not remembered here. Absent: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_repair: Option<AutoRepair>,
    /// Why the agent cannot read tables or ranges. What it knew before still counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}
