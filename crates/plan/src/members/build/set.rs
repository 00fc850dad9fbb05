//! The StatefulSet of a service. OnDelete and Parallel, because the operator
//! decides when a pod is replaced and the start gate when a server starts.

use super::super::spec::ServiceSpec;
use super::common::{cluster_labels, metadata, selector};
use super::pod::Release;
use crate::{hash, workload};
use palladion_api::{labels, names};
use serde_json::{Map, Value, json};

/// Old templates to keep: enough to find the proven one again.
const REVISIONS_KEPT: i32 = 10;

/// The StatefulSet. `replicas` is always stated: leaving it out as its only owner
/// would reset it to 1.
pub fn stateful_set(spec: &ServiceSpec, replicas: i32, release: &Release) -> Value {
    let claims = claim_template(spec);
    let mut template = release.template.clone();
    let of_all = hash::of(&json!([template, claims]));
    workload::stamp(&mut template, &release.hash);
    let mut meta = metadata(spec, &spec.set, &cluster_labels(spec));
    meta["annotations"] = json!(spec.annotations);
    meta["annotations"][labels::SPEC_HASH] = Value::from(of_all);
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": meta,
        "spec": {
            "replicas": replicas,
            "serviceName": names::nodes_service(&spec.set),
            "podManagementPolicy": "Parallel",
            "updateStrategy": { "type": "OnDelete" },
            "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Retain" },
            "revisionHistoryLimit": REVISIONS_KEPT,
            "selector": { "matchLabels": selector(spec) },
            "template": template,
            "volumeClaimTemplates": [claims],
        },
    })
}

fn claim_template(spec: &ServiceSpec) -> Value {
    let own = spec.claim.metadata.labels.iter();
    let mut labels: Map<String, Value> =
        own.map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
    labels.extend(cluster_labels(spec)); // Ours last: claims are found by them.
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": { "name": spec.claim.metadata.name, "labels": labels },
        "spec": spec.claim.spec,
    })
}
