//! From a spec to a form that cannot be wrong. What one object can tell is
//! refused at admission already; what remains is refused here, and what runs
//! goes on running.

use crate::words::refusal::Refusal;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use palladion_api::ZonedStatefulSetSpec;
use palladion_api::ids::Uid;
use palladion_api::names::STATEFUL_SET_NAME_MAX;
use palladion_api::zoned_stateful_set::{ActiveProbe, Rollout, names};
use palladion_plan::Meta;
use palladion_plan::workload::{config, environment};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Variables that the operator sets in every container (QuarksStatefulSet, "AZ Support").
pub const ZONE_VARIABLES: [&str; 4] = ["KUBE_AZ", "BOSH_AZ", "CF_OPERATOR_AZ", "AZ_INDEX"];
/// The variable of `injectReplicasEnv`.
pub const REPLICAS_VARIABLE: &str = "REPLICAS";
/// Labels and annotations with this prefix are the operator's.
const OUR_PREFIX: &str = "palladion.dev/";
/// Room for `-v999999`.
const VERSION_SUFFIX: usize = 8;

/// A zone, or the one place of a set without zones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// Index from 0.
    pub index: usize,
    /// Value of the node label; `None` without zones.
    pub name: Option<String>,
}

/// A spec that can be carried out.
#[derive(Debug, Clone)]
pub struct Valid {
    /// Name of the owner.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: Uid,
    /// The spec.
    pub spec: ZonedStatefulSetSpec,
    /// The zones; one without a name if the spec has none.
    pub zones: Vec<Zone>,
    /// Replicas of each zone, within their limits.
    pub replicas: i32,
    /// Labels that the sets' selector has besides ours.
    pub selector: BTreeMap<String, String>,
    /// Value of the instance group label.
    pub instance_group: String,
    /// Value of the deployment label.
    pub deployment: String,
}

impl Valid {
    /// Name of the set of a zone; with `rollout: Versioned`, of one version.
    pub fn set_name(&self, zone: &Zone, version: i64) -> String {
        let index = zone.name.is_some().then_some(zone.index);
        let version = (self.spec.rollout == Rollout::Versioned).then_some(version);
        names::set(&self.name, index, version)
    }

    /// The Service that gives the pods their names.
    pub fn service_name(&self) -> &str {
        self.spec.template.spec.service_name.as_deref().unwrap_or(&self.name)
    }
}

/// Parse a spec, or say why it cannot be carried out.
pub fn validate(meta: &Meta, spec: &ZonedStatefulSetSpec) -> Result<Valid, Refusal> {
    let template = &spec.template.spec.template;
    PodTemplateSpec::deserialize(template)
        .map_err(|e| Refusal::NoPodTemplate { why: e.to_string() })?;
    if !config::has_containers(template) {
        return Err(Refusal::NoContainers);
    }
    name_length(&meta.name, spec)?;
    reserved_words(spec)?;
    if spec.rollout == Rollout::Versioned && !spec.template.spec.volume_claim_templates.is_empty() {
        return Err(Refusal::VersionedWithClaims);
    }
    let selector = selector(spec)?;
    probes(spec)?;
    let zones = match spec.zones.is_empty() {
        true => vec![Zone { index: 0, name: None }],
        false => spec
            .zones
            .iter()
            .enumerate()
            .map(|(index, name)| Zone { index, name: Some(name.clone()) })
            .collect(),
    };
    Ok(Valid {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        zones,
        replicas: spec.scaling.limit(spec.template.spec.replicas),
        selector,
        instance_group: spec.instance_group.clone().unwrap_or_else(|| meta.name.clone()),
        deployment: spec.deployment.clone().unwrap_or_else(|| meta.namespace.clone()),
        spec: spec.clone(),
    })
}

fn name_length(name: &str, spec: &ZonedStatefulSetSpec) -> Result<(), Refusal> {
    let zone = match spec.zones.len() {
        0 => 0,
        zones => names::set("", Some(zones - 1), None).len(),
    };
    let version = match spec.rollout {
        Rollout::Versioned => VERSION_SUFFIX,
        Rollout::Partitioned | Rollout::Recreate => 0,
    };
    let most = STATEFUL_SET_NAME_MAX - zone - version;
    match name.len() > most {
        false => Ok(()),
        true => Err(Refusal::NameTooLong { length: name.len(), most }),
    }
}

fn reserved_words(spec: &ZonedStatefulSetSpec) -> Result<(), Refusal> {
    let template = &spec.template.spec.template;
    let mut reserved = ZONE_VARIABLES.to_vec();
    if spec.inject_replicas_env {
        reserved.push(REPLICAS_VARIABLE);
    }
    if let Some((container, variable)) = environment::first_set(template, &reserved) {
        let (container, variable) = (container.to_string(), variable.to_string());
        return Err(match variable == REPLICAS_VARIABLE {
            true => Refusal::ReplicasVariable { container, variable },
            false => Refusal::Variable { container, variable },
        });
    }
    for (field, one) in [("labels", "label"), ("annotations", "annotation")] {
        let words = template["metadata"][field].as_object();
        let mut keys = words.into_iter().flat_map(|w| w.keys());
        if let Some(key) = keys.find(|k| k.starts_with(OUR_PREFIX)) {
            let key = key.clone();
            return Err(Refusal::OurPrefix { field: one, key, prefix: OUR_PREFIX });
        }
    }
    Ok(())
}

fn selector(spec: &ZonedStatefulSetSpec) -> Result<BTreeMap<String, String>, Refusal> {
    let Some(selector) = &spec.template.spec.selector else {
        return Ok(BTreeMap::new());
    };
    if selector.match_expressions.as_ref().is_some_and(|e| !e.is_empty()) {
        return Err(Refusal::MatchExpressions);
    }
    let wanted = selector.match_labels.clone().unwrap_or_default();
    let labels = &spec.template.spec.template["metadata"]["labels"];
    for (key, value) in &wanted {
        if labels[key.as_str()].as_str() != Some(value) {
            return Err(Refusal::SelectorLabel { key: key.clone(), value: value.clone() });
        }
    }
    Ok(wanted)
}

fn probes(spec: &ZonedStatefulSetSpec) -> Result<(), Refusal> {
    let template = &spec.template.spec.template;
    for (container, probe) in &spec.active_passive_probes {
        if !config::container_names(template).contains(container.as_str()) {
            return Err(Refusal::ProbeContainer { container: container.clone() });
        }
        for named in
            [probe.http_get.as_ref().map(|a| &a.port), probe.tcp_socket.as_ref().map(|a| &a.port)]
        {
            let Some(wanted) = named else { continue };
            if port(template, container, wanted).is_none() {
                return Err(Refusal::ProbePort { container: container.clone() });
            }
        }
        one_action(container, probe)?;
    }
    Ok(())
}

fn one_action(container: &str, probe: &ActiveProbe) -> Result<(), Refusal> {
    let actions = [
        probe.exec.is_some(),
        probe.http_get.is_some(),
        probe.tcp_socket.is_some(),
        probe.grpc.is_some(),
    ];
    match actions.iter().filter(|a| **a).count() {
        1 => Ok(()),
        _ => Err(Refusal::ProbeActions { container: container.to_string() }),
    }
}

/// The number of a port that is given by number or by its name in a container.
pub fn port(template: &Value, container: &str, wanted: &IntOrString) -> Option<u16> {
    match wanted {
        IntOrString::Int(number) => u16::try_from(*number).ok().filter(|n| *n > 0),
        IntOrString::String(name) => {
            let container = environment::containers(template).find(|c| c["name"] == container)?;
            let ports = container["ports"].as_array()?;
            let port = ports.iter().find(|p| p["name"] == name.as_str())?;
            u16::try_from(port["containerPort"].as_u64()?).ok()
        }
    }
}
