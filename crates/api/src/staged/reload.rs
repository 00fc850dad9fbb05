//! How a change of the configuration reaches running pods.

use crate::rules::staged as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// How a configuration that has changed without a change of this object reaches
/// running pods: a dependency, or a pod of its own, has come or gone. A change
/// of the object itself restarts the pods whose configuration it changes.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Reload {
    /// What is done to pods whose configuration has changed. Default `Restart`.
    #[serde(default)]
    pub policy: ReloadPolicy,
    /// With `Signal`: the signal. Default `HUP`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// With `Signal`: name of the process that gets it, as in `/proc/<pid>/comm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 15))]
    #[x_kube(validation = rules::process_is_a_name())]
    pub process: Option<String>,
    /// With `Signal`: the container that the process runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub container: Option<String>,
}

impl Reload {
    /// The signal, or the default.
    pub fn signal(&self) -> Signal {
        self.signal.unwrap_or_default()
    }
}

/// What is done to pods whose configuration has changed.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ReloadPolicy {
    /// They are restarted, one after another.
    #[default]
    Restart,
    /// All pods stop, then all start again.
    Recreate,
    /// A process in them gets a signal; nothing is restarted.
    Signal,
}

/// A signal by which processes are asked to read their configuration again.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum Signal {
    /// SIGHUP.
    #[default]
    #[serde(rename = "HUP")]
    Hup,
    /// SIGUSR1.
    #[serde(rename = "USR1")]
    Usr1,
    /// SIGUSR2.
    #[serde(rename = "USR2")]
    Usr2,
}

impl Signal {
    /// As `kill` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Hup => "HUP",
            Signal::Usr1 => "USR1",
            Signal::Usr2 => "USR2",
        }
    }
}
