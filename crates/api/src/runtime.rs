//! Settings that a server takes while it runs: they travel from the cluster to
//! its members and restart nothing.

use crate::rules::cluster as rules;
use crate::word::Word;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of a running server. A setting that is removed returns to the value
/// that the server was started with.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSettings {
    /// Compaction throughput in MiB/s; 0 means no limit. Default: `compaction_throughput` of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_048_576))]
    pub compaction_throughput: Option<u32>,
    /// Stream throughput in MiB/s, including streams of entire SSTables; 0 means no limit. Default: `stream_throughput_outbound` of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2047))]
    pub stream_throughput: Option<u32>,
    /// Log level by logger, for example `org.apache.cassandra.gms: DEBUG`; the root logger is `ROOT`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = rules::loggers_have_names())]
    #[schemars(extend("maxProperties" = 32))]
    pub log_levels: BTreeMap<String, LogLevel>,
}

/// Level of a logger.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum LogLevel {
    /// Everything.
    Trace,
    /// Details for debugging.
    Debug,
    /// Normal events.
    Info,
    /// Possible problems.
    Warn,
    /// Errors.
    Error,
    /// Nothing.
    Off,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

impl LogLevel {
    /// As servers spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
            Self::Off => "OFF",
            Self::Unknown(word) => word.as_str(),
        }
    }

    /// The word that this build does not know, if it is one.
    pub fn unknown(self) -> Option<Word> {
        match self {
            Self::Trace | Self::Debug | Self::Info | Self::Warn | Self::Error | Self::Off => None,
            Self::Unknown(word) => Some(word),
        }
    }

    /// From a server's spelling.
    pub fn from_server(text: &str) -> Option<Self> {
        [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Off]
            .into_iter()
            .find(|level| level.as_str() == text)
    }
}

impl RuntimeSettings {
    /// Is nothing set?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
