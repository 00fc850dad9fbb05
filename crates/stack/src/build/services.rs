//! The Services of a Component: one for the names of all pods, one for those
//! that are ready, and one for each pod where that gives it its address.

use super::{metadata, object};
use crate::resources::SERVICE;
use crate::validate::Valid;
use palladion_api::component::names;
use palladion_api::labels::POD_NAME;
use palladion_api::names::client_service;
use palladion_api::staged::Addresses;
use serde_json::{Value, json};

/// All Services that are wanted, the shared ones first.
pub fn wanted(valid: &Valid) -> Vec<Value> {
    let selector = json!({ names::OWNER: valid.name });
    let headless = |publishes_not_ready: bool| {
        json!({
            "clusterIP": "None",
            "publishNotReadyAddresses": publishes_not_ready,
            "selector": selector,
            "ports": ports(valid),
        })
    };
    let mut all = vec![
        // Pods find each other before they are ready.
        service(valid, &names::nodes_service(&valid.name), headless(true)),
        service(valid, &client_service(&valid.name), headless(false)),
    ];
    match valid.spec.network.addresses {
        Addresses::Service => all.extend(valid.ordinals().map(|ordinal| of_pod(valid, ordinal))),
        Addresses::PodIp | Addresses::HostNetwork => {}
    }
    all
}

fn of_pod(valid: &Valid, ordinal: i32) -> Value {
    let name = names::pod(&valid.name, ordinal);
    let spec = json!({
        // Its address is in the texts of others, ready or not.
        "publishNotReadyAddresses": true,
        "selector": { POD_NAME: name },
        "ports": ports(valid),
    });
    service(valid, &name, spec)
}

fn service(valid: &Valid, name: &str, spec: Value) -> Value {
    let mut service = object(SERVICE, metadata(valid.owner(), name));
    service["spec"] = spec;
    service
}

fn ports(valid: &Valid) -> Vec<Value> {
    let ports = valid.spec.network.ports.iter();
    ports
        .map(|p| json!({ "name": p.name, "port": p.port, "targetPort": p.port, "protocol": "TCP" }))
        .collect()
}
