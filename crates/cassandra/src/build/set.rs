//! The StatefulSet of a rack, named as in Rook's Cassandra operator. OnDelete
//! and Parallel, because the operator decides when a pod is replaced and the
//! start gate when a server starts (ADR 3).

use super::common::{metadata, rack_labels, rack_selector};
use super::release::Rendered;
use crate::validate::{Valid, ValidRack};
use palladion_api::{labels, names};
use palladion_plan::{hash, workload};
use serde_json::{Map, Value, json};

/// Old templates to keep: enough to find the proven one again.
const REVISIONS_KEPT: i32 = 10;

/// The StatefulSet of a rack. `replicas` is always stated: leaving it out as
/// its only owner would reset it to 1.
pub fn stateful_set(valid: &Valid, rack: &ValidRack, replicas: i32, rendered: &Rendered) -> Value {
    let claims = claim_template(valid, rack);
    // Pods carry the hash of what they are made of and no more: a claim that
    // grows must not restart them.
    let mut template = rendered.template.clone();
    let of_all = hash::of(&json!([template, claims]));
    workload::stamp(&mut template, &rendered.hash);
    let mut meta = metadata(valid, &rack.set, &rack_labels(valid, rack));
    meta["annotations"] = json!(rack.annotations);
    meta["annotations"][labels::SPEC_HASH] = Value::from(of_all);
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": meta,
        "spec": {
            "replicas": replicas,
            "serviceName": names::client_service(&valid.name),
            "podManagementPolicy": "Parallel",
            "updateStrategy": { "type": "OnDelete" },
            "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Retain" },
            "revisionHistoryLimit": REVISIONS_KEPT,
            "selector": { "matchLabels": rack_selector(valid, rack) },
            "template": template,
            "volumeClaimTemplates": [claims],
        },
    })
}

fn claim_template(valid: &Valid, rack: &ValidRack) -> Value {
    let own = rack.claim.metadata.labels.iter();
    let mut labels: Map<String, Value> =
        own.map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
    labels.extend(rack_labels(valid, rack)); // Ours last: claims are found by them.
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": rack.claim.metadata.name,
            "labels": labels,
        },
        "spec": rack.claim.spec,
    })
}
