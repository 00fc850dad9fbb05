//! One builder for the clusters of all scenarios.

use serde_json::{Value, json};

/// Namespace and name of the cluster.
pub const NAMESPACE: &str = "default";
pub const CLUSTER: &str = "demo";

/// Racks with their members, one zone each: `a` in z1, `b` in z2, `c` in z3. Nobody is asked who
/// is there, and all is in the clear; what rings have by default is in `sealed` and `defaults`.
pub fn a_cluster(racks: &[(&str, i32)]) -> Value {
    let zones = ["z1", "z2", "z3"];
    let racks: Vec<Value> = racks
        .iter()
        .enumerate()
        .map(|(i, (name, members))| rack(name, *members, zones[i]))
        .collect();
    json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraCluster",
        "metadata": { "name": CLUSTER, "namespace": NAMESPACE },
        "spec": {
            "version": "5.0.5",
            "datacenter": { "name": "dc1", "racks": racks },
            "numTokens": 16,
            "seedsPerRack": 2,
            "terminationGracePeriodSeconds": 900,
            "auth": { "mode": "Off" },
            "tls": { "client": { "mode": "Off" }, "internode": { "mode": "Off" } },
        },
    })
}

fn rack(name: &str, members: i32, zone: &str) -> Value {
    let term = json!({ "matchExpressions": [{ "key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone] }] });
    json!({
        "name": name,
        "members": members,
        "placement": { "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [term] },
        }},
    })
}

/// The same of ScyllaDB, to which `auth` and `tls` do not apply.
pub fn of_scylla(mut cluster: Value) -> Value {
    let spec = cluster["spec"].as_object_mut().expect("a spec");
    spec.retain(|field, _| !["auth", "tls"].contains(&field.as_str()));
    spec.extend([("mode".to_string(), json!("scylla")), ("version".to_string(), json!("6.2.0"))]);
    cluster
}

/// The example that the demo applies.
pub fn two_racks() -> Value {
    a_cluster(&[("a", 2), ("b", 1)])
}
