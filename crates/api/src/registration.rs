//! `Registration`: registers the pods of services with another one, by calls to
//! its API. The pods themselves never call it.

pub mod call;
pub mod status;

pub use call::{Call, Method};
pub use status::{CallKind, Cause, Entry, EntryState, OpenCall, RegistrationStatus};

use crate::names::{LABEL, SUBDOMAIN};
use crate::rules::registration as rules;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// Registers the pods of services with another service, by calls to its API.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "Registration",
    namespaced,
    status = "RegistrationStatus",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Registered", type_ = "string", json_path = ".status.registered"),
    printcolumn(name = "Target", type_ = "string", json_path = ".spec.target.component"),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].reason"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::capture_needs_lookup(),
    validation = rules::resync_needs_lookup(),
    validation = rules::deregister_keeps_nothing(),
    validation = rules::not_found_is_no_yes(),
    validation = rules::target_is_not_selected(),
    validation = rules::target_is_fixed()
)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationSpec {
    /// The service that is called.
    pub target: Target,
    /// The services whose pods are registered.
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(validation = rules::selected_once())]
    pub select: Vec<Selected>,
    /// The call that registers a pod. By default 200, 201, 204 and 409 are good answers. Without `lookup` it must do no harm when it is repeated: it is, when an answer was lost.
    pub register: Call,
    /// The call that takes a pod out. By default 200, 201, 204 and 404 are good answers, of which nothing is kept.
    pub deregister: Call,
    /// The call that asks for a pod. By default 200 means that it is registered; 404 always means that it is not. Each pod is asked for before it is registered, and again when an answer was lost, so that none is registered twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<Call>,
    /// Seconds after which a pod that is no longer on record is taken out. Default 60.
    #[serde(default = "a_minute")]
    #[schemars(range(min = 0, max = 86400))]
    pub removed_after_seconds: i32,
    /// Seconds after which each pod is asked for again by `lookup`; 0: never. Default 600 with `lookup`, otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub resync_seconds: Option<i32>,
    /// Credentials for the calls. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Calls over TLS. Default: without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// While true, the operator writes only the status of this object and calls nobody. Default false.
    #[serde(default)]
    pub paused: bool,
}

fn a_minute() -> i32 {
    60
}

impl RegistrationSpec {
    /// Seconds after which each pod is asked for again; 0 = never.
    pub fn resync(&self) -> i32 {
        let default = if self.lookup.is_some() { 600 } else { 0 };
        self.resync_seconds.unwrap_or(default)
    }
}

/// The service that is called.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Name of a Component of this namespace.
    #[schemars(length(min = 1, max = 63), regex(pattern = LABEL))]
    pub component: String,
    /// Name of one of its ports.
    #[schemars(length(min = 1, max = 15), regex(pattern = LABEL))]
    pub port: String,
}

/// A service whose pods are registered.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Selected {
    /// Its kind.
    pub kind: SelectedKind,
    /// Its name, in this namespace.
    #[schemars(length(min = 1, max = 63), regex(pattern = LABEL))]
    pub name: String,
}

/// Kinds whose pods can be registered.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum SelectedKind {
    /// A staged service: its members on record.
    Component,
    /// Node agents: the nodes that they run on.
    NodeAgentGroup,
}

/// Credentials for the calls.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// A Secret with the keys `username` and `password`, or `token`. The operator needs the right to read it by name.
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN))]
    pub secret_name: String,
}

/// Calls over TLS.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// A ConfigMap with the key `ca.crt`: who may have signed the certificate of the target.
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN))]
    pub ca_config_map_name: String,
}
