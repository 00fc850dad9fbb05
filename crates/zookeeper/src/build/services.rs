//! Services, the members' account, the disruption budget, the member objects.

use super::common::{cluster_labels, member_labels, metadata, selector};
use crate::validate::Valid;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::rights::MEMBER_ROLE;
use palladion_api::service_member::ServiceMemberSpec;
use palladion_api::zookeeper::ServerId;
use palladion_api::{labels, names};
use serde_json::{Value, json};

/// The headless Service for clients: resolves to ready members only.
pub fn client_service(valid: &Valid) -> Value {
    headless(valid, &names::client_service(&valid.set), false)
}

/// The headless Service of all members, ready or not: it gives the pods their names.
pub fn nodes_service(valid: &Valid) -> Value {
    headless(valid, &names::nodes_service(&valid.set), true)
}

fn headless(valid: &Valid, name: &str, not_ready_too: bool) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(valid, name, &cluster_labels(valid)),
        "spec": {
            "clusterIP": "None",
            "type": "ClusterIP",
            "publishNotReadyAddresses": not_ready_too,
            "ports": [port("client", valid.ports.client)],
            "selector": selector(valid),
        },
    })
}

/// The name of the Service of a member's address. A server ID names one volume for
/// life, and each volume has an address of its own: the address of one that was
/// lost stays with its Service as long as a configuration names it.
pub fn service_name(member: &MemberName, replaced_by: Option<ServerId>) -> String {
    match replaced_by {
        Some(id) => format!("{member}-s{id}"),
        None => member.to_string(),
    }
}

/// The Service that gives a member its static address. It may ask for an address
/// that the member had before. One that is `reserved` has no endpoints: all that it
/// does is to hold an address.
pub fn member_service(
    valid: &Valid,
    member: &MemberName,
    name: &str,
    address: Option<&StaticAddress>,
    reserved: bool,
) -> Value {
    let endpoints = match reserved {
        true => json!({ labels::POD_NAME: format!("{member}-is-replaced") }),
        false => json!({ labels::POD_NAME: member }),
    };
    let mut spec = json!({
        "type": "ClusterIP",
        "publishNotReadyAddresses": true,
        "selector": endpoints,
        "ports": [
            port("client", valid.ports.client),
            port("quorum", valid.ports.quorum),
            port("election", valid.ports.election),
        ],
    });
    if let Some(address) = address {
        spec["clusterIP"] = Value::from(address.as_str());
    }
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(valid, name, &member_labels(valid, member)),
        "spec": spec,
    })
}

fn port(name: &str, number: u16) -> Value {
    json!({ "name": name, "port": number, "protocol": "TCP", "targetPort": number })
}

/// Account and role binding of the member pods.
pub fn member_account(valid: &Valid) -> [Value; 2] {
    let name = names::member_account(&valid.set);
    let labels = cluster_labels(valid);
    [
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata(valid, &name, &labels),
            "automountServiceAccountToken": false,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": metadata(valid, &name, &labels),
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": MEMBER_ROLE },
            "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": valid.namespace }],
        }),
    ]
}

/// One server may be evicted at a time, and one that is not ready only when nobody
/// else is missing.
pub fn disruption_budget(valid: &Valid) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(valid, &valid.set, &cluster_labels(valid)),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
            "selector": { "matchLabels": selector(valid) },
        },
    })
}

/// A member object.
pub fn member(valid: &Valid, member: &MemberName, spec: &ServiceMemberSpec) -> Value {
    let mut metadata = metadata(valid, member.as_str(), &member_labels(valid, member));
    metadata["annotations"] = json!({ labels::CLUSTER_UID: valid.uid });
    json!({
        "apiVersion": format!("{}/{}", palladion_api::GROUP, palladion_api::VERSION),
        "kind": "ServiceMember",
        "metadata": metadata,
        "spec": spec,
    })
}
