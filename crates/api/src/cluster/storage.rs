//! Volumes of the members of a rack.

use crate::rules::claims;
use k8s_openapi::api::core::v1::PersistentVolumeClaimSpec;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Volumes of each member.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// Template of the PersistentVolumeClaim for the data, as in a StatefulSet. One entry; the access mode is ReadWriteOnce.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = claims::one_claim())]
    #[schemars(length(max = 4))]
    pub volume_claim_templates: Vec<ClaimTemplate>,
}

/// A volume claim template.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ClaimTemplate {
    /// Name and labels of the PersistentVolumeClaim.
    #[serde(default)]
    pub metadata: ClaimMetadata,
    /// Spec of the PersistentVolumeClaim.
    #[x_kube(validation = claims::claim_is_for_one_member(), validation = claims::claim_is_a_file_system())]
    pub spec: PersistentVolumeClaimSpec,
}

/// Name and labels of a PersistentVolumeClaim.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = claims::claim_name_is_free(), validation = claims::claim_labels_are_not_ours())]
#[serde(rename_all = "camelCase")]
pub struct ClaimMetadata {
    /// Name of the claim template. Default `data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: Option<String>,
    /// Labels of the PersistentVolumeClaims.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "claim_labels")]
    pub labels: BTreeMap<String, String>,
}

/// A claim with another label is created by nobody, and an event alone says so.
fn claim_labels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    crate::crd::label_values(32)
}
