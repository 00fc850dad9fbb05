//! The StatefulSet of a rack (thesis T1, T2; design: OnDelete and Parallel,
//! because the operator decides when a pod is replaced and the start gate when
//! a server starts).

use super::common::{metadata, rack_labels, rack_selector};
use super::pod;
use crate::validate::{Valid, ValidRack};
use palladion_api::{labels, names};
use palladion_plan::hash;
use serde_json::{Value, json};

/// Old templates to keep: enough to find the proven one again.
const REVISIONS_KEPT: i32 = 10;

/// The StatefulSet of a rack. `replicas` is always stated: leaving it out as
/// its only owner would reset it to 1.
pub fn stateful_set(valid: &Valid, rack: &ValidRack, replicas: i32) -> Value {
    let claims = claim_template(valid, rack);
    let mut template = pod::template(valid, rack);
    let spec_hash = hash::of(&json!([template, claims]));
    template["metadata"]["annotations"][labels::SPEC_HASH] = Value::from(spec_hash.as_str());
    let mut meta = metadata(valid, &rack.set, &rack_labels(valid, rack));
    meta["annotations"] = json!(rack.annotations);
    meta["annotations"][labels::SPEC_HASH] = Value::from(spec_hash);
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
    let mut labels = rack_labels(valid, rack);
    labels.extend(
        rack.claim
            .metadata
            .labels
            .iter()
            .map(|(k, v)| (k.clone(), Value::from(v.as_str()))),
    );
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": rack.claim.metadata.name,
            "labels": labels,
            "annotations": { labels::CLUSTER_UID: valid.uid },
        },
        "spec": rack.claim.spec,
    })
}
