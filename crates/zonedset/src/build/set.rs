//! The StatefulSet of one zone.

use super::{labels, metadata, object};
use crate::resources::STATEFUL_SET;
use crate::validate::{REPLICAS_VARIABLE, Valid, ZONE_VARIABLES, Zone};
use jiff::Timestamp;
use palladion_api::labels::SPEC_HASH;
use palladion_api::zoned_stateful_set::{Rollout, RolloutState, names};
use palladion_plan::hash;
use palladion_plan::workload::{config, environment, zone};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Counts the ways in which a template was made from a spec. A release that
/// makes it in another way raises this, and keeps the old way for sets that
/// were made by it, so that an upgrade of the operator restarts no pod.
const GENERATION: u32 = 1;

/// Configuration as a template is to be made from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// Hash of the data; `None` without `updateOnConfigChange`.
    pub hash: Option<String>,
    /// Names of versioned Secrets, old to newest.
    pub renamed: BTreeMap<String, String>,
}

/// What a set is made from.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// The zone.
    pub zone: &'a Zone,
    /// Version of the template.
    pub version: i64,
    /// Configuration.
    pub config: &'a Config,
    /// Where its rollout is.
    pub state: RolloutState,
    /// Since when.
    pub started: Timestamp,
    /// Pods.
    pub replicas: i32,
    /// Pods from this ordinal on get the newest template.
    pub partition: i32,
    /// What cannot be changed on a set that exists.
    pub fixed: Fixed,
}

/// The parts of a set that cannot be changed while it exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// `serviceName`.
    pub service_name: String,
    /// `podManagementPolicy`.
    pub pod_management_policy: String,
    /// `volumeClaimTemplates`.
    pub claims: Vec<Value>,
}

/// As the spec has it.
pub fn fixed(valid: &Valid) -> Fixed {
    Fixed {
        service_name: valid.service_name().to_string(),
        pod_management_policy: valid.spec.template.spec.pod_management_policy.as_str().to_string(),
        claims: claims(valid),
    }
}

/// Hash of all that pods are made from: if it changes, pods are rolled. The
/// number of replicas, the list of all zones and the version are not in it.
pub fn hash(valid: &Valid, zone: &Zone, config: &Config) -> String {
    let spec = &valid.spec;
    hash::of(&json!({
        "generation": GENERATION,
        "template": spec.template.spec.template,
        "zone": zone.name,
        "zoneNodeLabel": zone.name.as_ref().map(|_| &spec.zone_node_label),
        "instanceGroup": valid.instance_group,
        "deployment": valid.deployment,
        "replicasEnv": spec.inject_replicas_env,
        "config": config.hash,
    }))
}

/// The StatefulSet.
pub fn stateful_set(valid: &Valid, wanted: &Wanted<'_>) -> Value {
    let set = &valid.spec.template;
    let name = valid.set_name(wanted.zone, wanted.version);
    let hash = hash(valid, wanted.zone, wanted.config);
    let template = template(valid, wanted, &hash);
    let mut meta = metadata(valid, &name);
    merge(&mut meta["labels"], set.metadata.labels.clone());
    merge(&mut meta["labels"], zone_labels(valid, wanted));
    merge(&mut meta["annotations"], set.metadata.annotations.clone());
    merge(&mut meta["annotations"], annotations(valid, wanted, &hash, &template));
    let mut spec = json!({
        "replicas": wanted.replicas,
        "serviceName": wanted.fixed.service_name,
        "podManagementPolicy": wanted.fixed.pod_management_policy,
        "minReadySeconds": set.spec.min_ready_seconds,
        "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "partition": wanted.partition } },
        "persistentVolumeClaimRetentionPolicy": retention(valid),
        "selector": { "matchLabels": selector(valid, wanted) },
        "template": template,
    });
    if let Some(limit) = set.spec.revision_history_limit {
        spec["revisionHistoryLimit"] = limit.into();
    }
    if !wanted.fixed.claims.is_empty() {
        spec["volumeClaimTemplates"] = wanted.fixed.claims.clone().into();
    }
    object(STATEFUL_SET, meta, spec)
}

/// The claim templates of the spec, with the labels that claims are found by.
fn claims(valid: &Valid) -> Vec<Value> {
    let mut claims = valid.spec.template.spec.volume_claim_templates.clone();
    for claim in &mut claims {
        let mut all = labels(valid);
        if let Some(own) = claim["metadata"]["labels"].as_object() {
            let mut own = own.clone();
            own.append(&mut all);
            all = own;
        }
        claim["metadata"]["labels"] = Value::Object(all);
    }
    claims
}

fn annotations(
    valid: &Valid,
    wanted: &Wanted<'_>,
    hash: &str,
    template: &Value,
) -> BTreeMap<String, String> {
    let mut all = pod_annotations(valid, wanted, hash);
    all.insert(names::TEMPLATE.into(), hash::of(template));
    all.insert(names::STATE.into(), wanted.state.as_str().into());
    all.insert(names::STARTED.into(), wanted.started.to_string());
    all
}

fn pod_annotations(valid: &Valid, wanted: &Wanted<'_>, hash: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([
        (SPEC_HASH.to_string(), hash.to_string()),
        (names::VERSION.to_string(), wanted.version.to_string()),
    ]);
    if let Some(zones) = zones_annotation(valid) {
        all.insert(names::ZONES.into(), zones);
    }
    if let Some(config) = &wanted.config.hash {
        all.insert(names::CONFIG_HASH.into(), config.clone());
    }
    all
}

/// All zones in order, as a JSON array like that of QuarksStatefulSet.
pub fn zones_annotation(valid: &Valid) -> Option<String> {
    let zones = &valid.spec.zones;
    (!zones.is_empty()).then(|| {
        let quoted: Vec<String> = zones.iter().map(|z| format!("{z:?}")).collect();
        format!("[{}]", quoted.join(", "))
    })
}

fn zone_labels(valid: &Valid, wanted: &Wanted<'_>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([(names::AZ_INDEX.to_string(), wanted.zone.index.to_string())]);
    if let Some(zone) = &wanted.zone.name {
        all.insert(names::AZ_NAME.into(), zone.clone());
    }
    if valid.spec.rollout == Rollout::Versioned {
        all.insert(names::VERSION.into(), wanted.version.to_string());
    }
    all
}

/// The person's labels and ours, so that no other set's pods are meant.
fn selector(valid: &Valid, wanted: &Wanted<'_>) -> BTreeMap<String, String> {
    let mut all = valid.selector.clone();
    all.insert(names::OWNER.into(), valid.name.clone());
    all.insert(names::AZ_INDEX.into(), wanted.zone.index.to_string());
    if valid.spec.rollout == Rollout::Versioned {
        all.insert(names::VERSION.into(), wanted.version.to_string());
    }
    all
}

fn retention(valid: &Valid) -> Value {
    let policy = valid
        .spec
        .template
        .spec
        .persistent_volume_claim_retention_policy
        .clone()
        .unwrap_or_default();
    let or_retain = |word: Option<String>| word.unwrap_or_else(|| "Retain".to_string());
    json!({ "whenDeleted": or_retain(policy.when_deleted), "whenScaled": or_retain(policy.when_scaled) })
}

fn template(valid: &Valid, wanted: &Wanted<'_>, hash: &str) -> Value {
    let mut template = valid.spec.template.spec.template.clone();
    config::rename_secrets(&mut template, &wanted.config.renamed);
    if let Some(zone) = &wanted.zone.name {
        zone::pin(&mut template, &valid.spec.zone_node_label, zone);
    }
    environment::add(&mut template, &variables(valid, wanted));
    let mut own = labels(valid);
    own.insert(names::INSTANCE_GROUP.into(), valid.instance_group.as_str().into());
    own.insert(names::DEPLOYMENT.into(), valid.deployment.as_str().into());
    if let Some(metadata) = template["metadata"].as_object_mut() {
        // kubectl and exporters write it; a template has no time of its own.
        metadata.remove("creationTimestamp");
    }
    // A person's own app.kubernetes.io/name says more than ours.
    if template["metadata"]["labels"].get(palladion_api::labels::APP_NAME).is_some() {
        own.remove(palladion_api::labels::APP_NAME);
    }
    merge(&mut template["metadata"]["labels"], own);
    merge(&mut template["metadata"]["labels"], zone_labels(valid, wanted));
    merge(&mut template["metadata"]["annotations"], pod_annotations(valid, wanted, hash));
    template
}

fn variables(valid: &Valid, wanted: &Wanted<'_>) -> Vec<(&'static str, String)> {
    let zone = wanted.zone.name.clone().unwrap_or_default();
    let [kube, bosh, operator, index] = ZONE_VARIABLES;
    let mut all = vec![
        (kube, zone.clone()),
        (bosh, zone.clone()),
        (operator, zone),
        // From 1, as the code of QuarksStatefulSet has it.
        (index, (wanted.zone.index + 1).to_string()),
    ];
    if valid.spec.inject_replicas_env {
        all.push((REPLICAS_VARIABLE, valid.replicas.to_string()));
    }
    all
}

fn merge<V: Into<Value>>(target: &mut Value, from: impl IntoIterator<Item = (String, V)>) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (key, value) in from {
        target[key] = value.into();
    }
}
