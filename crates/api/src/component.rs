//! `Component`: a service that starts when the services that it needs are there,
//! with a configuration for each of its pods that follows them.

pub mod names;
pub mod readiness;
pub mod status;

pub use readiness::{HttpReadiness, ProbeHost, Readiness};
pub use status::{ComponentStatus, PendingChange};

use crate::rules::component as rules;
use crate::staged::template::{claims, pod_template};
use crate::staged::{Config, Dependency, Network, Reload};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A service whose pods start when the services that they need are there.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "Component",
    namespaced,
    status = "ComponentStatus",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.pods"),
    printcolumn(name = "Active", type_ = "boolean", json_path = ".status.service.active"),
    printcolumn(name = "Layer", type_ = "integer", json_path = ".status.layer"),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].reason"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Progressing')].message",
        priority = 1
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::addresses_are_fixed(),
    validation = rules::config_key_is_fixed(),
    validation = rules::services_need_ports(),
    validation = rules::restart_keeps_addresses(),
    validation = rules::signal_is_complete(),
    validation = rules::signal_is_about_config(),
    validation = rules::signal_is_for_a_container(),
    validation = rules::probed_container_exists(),
    validation = rules::probed_container_has_no_probe()
)]
#[serde(rename_all = "camelCase")]
pub struct ComponentSpec {
    /// Number of pods. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    pub replicas: i32,
    /// The pod template, as in a StatefulSet. All fields are passed through; the operator adds the gate, the configuration and the readiness probe.
    #[schemars(schema_with = "pod_template")]
    #[x_kube(
        validation = crate::rules::staged::containers_are_not_ours(),
        validation = crate::rules::staged::volumes_are_not_ours(),
        validation = crate::rules::staged::no_host_network()
    )]
    pub template: Value,
    /// PersistentVolumeClaims of each pod, as in a StatefulSet. Each must say its `accessModes` and how much storage it requests. Immutable once the pods were created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "claims")]
    #[x_kube(
        validation = crate::rules::staged::claims_are_not_ours(),
        validation = crate::rules::staged::claims_are_unique()
    )]
    pub volume_claim_templates: Vec<Value>,
    /// Seconds for which a pod must be ready before the next one is restarted. Default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3600))]
    pub min_ready_seconds: i32,
    /// Addresses and ports.
    #[serde(default)]
    pub network: Network,
    /// Services that must be there before the pods start. A pod that runs is not stopped for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(
        validation = crate::rules::staged::dependencies_are_unique(),
        validation = crate::rules::staged::aliases_are_unique()
    )]
    pub depends_on: Vec<Dependency>,
    /// Configuration of the pods. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Config>,
    /// How a change of the configuration reaches running pods.
    #[serde(default)]
    pub reload: Reload,
    /// When a pod is ready. Default: when its containers are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness: Option<Readiness>,
    /// While true, the operator writes only the status of this object: pods that wait at their gate go on waiting. Default false.
    #[serde(default)]
    pub paused: bool,
}

fn one() -> i32 {
    1
}
