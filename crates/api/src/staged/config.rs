//! Configuration of a staged service: one complete text per pod.

use crate::rules::staged as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Bytes of one template at the most.
pub const LONGEST_TEMPLATE: usize = 64 * 1024;

/// Configuration of the pods. All texts are in one ConfigMap, which every pod
/// mounts whole; each pod finds its own by its key.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What identifies a pod in the keys. Immutable.
    #[serde(default)]
    pub key: ConfigKey,
    /// Where the ConfigMap is mounted in every container. Default `/configs`.
    #[serde(default = "default_mount_path")]
    #[schemars(length(min = 2, max = 255), regex(pattern = r"^(/[A-Za-z0-9._-]+)+$"))]
    pub mount_path: String,
    /// Values for the templates, as `parameters`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(schema_with = "free")]
    pub parameters: Map<String, Value>,
    /// The files of each pod.
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(validation = rules::files_are_unique())]
    pub files: Vec<File>,
}

pub(crate) fn default_mount_path() -> String {
    "/configs".to_string()
}

/// What identifies a pod of a StatefulSet in the keys of its ConfigMap.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ConfigKey {
    /// Its name.
    #[default]
    PodName,
    /// Its address, in which `-` stands for `:`.
    #[serde(rename = "PodIP")]
    PodIp,
}

/// A file of each pod.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Its name: the file is `<key>.<name>`. Default: none, the file is `<key>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(
        length(max = 63),
        regex(pattern = r"^([A-Za-z0-9_]([-._A-Za-z0-9]*[A-Za-z0-9_])?)?$")
    )]
    pub name: String,
    /// Jinja template of its text. Variables: `self`, `nodes`, `ports`, `parameters`, `component`, `dependencies`; in a NodeAgentGroup `gateway` and `profile` besides, but no `nodes`, and `self` as `config.key` allows. One that does not exist is an error.
    #[schemars(length(max = LONGEST_TEMPLATE))]
    pub template: String,
}

pub(crate) fn free(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 256,
        "x-kubernetes-preserve-unknown-fields": true
    })
}
