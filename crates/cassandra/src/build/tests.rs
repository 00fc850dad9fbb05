//! The objects as they are sent, as files to read.

use super::*;
use crate::fixtures::{ClusterFixture, a_cluster};
use crate::validate::{Valid, ValidRack};
use palladion_api::cluster::{
    Auth, AuthMode, CertificateSource, ClientTls, ClientTlsMode, Mode, SignedByOperator, Tls,
};
use palladion_api::member::CassandraMemberSpec;
use serde_json::{Value, json};

mod everything;
mod generations;
mod hashes;

/// Keys in order, whatever the order of a map in memory is.
macro_rules! snapshot {
    ($name:literal, $value:expr) => {
        insta::with_settings!({ sort_maps => true, omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_yaml_snapshot!($name, $value);
        });
    };
}

/// A cluster in which every field that reaches an object is set.
fn full() -> ClusterFixture {
    a_cluster()
        .rack("a", 3)
        .rack("b", 2)
        .spec(|spec| {
            spec.ring_name = Some("The Ring".into());
            spec.config = [("concurrent_reads".into(), json!(64))].into();
            spec.jvm_options = vec!["-Dcassandra.ring_delay_ms=2000".into()];
            spec.heap_size = serde_json::from_value(json!("2Gi")).unwrap();
            spec.annotations = [("example.com/team".into(), "storage".into())].into();
            spec.image_pull_secrets = serde_json::from_value(json!([{ "name": "mirror" }])).unwrap();
            spec.env = serde_json::from_value(json!([
                { "name": "TZ", "value": "UTC" },
                { "name": "EMPTY", "value": "" },
            ]))
            .unwrap();
            spec.termination_grace_period_seconds = 600;
        })
        .first_rack_with(&json!({
            "storage": { "volumeClaimTemplates": [{
                "metadata": { "name": "disk", "labels": { "example.com/tier": "fast" } },
                "spec": {
                    "storageClassName": "local",
                    "resources": { "requests": { "storage": "100Gi" } },
                },
            }]},
            "resources": {
                "requests": { "cpu": "4", "memory": "8Gi" },
                "limits": { "cpu": "4", "memory": "8Gi" },
            },
            "placement": {
                "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{ "matchExpressions": [
                        { "key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z1"] },
                    ]}],
                }},
                "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": { "matchLabels": { "palladion.dev/cluster": "demo" } },
                }]},
                "tolerations": [{ "key": "database", "operator": "Exists", "value": "", "effect": "NoSchedule" }],
                "topologySpreadConstraints": [{
                    "maxSkew": 1,
                    "topologyKey": "example.com/row",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": { "matchLabels": { "palladion.dev/cluster": "demo" } },
                }],
            },
            "configMapName": "settings",
            "jmxExporterConfigMapName": "metrics",
            "annotations": { "example.com/row": "7" },
        }))
        .config_map(
            "settings",
            json!({ "cassandra.yaml": "concurrent_writes: 32\n" }),
        )
        .config_map("metrics", json!({ "jmx_exporter_config.yaml": "rules: []\n" }))
}

fn plain() -> ClusterFixture {
    a_cluster().rack("a", 3)
}

fn scylla() -> ClusterFixture {
    plain().spec(|spec| {
        spec.mode = Mode::Scylla;
        spec.version = "6.2.0".into();
    })
}

fn with_auth() -> ClusterFixture {
    plain().spec(|spec| {
        spec.auth = Some(Auth { mode: AuthMode::Password, superuser_secret_name: None });
        let secret_name = Some("orders-tls".into());
        let certificates = Some(CertificateSource { operator: None, secret_name });
        let client = Some(ClientTls { mode: ClientTlsMode::Require, certificates });
        spec.tls = Some(Tls { client, ..Tls::default() });
    })
}

#[test]
fn pods_mount_no_secret_for_certificates_that_the_operator_signs() {
    let cluster = plain().spec(|spec| {
        let operator = Some(SignedByOperator {});
        let certificates = Some(CertificateSource { operator, secret_name: None });
        let client = Some(ClientTls { mode: ClientTlsMode::Require, certificates });
        spec.tls = Some(Tls { client, ..Tls::default() });
    });
    let (valid, rack) = cluster.valid_rack();
    let (_, generation) = valid.generations.newest();
    assert_eq!(super::secrets::volume(&valid, &rack, generation), None);
    let server = (generation.server_json)(&rack.server);
    assert_eq!(server["clientCertificates"], "Operator");
    let (_, plain) = plain().valid_rack();
    assert!((generation.server_json)(&plain.server).get("clientCertificates").is_none());
}

fn with_sidecars() -> ClusterFixture {
    full().spec(|spec| {
        spec.sidecars = serde_json::from_value(json!([
            {
                "name": "prober",
                "image": "prober:1",
                "command": ["/prober"],
                "args": ["--every", "10s"],
                "env": [{ "name": "ADDRESS", "value": "127.0.0.1:9042" }, { "name": "EMPTY", "value": "" }],
                "resources": { "limits": { "memory": "64Mi" } },
                "ports": [{ "name": "metrics", "port": 9500 }],
            },
            { "name": "logs", "image": "logs:2" },
        ]))
        .unwrap();
    })
}

fn with_reader() -> ClusterFixture {
    full().spec(|spec| {
        spec.cdc = serde_json::from_value(json!({ "mode": "On", "totalSpace": "1Gi" })).unwrap();
        spec.sidecars = serde_json::from_value(json!([
            { "name": "reader", "image": "reader:1", "cdc": "ReadWrite" },
            { "name": "logs", "image": "logs:2" },
        ]))
        .unwrap();
    })
}

fn set_of(cluster: &ClusterFixture) -> Value {
    let (valid, rack) = cluster.valid_rack();
    stateful_set(&valid, &rack, 3, &rendered(&valid, &rack, &[]))
}

#[test]
fn the_objects_of_a_cluster() {
    let valid = full().valid();
    snapshot!("client_service", client_service(&valid));
    snapshot!("member_account", member_account(&valid));
    snapshot!("disruption_budget", disruption_budget(&valid));
}

fn managed(network: &Value) -> ClusterFixture {
    let mut wanted = network.clone();
    wanted["policy"] = json!("Managed");
    full().spec(|spec| spec.network = serde_json::from_value(wanted).unwrap())
}

fn policy_of(cluster: &ClusterFixture) -> Value {
    let valid = cluster.valid();
    network_policy(&valid, &valid.network.clone().unwrap())
}

#[test]
fn who_may_connect_to_a_ring() {
    snapshot!("network_policy_open", policy_of(&managed(&json!({}))));
    let some = json!({
        "clientsFrom": [
            { "namespaceSelector": { "matchLabels": { "team": "orders" }, "matchExpressions": [] } },
            { "ipBlock": { "cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"] } },
        ],
        "metricsFrom": [{ "podSelector": {}, "namespaceSelector": { "matchLabels": {} } }],
    });
    snapshot!("network_policy_of_some", policy_of(&managed(&some)));
}

/// A port that a pod opens and no rule names could be reached by nobody.
#[test]
fn a_policy_names_each_port_on_which_pods_listen_and_no_other() {
    let ports = |policy: &Value| -> Vec<i64> {
        let rules = policy["spec"]["ingress"].as_array().unwrap().iter();
        rules
            .flat_map(|rule| rule["ports"].as_array().unwrap())
            .map(|p| p["port"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(ports(&policy_of(&managed(&json!({})))), [7000, 9042, 8080, 9180]);
    let silent = managed(&json!({})).first_rack(|rack| rack.jmx_exporter_config_map_name = None);
    assert_eq!(ports(&policy_of(&silent)), [7000, 9042, 8080], "nobody listens on 9180");
}

#[test]
fn the_objects_of_a_rack() {
    let (valid, rack) = full().valid_rack();
    snapshot!("config_map", config_map(&valid, &rack, &rendered(&valid, &rack, &[])));
    snapshot!("stateful_set_full", stateful_set(&valid, &rack, 3, &rendered(&valid, &rack, &[])));
    snapshot!("stateful_set_plain", set_of(&plain()));
    snapshot!("stateful_set_scylla", set_of(&scylla()));
    snapshot!("sidecars", &set_of(&with_sidecars())["spec"]["template"]["spec"]);
    snapshot!("secrets", &set_of(&with_auth())["spec"]["template"]["spec"]["volumes"]);
}

/// Of the volume of the server one reader has one directory, and nobody else has anything.
#[test]
fn a_reader_of_changes_mounts_their_directory_alone() {
    let set = set_of(&with_reader());
    let pod = &set["spec"]["template"]["spec"];
    let claim = &set["spec"]["volumeClaimTemplates"][0]["metadata"]["name"];
    let mounted = |name: &str| -> Vec<Value> {
        let containers = pod["containers"].as_array().cloned().unwrap_or_default();
        let container = containers.into_iter().find(|c| c["name"] == name).unwrap_or_default();
        let mounts = container["volumeMounts"].as_array().cloned().unwrap_or_default();
        mounts.into_iter().filter(|mount| mount["name"] == *claim).collect()
    };
    let segments = json!({ "name": claim, "mountPath": "/cdc", "subPath": "cdc_raw" });
    assert_eq!((mounted("reader"), mounted("logs")), (vec![segments], Vec::new()));
    // The reader has the group of the server, and not its user.
    assert_eq!(pod["securityContext"]["fsGroup"], 999);
    assert_eq!(pod["containers"][1]["securityContext"]["runAsUser"], 65532);
}

/// A reader may start before the server, and a kubelet makes what it mounts.
#[test]
fn the_directory_of_changes_is_made_before_its_reader_starts() {
    let install = |fixture: ClusterFixture| {
        let set = set_of(&fixture);
        set["spec"]["template"]["spec"]["initContainers"][0].clone()
    };
    let with = install(with_reader());
    let variable = json!({ "name": "PALLADION_CDC_DIRECTORY", "value": "/volume/cdc_raw" });
    assert_eq!(with["env"], json!([variable]));
    assert_eq!(with["volumeMounts"][1]["mountPath"], "/volume");
    let without = install(with_sidecars());
    assert_eq!(without["env"], Value::Null);
    assert_eq!(without["volumeMounts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_objects_of_a_member() {
    let (valid, rack) = full().valid_rack();
    let name = "demo-dc1-a-0";
    let seed = member_service(&valid, &rack, &name.into(), None, true);
    snapshot!("member_service_of_a_seed", seed);
    let again =
        member_service(&valid, &rack, &"demo-dc1-a-2".into(), Some(&"10.96.0.7".into()), false);
    snapshot!("member_service_again", again);
    let ranges = ["203.0.113.0/24".to_string(), "2001:db8::/32".to_string()];
    snapshot!("load_balancer", load_balancer(&valid, &rack, &name.into(), &ranges));
    snapshot!("member", a_member(&valid, &rack, name));
}

/// The configuration of rings that ask for nothing, or for what they have, stays as it was.
#[test]
fn only_a_ring_that_announces_other_addresses_is_configured_for_it() {
    let server = |broadcast: Value| {
        let network = json!({ "broadcast": broadcast });
        let ring = full().spec(|spec| spec.network = serde_json::from_value(network).unwrap());
        let (valid, rack) = ring.valid_rack();
        config_map(&valid, &rack, &rendered(&valid, &rack, &[]))["data"]["server.json"].clone()
    };
    let (valid, rack) = full().valid_rack();
    let as_before = config_map(&valid, &rack, &rendered(&valid, &rack, &[]));
    let as_before = &as_before["data"]["server.json"];
    for same in [json!(null), json!({}), json!({ "clients": "ServiceClusterIP" })] {
        assert_eq!(server(same), *as_before);
    }
    assert!(!as_before.as_str().unwrap().contains("clientAddresses"));
    let balanced = json!({ "clients": "LoadBalancer", "sourceRanges": ["203.0.113.0/24"] });
    for (other, word) in [(json!({ "clients": "PodIP" }), "PodIP"), (balanced, "LoadBalancer")] {
        let server = server(other);
        let server = server.as_str().unwrap();
        assert!(server.contains(&format!("\"clientAddresses\":\"{word}\"")), "{server}");
        // Who is let in is no matter of the servers: another range restarts nobody.
        assert!(!server.contains("203.0.113"), "{server}");
    }
}

fn a_member(valid: &Valid, rack: &ValidRack, name: &'static str) -> Value {
    let spec = CassandraMemberSpec {
        cluster: valid.name.clone(),
        ring: valid.ring.clone(),
        datacenter: valid.datacenter.clone(),
        rack: rack.name.clone(),
        address: Some("10.96.0.5".into()),
        revisions: vec!["demo-dc1-a-1".into()],
        ..CassandraMemberSpec::default()
    };
    member(valid, rack, &name.into(), &spec)
}
