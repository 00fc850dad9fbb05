//! Services, the members' account, the disruption budget, the configuration, the member
//! objects.

use super::super::spec::ServiceSpec;
use super::common::{cluster_labels, member_labels, metadata, selector};
use crate::hash;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::rights::MEMBER_ROLE;
use palladion_api::service_member::ServiceMemberSpec;
use palladion_api::{labels, names};
use serde_json::{Value, json};

/// The headless Service for clients: resolves to ready members only.
pub fn client_service(spec: &ServiceSpec, ports: &[(&str, u16)]) -> Value {
    headless(spec, &names::client_service(&spec.set), false, ports)
}

/// The headless Service of all members, ready or not: it gives the pods their names.
pub fn nodes_service(spec: &ServiceSpec, ports: &[(&str, u16)]) -> Value {
    headless(spec, &names::nodes_service(&spec.set), true, ports)
}

fn headless(spec: &ServiceSpec, name: &str, not_ready_too: bool, numbers: &[(&str, u16)]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(spec, name, &cluster_labels(spec)),
        "spec": {
            "clusterIP": "None",
            "type": "ClusterIP",
            "publishNotReadyAddresses": not_ready_too,
            "ports": ports(numbers),
            "selector": selector(spec),
        },
    })
}

/// The Service that gives a member its static address, before it is ready, too. It may
/// ask for an address that the member had before. One without `endpoints` leads to no
/// pod: all that it does is to hold an address.
pub fn member_service(
    spec: &ServiceSpec,
    (member, name): (&MemberName, &str),
    address: Option<&StaticAddress>,
    has_endpoints: bool,
    numbers: &[(&str, u16)],
) -> Value {
    let endpoints = match has_endpoints {
        true => json!({ labels::POD_NAME: member }),
        false => json!({ labels::POD_NAME: format!("{member}-is-replaced") }),
    };
    let mut body = json!({
        "type": "ClusterIP",
        "publishNotReadyAddresses": true,
        "selector": endpoints,
        "ports": ports(numbers),
    });
    if let Some(address) = address {
        body["clusterIP"] = Value::from(address.as_str());
    }
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(spec, name, &member_labels(spec, member)),
        "spec": body,
    })
}

fn ports(numbers: &[(&str, u16)]) -> Value {
    let port = |(name, number): &(&str, u16)| json!({ "name": name, "port": number, "protocol": "TCP", "targetPort": number });
    numbers.iter().map(port).collect()
}

/// Account and role binding of the member pods.
pub fn member_account(spec: &ServiceSpec) -> [Value; 2] {
    let name = names::member_account(&spec.set);
    let labels = cluster_labels(spec);
    [
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata(spec, &name, &labels),
            "automountServiceAccountToken": false,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": metadata(spec, &name, &labels),
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": MEMBER_ROLE },
            "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": spec.namespace }],
        }),
    ]
}

/// One member may be evicted at a time, and one that is not ready only when nobody
/// else is missing.
pub fn disruption_budget(spec: &ServiceSpec) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(spec, &spec.set, &cluster_labels(spec)),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
            "selector": { "matchLabels": selector(spec) },
        },
    })
}

/// The configuration of the servers: an immutable ConfigMap whose name carries the hash
/// of its content, so that old pods keep the old one.
pub fn config_map(spec: &ServiceSpec, data: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(spec, &config_map_name(spec, data), &cluster_labels(spec)),
        "immutable": true,
        "data": data,
    })
}

/// Its name.
pub fn config_map_name(spec: &ServiceSpec, data: &Value) -> String {
    format!("{}-{}", spec.set, hash::of(data))
}

/// A member object.
pub fn member(service: &ServiceSpec, member: &MemberName, spec: &ServiceMemberSpec) -> Value {
    let mut metadata = metadata(service, member.as_str(), &member_labels(service, member));
    metadata["annotations"] = json!({ labels::CLUSTER_UID: service.uid });
    json!({
        "apiVersion": format!("{}/{}", palladion_api::GROUP, palladion_api::VERSION),
        "kind": "ServiceMember",
        "metadata": metadata,
        "spec": spec,
    })
}
