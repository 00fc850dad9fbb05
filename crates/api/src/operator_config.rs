//! `OperatorConfig`: settings of the operator; one object, `default`.

use crate::rules::operator_config as rules;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most endpoints of one etcd.
pub const MOST_ENDPOINTS: usize = 16;
/// Most namespaces that are mapped to a group.
pub const MOST_GROUPS: usize = 256;

/// Settings of the operator. Only the object named `default` is read.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "OperatorConfig",
    shortname = "opcfg",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct OperatorConfigSpec {
    /// While true, the operator writes only the status of its objects, and which members are away and need a repair for it. Default false.
    #[serde(default)]
    pub paused: bool,
    /// Image of the agent for clusters that name none; pods that run keep theirs until they are replaced for another reason. Default: the image released with this operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub agent_image: Option<String>,
    /// The lock by which the operators of several regions take turns at a ring that they share. Used by clusters with `ring.lock: Region`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region_lock: Option<RegionLock>,
    /// How many objects the operator reconciles side by side at most; one that waits keeps no place. While the API server cannot keep up it does fewer. Default 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: Option<u32>,
    /// After how many seconds an object at rest is reconciled again although nothing has changed. 0, the default: never, since every change is seen when it happens.
    #[serde(default)]
    #[schemars(range(max = 86400))]
    pub look_again_seconds: u32,
}

/// Where the lock between regions is kept. Exactly one of `etcd` and `lease`. Credentials are in the Secret that the chart's `regionLock.secretName` names.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::one_store())]
#[serde(rename_all = "camelCase")]
pub struct RegionLock {
    /// After how many seconds without renewal the lock is free for another region: the operator renews it every 15 seconds. The same in all regions. Default 60.
    #[serde(default = "ttl")]
    #[schemars(range(min = 60, max = 3600))]
    pub ttl_seconds: u32,
    /// Namespaces whose rings are those of other regions under another name of namespace: each is mapped to a group, and the lock is that of group and `ringName`. Default: the namespace is the group.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = rules::groups_are_names())]
    #[schemars(
        extend("maxProperties" = MOST_GROUPS),
        extend("additionalProperties" = {"type": "string", "maxLength": 63})
    )]
    pub groups: BTreeMap<String, String>,
    /// An etcd of version 3.4 or later that all regions reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etcd: Option<EtcdLock>,
    /// A Kubernetes cluster that all regions reach, with a Lease for each ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseLock>,
}

fn ttl() -> u32 {
    60
}

/// An etcd.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct EtcdLock {
    /// Its endpoints, for example `https://etcd-0.example.com:2379`; the first that answers is used. Over `http` no password is sent.
    #[x_kube(validation = rules::endpoints_are_urls())]
    #[schemars(length(min = 1, max = MOST_ENDPOINTS), inner(length(max = 253)))]
    pub endpoints: Vec<String>,
}

/// Leases in another Kubernetes cluster.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LeaseLock {
    /// Namespace of the Leases. The operator needs `get`, `create` and `update` on `leases` there.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
}
