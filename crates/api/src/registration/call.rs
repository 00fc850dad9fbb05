//! A call to the API of a service, as a template.

use crate::rules::registration as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A call to the API of a service.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The method. Default `POST`.
    #[serde(default)]
    pub method: Method,
    /// Jinja template of the path. Variables: `pod` (`name`, `address`, `ip`, `node`), and in `deregister` `captured`, the values that `register` or `lookup` has kept.
    #[schemars(length(min = 1, max = 1024))]
    #[x_kube(validation = rules::path_is_absolute())]
    pub path: String,
    /// Jinja template of the body, which is sent as JSON. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub body: Option<String>,
    /// Status codes of good answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(range(min = 100, max = 599)))]
    pub accept: Vec<u16>,
    /// Values to keep of a good answer, by name: JSON pointers into its body. All values of one pod, with their names, may have 256 bytes; if there are more, the pod is not registered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "pointers")]
    pub capture: BTreeMap<String, String>,
}

/// A method of HTTP.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum Method {
    /// GET.
    #[serde(rename = "GET")]
    Get,
    /// POST.
    #[default]
    #[serde(rename = "POST")]
    Post,
    /// PUT.
    #[serde(rename = "PUT")]
    Put,
    /// PATCH.
    #[serde(rename = "PATCH")]
    Patch,
    /// DELETE.
    #[serde(rename = "DELETE")]
    Delete,
}

fn pointers(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 8,
        "additionalProperties": { "type": "string", "maxLength": 253, "pattern": "^(/([^~/]|~[01])*)+$" }
    })
}
