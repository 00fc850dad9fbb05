//! Services, the members' account, the disruption budget, the member objects.

use super::common::{cluster_labels, metadata, of_datacenter, rack_labels};
use crate::validate::{Valid, ValidRack};
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::member::CassandraMemberSpec;
use palladion_api::names::CLIENT_CA_FILE;
use palladion_api::rights::MEMBER_ROLE;
use palladion_api::{labels, labels::ports, names};
use serde_json::{Value, json};

/// The headless Service for drivers: resolves to ready members only.
pub fn client_service(valid: &Valid) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(valid, &names::client_service(&valid.name), &cluster_labels(valid)),
        "spec": {
            "clusterIP": "None",
            "type": "ClusterIP",
            "ports": [port("cql", ports::CQL), port("prometheus", ports::PROMETHEUS)],
            "selector": { labels::CLUSTER: valid.name, labels::DATACENTER: valid.datacenter },
        },
    })
}

/// The ConfigMap with the authorities that clients trust.
pub fn client_ca(valid: &Valid, trust: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(valid, &names::client_ca(&valid.name), &cluster_labels(valid)),
        "data": { CLIENT_CA_FILE: trust },
    })
}

/// The Service that gives a member its static address, with the ports of Rook's
/// Cassandra operator. It may ask for an address that the member had before.
pub fn member_service(
    valid: &Valid,
    rack: &ValidRack,
    member: &MemberName,
    address: Option<&StaticAddress>,
    is_seed: bool,
) -> Value {
    let mut all = rack_labels(valid, rack);
    all.insert(labels::MEMBER.into(), Value::from(member.as_str()));
    if is_seed {
        all.insert(labels::SEED.into(), Value::from(""));
    }
    let mut spec = json!({
        "type": "ClusterIP",
        "publishNotReadyAddresses": true,
        "selector": { labels::POD_NAME: member },
        "ports": [
            port("inter-node-communication", ports::INTERNODE),
            port("ssl-inter-node-communication", ports::INTERNODE_TLS),
            port("jmx-monitoring", ports::JMX),
            port("cql", ports::CQL),
            port("thrift", ports::THRIFT),
            port("cql-ssl", ports::CQL_TLS),
        ],
    });
    if let Some(address) = address {
        spec["clusterIP"] = Value::from(address.as_str());
    }
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(valid, member.as_str(), &all),
        "spec": spec,
    })
}

/// The Service by which clients outside of the Kubernetes cluster reach a member: clients' port
/// alone. Connections go to the node of the member, and keep the addresses that they come from,
/// which a NetworkPolicy compares; a member that is not ready is found, as by its own Service.
pub fn load_balancer(
    valid: &Valid,
    rack: &ValidRack,
    member: &MemberName,
    source_ranges: &[String],
) -> Value {
    let mut all = rack_labels(valid, rack);
    all.insert(labels::MEMBER.into(), Value::from(member.as_str()));
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(valid, &names::load_balancer(member), &all),
        "spec": {
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
            "loadBalancerSourceRanges": source_ranges,
            "publishNotReadyAddresses": true,
            "selector": { labels::POD_NAME: member },
            "ports": [port("cql", ports::CQL)],
        },
    })
}

/// A Service without pods: all that it does is to hold an address.
pub fn held_service(
    valid: &Valid,
    rack: &ValidRack,
    name: &str,
    address: &StaticAddress,
    since: jiff::Timestamp,
) -> Value {
    let mut labels = rack_labels(valid, rack);
    labels.insert(labels::DECOMMISSIONED.into(), Value::from("true"));
    let mut metadata = metadata(valid, name, &labels);
    metadata["annotations"] = json!({ labels::GONE: since });
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address,
            "ports": [port("internode", ports::INTERNODE)],
        },
    })
}

fn port(name: &str, number: i32) -> Value {
    json!({ "name": name, "port": number, "protocol": "TCP", "targetPort": number })
}

/// Account and role binding of the member pods. The pod template asks for the
/// token by itself; another pod that uses the account does not get one unasked.
pub fn member_account(valid: &Valid) -> Vec<Value> {
    let name = names::member_account(&valid.name);
    let labels = cluster_labels(valid);
    vec![
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

/// One member of the datacenter may be evicted at a time, and a member that is
/// not ready only when nobody else is missing: its disk may hold the only copy
/// that is up to date.
pub fn disruption_budget(valid: &Valid) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(valid, &of_datacenter(valid), &cluster_labels(valid)),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
            "selector": { "matchLabels": { labels::CLUSTER: valid.name, labels::DATACENTER: valid.datacenter } },
        },
    })
}

/// A member object.
pub fn member(
    valid: &Valid,
    rack: &ValidRack,
    member: &MemberName,
    spec: &CassandraMemberSpec,
) -> Value {
    let mut labels = rack_labels(valid, rack);
    labels.insert(labels::MEMBER.into(), Value::from(member.as_str()));
    let mut metadata = metadata(valid, member.as_str(), &labels);
    metadata["annotations"] = json!({ labels::CLUSTER_UID: valid.uid });
    json!({
        "apiVersion": format!("{}/{}", palladion_api::GROUP, palladion_api::VERSION),
        "kind": "CassandraMember",
        "metadata": metadata,
        "spec": spec,
    })
}
