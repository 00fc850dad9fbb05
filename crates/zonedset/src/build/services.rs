//! The default Services: one for the names of the pods, one for all ready pods,
//! one for the active pod (QuarksStatefulSet, "Exposing QuarksStatefulSets
//! Publicly").

use super::{labels, metadata, object};
use crate::resources::SERVICE;
use crate::validate::Valid;
use palladion_api::labels::APP_NAME;
use palladion_api::zoned_stateful_set::{Services, names};
use palladion_plan::workload::environment;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// All Services that are wanted.
pub fn wanted(valid: &Valid) -> Vec<Value> {
    match valid.spec.services {
        Services::None => return Vec::new(),
        Services::Default => {}
    }
    let ports = ports(&valid.spec.template.spec.template);
    let mut services = Vec::new();
    if valid.spec.template.spec.service_name.is_none() {
        let spec = json!({
            "clusterIP": "None",
            // Pods find each other before they are ready.
            "publishNotReadyAddresses": true,
            "selector": selector(valid),
            "ports": ports,
        });
        services.push(object(SERVICE, metadata(valid, &valid.name), spec));
    }
    if ports.is_empty() {
        return services; // A Service with an address needs a port.
    }
    let ready = json!({ "selector": selector(valid), "ports": ports });
    services.push(object(SERVICE, metadata(valid, &names::ready_service(&valid.name)), ready));
    if !valid.spec.active_passive_probes.is_empty() {
        let mut selector = selector(valid);
        selector[names::POD_ACTIVE] = names::ACTIVE.into();
        let active = json!({ "selector": selector, "ports": ports });
        services.push(object(
            SERVICE,
            metadata(valid, &names::active_service(&valid.name)),
            active,
        ));
    }
    services
}

fn selector(valid: &Valid) -> Value {
    let mut all = labels(valid);
    all.remove(APP_NAME);
    Value::Object(all)
}

/// The ports that the containers name, each once.
fn ports(template: &Value) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut ports = Vec::new();
    for container in environment::containers(template) {
        for port in container["ports"].as_array().into_iter().flatten() {
            let (Some(name), Some(number)) =
                (port["name"].as_str(), port["containerPort"].as_u64())
            else {
                continue;
            };
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            if seen.insert((number, protocol.to_string())) {
                ports.push(json!({ "name": name, "port": number, "targetPort": name, "protocol": protocol }));
            }
        }
    }
    ports
}
