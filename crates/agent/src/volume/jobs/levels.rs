//! Levels of loggers that a job has set for some time.

use palladion_api::runtime::LogLevel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Loggers that get their level back.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Levels {
    /// Tag of the launch of the server that was told.
    pub tag: String,
    /// When, in seconds since 1970.
    pub until: i64,
    /// What each logger had; none: it followed the logger above it.
    pub before: BTreeMap<String, Option<LogLevel>>,
}
