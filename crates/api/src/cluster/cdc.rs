//! Change data capture of a ring's servers.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::{Deserialize, Serialize};

/// Bytes that `totalSpace` has where it is left out: 4 GiB, as Cassandra's own limit.
pub const DEFAULT_CDC_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Change data capture: each member keeps the segments of its commit log that have writes to tables with `cdc = true`, until a reader deletes them. A reader is a sidecar with `cdc: ReadWrite`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cdc {
    /// Whether segments are kept. A change restarts the members, one after the other. Default `Off`.
    #[serde(default)]
    pub mode: CdcMode,
    /// How much of each member's volume may be used: at least four segments of the commit log (32Mi each by default), and at most half of the volume. A change is a rolling restart. Default `4Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::crd::quantity_text")]
    pub total_space: Option<Quantity>,
    /// What happens when it is used up. A change is a rolling restart. Default `Block`.
    #[serde(default)]
    pub on_full: CdcOnFull,
}

/// Whether segments are kept for a reader.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum CdcMode {
    /// They are not. What is in the directory stays there.
    #[default]
    Off,
    /// They are, of tables with `cdc = true`.
    On,
}

/// What happens when the space for segments is used up.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum CdcOnFull {
    /// Writes to tables with `cdc = true` fail until a reader has deleted segments.
    #[default]
    Block,
    /// The server deletes the oldest segments, whether they were read or not. Not for Cassandra 4.0.
    DropOldest,
}

/// What a sidecar has of the segments.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum SidecarCdc {
    /// Nothing.
    #[default]
    Off,
    /// Their directory at `/cdc`: it reads and deletes them, and writes none.
    ReadWrite,
}

impl SidecarCdc {
    /// As if it was left out?
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}
