//! Settings, options and variables: merged, and refused where they are ours.

use super::{good, refused};
use crate::validate::ValidClients;
use palladion_api::cluster::{
    Audit, Auth, AuthMode, CertificateSource, ClientTls, ClientTlsMode, Mode, SignedByOperator, Tls,
};
use palladion_api::reasons::Reason;
use palladion_api::server_config::ClientCertificates;
use serde_json::{Value, json};

#[test]
fn a_config_map_that_is_missing_or_cannot_be_read_is_named() {
    let named = good().first_rack_with(&json!({ "configMapName": "ours" }));
    let words = ["ConfigMap ours", "rack a", "create it"];
    refused(&named, Reason::ConfigMapMissing, &words);
    let words = ["ConfigMap ours", "403"];
    let unreadable = named.unreadable_config_map("ours", "403");
    refused(&unreadable, Reason::FactUnknown, &words);
    let exporter = good().first_rack_with(&json!({ "jmxExporterConfigMapName": "metrics" }));
    let words = ["ConfigMap metrics", "rack a"];
    refused(&exporter, Reason::ConfigMapMissing, &words);
}

#[test]
fn what_a_config_map_holds_is_checked_and_quoted() {
    let with =
        |data| good().first_rack_with(&json!({ "configMapName": "ours" })).config_map("ours", data);
    for (data, words) in [
        (json!({ "cassandra.yaml": "a: [1\nb: 2" }), ["cassandra.yaml", "line 2"]),
        (json!({ "cassandra.yaml": "- a\n- b" }), ["cassandra.yaml", "expected a map"]),
        (json!({ "cassandra.yaml": "cluster_name: mine" }), ["cluster_name", "set `ringName`"]),
        (json!({ "jvm-server.options": "-Xmx2G" }), ["-Xmx2G", "set `heapSize`"]),
        (json!({ "jvm-server.options": "Xss1m" }), ["Xss1m", "start with `-`"]),
        (
            json!({ "cassandra.yaml": "", "jvm.options": "" }),
            ["key jvm.options", "supported keys: cassandra.yaml and jvm-server.options"],
        ),
        (json!({}), ["no settings", "add at least one key (supported keys: cassandra.yaml"]),
    ] {
        let words = [words[0], words[1], "ConfigMap ours of rack a"];
        refused(&with(data), Reason::ConfigMapInvalid, &words);
    }
}

#[test]
fn settings_of_a_racks_config_map_win_over_the_clusters() {
    let cluster = good()
        .spec(|spec| {
            spec.config =
                [("concurrent_reads".into(), json!(16)), ("concurrent_writes".into(), json!(8))]
                    .into();
            spec.jvm_options = vec!["-Done=1".into()];
        })
        .first_rack_with(&json!({ "configMapName": "ours" }))
        .config_map(
            "ours",
            json!({
                "cassandra.yaml": "# ours\nconcurrent_reads: 64\n",
                "jvm-server.options": "# more\n\n  -Dtwo=2\n",
            }),
        );
    let (_, rack) = cluster.valid_rack();
    let config = json!({ "concurrent_reads": 64, "concurrent_writes": 8 });
    assert_eq!(json!(rack.server.config), config);
    assert_eq!(rack.server.jvm_options, ["-Done=1", "-Dtwo=2"]);
}

#[test]
fn a_config_map_of_comments_alone_changes_nothing() {
    let cluster = good()
        .first_rack_with(&json!({ "configMapName": "ours" }))
        .config_map("ours", json!({ "cassandra.yaml": "# later\n" }));
    assert_eq!(cluster.valid(), good().valid());
}

#[test]
fn what_the_operator_sets_cannot_be_set_in_the_spec() {
    let cluster = good().spec(|spec| {
        spec.config = [("listen_address".into(), json!("10.0.0.1"))].into();
    });
    let words = ["listen_address", "the spec", "remove it"];
    refused(&cluster, Reason::InvalidSpec, &words);
    for option in [
        "-Xms1G",
        "-Dcassandra.replace_address_first_boot=10.0.0.1",
        "-javaagent:/opt/jolokia.jar=port=1",
    ] {
        let cluster = good().spec(|spec| spec.jvm_options = vec![option.into()]);
        refused(&cluster, Reason::InvalidSpec, &[option, "remove it"]);
    }
    let cluster = good().spec(|spec| {
        spec.annotations = [("palladion.dev/applied".into(), "x".into())].into();
    });
    let words = ["palladion.dev/applied", "the spec"];
    refused(&cluster, Reason::InvalidSpec, &words);
    let cluster =
        good().first_rack_with(&json!({ "annotations": { "palladion.dev/spec-hash": "x" } }));
    let words = ["palladion.dev/spec-hash", "rack a"];
    refused(&cluster, Reason::InvalidSpec, &words);
}

#[test]
fn environment_variables_are_neither_ours_nor_twice() {
    let with = |names: &[&str]| {
        let env: Vec<Value> = names.iter().map(|n| json!({ "name": n })).collect();
        good().spec(|spec| spec.env = serde_json::from_value(json!(env)).unwrap())
    };
    assert!(with(&["ONE", "TWO"]).validate().is_ok());
    for name in ["POD_NAME", "MEMORY_LIMIT", "KUBERNETES_SERVICE_HOST"] {
        let words = [name, "is reserved"];
        refused(&with(&[name]), Reason::InvalidSpec, &words);
    }
    let words = ["ONE", "twice", "remove one"];
    refused(&with(&["ONE", "ONE"]), Reason::InvalidSpec, &words);
}

#[test]
fn the_jmx_exporter_needs_its_key() {
    let with = |data| {
        good()
            .first_rack_with(&json!({ "jmxExporterConfigMapName": "metrics" }))
            .config_map("metrics", data)
    };
    let words = ["ConfigMap metrics", "jmx_exporter_config.yaml", "add it"];
    refused(&with(json!({ "x": "y" })), Reason::ConfigMapInvalid, &words);
    let broken = with(json!({ "jmx_exporter_config.yaml": "rules: [" }));
    let words = ["ConfigMap metrics", "cannot be parsed"];
    refused(&broken, Reason::ConfigMapInvalid, &words);
    let good = with(json!({ "jmx_exporter_config.yaml": "rules: []" }));
    let (_, rack) = good.valid_rack();
    assert_eq!(rack.jmx_exporter.as_deref(), Some("rules: []"));
    assert!(rack.server.jmx_exporter);
}

#[test]
fn authentication_is_set_in_one_place() {
    let auth = Auth { mode: AuthMode::Password, superuser_secret_name: None };
    let with = |key: &str| {
        let config = [(key.to_string(), json!("Other"))].into();
        good().spec(|spec| (spec.config, spec.auth) = (config, Some(auth.clone())))
    };
    for key in ["authenticator", "authorizer", "role_manager"] {
        refused(&with(key), Reason::InvalidSpec, &[key, "`auth`", "remove it"]);
    }
    let by_hand = with("client_encryption_options");
    refused(&by_hand, Reason::InvalidSpec, &["client_encryption_options", "`tls.client`"]);
    let named = good()
        .spec(|spec| spec.auth = Some(auth.clone()))
        .first_rack_with(&json!({ "configMapName": "ours" }))
        .config_map("ours", json!({ "cassandra.yaml": "authorizer: Other" }));
    refused(&named, Reason::ConfigMapInvalid, &["authorizer", "ConfigMap ours of rack a"]);
    let scylla = good().spec(|spec| {
        (spec.mode, spec.version) = (Mode::Scylla, "6.2.0".into());
        spec.auth = Some(auth.clone());
    });
    refused(&scylla, Reason::InvalidSpec, &["`auth` applies to Cassandra"]);
    let scylla = good().spec(|spec| {
        (spec.mode, spec.version) = (Mode::Scylla, "6.2.0".into());
        spec.tls = Some(Tls::default());
    });
    refused(&scylla, Reason::InvalidSpec, &["`tls` applies to Cassandra"]);
    let (valid, rack) = good().spec(|spec| spec.auth = Some(auth.clone())).valid_rack();
    assert_eq!(valid.superuser_secret, "demo-superuser");
    assert_eq!(rack.server.auth, Some(AuthMode::Password));
}

#[test]
fn tls_for_clients_needs_certificates_and_a_server_that_reads_them() {
    let with = |certificates: Option<&str>, version: &str, config: Value| {
        let certificates = certificates
            .map(|name| CertificateSource { operator: None, secret_name: Some(name.into()) });
        good().spec(|spec| {
            let client = Some(ClientTls { mode: ClientTlsMode::Require, certificates });
            spec.tls = Some(Tls { client, ..Tls::default() });
            spec.version = version.into();
            spec.config = serde_json::from_value(config).unwrap();
        })
    };
    let none = with(None, "5.0.5", json!({}));
    refused(&none, Reason::InvalidSpec, &["set `tls.client.certificates.operator: {}` or"]);
    let old = with(Some("t"), "4.0.18", json!({}));
    refused(&old, Reason::InvalidSpec, &["4.1 or newer"]);
    let twice = with(Some("t"), "5.0.5", json!({ "client_encryption_options": {} }));
    refused(&twice, Reason::InvalidSpec, &["client_encryption_options", "`tls.client`"]);
    let (valid, rack) = with(Some("t"), "5.0.5", json!({})).valid_rack();
    assert_eq!(valid.client_tls_secret.as_deref(), Some("t"));
    assert_eq!(rack.server.client_tls, Some(ClientTlsMode::Require));
    assert_eq!((valid.client_certificates, rack.server.client_certificates), (None, None));
}

#[test]
fn certificates_have_one_source_and_the_operator_signs_only_where_tls_is_on() {
    let with = |mode, secret: Option<&str>| {
        good().spec(|spec| {
            let (operator, secret_name) = (Some(SignedByOperator {}), secret.map(str::to_string));
            let certificates = Some(CertificateSource { operator, secret_name });
            spec.tls =
                Some(Tls { client: Some(ClientTls { mode, certificates }), ..Tls::default() });
        })
    };
    let two = with(ClientTlsMode::Require, Some("t"));
    refused(&two, Reason::InvalidSpec, &["two sources"]);
    let (valid, rack) = with(ClientTlsMode::Optional, None).valid_rack();
    let by_operator = Some(ClientCertificates::Operator);
    assert_eq!(valid.client_certificates, by_operator);
    assert_eq!(rack.server.client_certificates, by_operator);
    let (valid, rack) = with(ClientTlsMode::Off, None).valid_rack();
    assert_eq!((valid.client_certificates, rack.server.client_certificates), (None, None));
}

#[test]
fn ranges_of_addresses_are_read_before_the_api_server_refuses_them() {
    let clients = |block: Value| {
        let network = json!({ "policy": "Managed", "clientsFrom": [{ "ipBlock": block }] });
        good().spec(|spec| spec.network = serde_json::from_value(network).unwrap())
    };
    for (cidr, except) in [
        ("10.0.0.0/8", vec!["10.1.0.0/16", "10.2.3.4/32"]),
        ("0.0.0.0/0", vec!["10.0.0.0/8"]),
        ("fd00::/8", vec!["fd00:1::/32"]),
        ("::/0", vec!["fd00::/8"]),
    ] {
        clients(json!({ "cidr": cidr, "except": except })).valid();
    }
    for (cidr, except, wrong) in [
        ("10.0.0.0", vec![], "10.0.0.0"),
        ("10.0.0.0/33", vec![], "10.0.0.0/33"),
        ("10.0.0/8", vec![], "10.0.0/8"),
        ("orders.example.com/8", vec![], "orders.example.com/8"),
        ("10.0.0.0/8", vec!["11.0.0.0/16"], "11.0.0.0/16"),
        ("10.0.0.0/8", vec!["10.0.0.0/8"], "10.0.0.0/8"),
        ("10.0.0.0/8", vec!["fd00::/16"], "fd00::/16"),
    ] {
        let cluster = clients(json!({ "cidr": cidr, "except": except }));
        refused(&cluster, Reason::InvalidSpec, &["network.clientsFrom", wrong]);
    }
}

#[test]
fn load_balancers_are_open_to_ranges_that_are_ranges() {
    let with = |broadcast: Value| {
        let network = json!({ "broadcast": broadcast });
        good().spec(|spec| spec.network = serde_json::from_value(network).unwrap())
    };
    let balanced =
        |ranges: &[&str]| with(json!({ "clients": "LoadBalancer", "sourceRanges": ranges }));
    let valid = balanced(&["203.0.113.0/24", "2001:db8::/32", "0.0.0.0/0"]).valid();
    let ValidClients::LoadBalancer { source_ranges } = valid.clients else { panic!() };
    assert_eq!(source_ranges, ["203.0.113.0/24", "2001:db8::/32", "0.0.0.0/0"]);
    assert_eq!(with(json!({})).valid().clients, ValidClients::ServiceClusterIp);
    assert_eq!(with(json!({ "clients": "PodIP" })).valid().clients, ValidClients::PodIp);
    for wrong in ["203.0.113.0", "203.0.113.0/33", "203.0.113/24", "office.example.com/24", ""] {
        let cluster = balanced(&["198.51.100.0/24", wrong]);
        refused(&cluster, Reason::InvalidSpec, &["network.broadcast.sourceRanges", wrong]);
    }
    let words = ["`network.broadcast.clients: LoadBalancer`", "need each other"];
    for broadcast in [
        json!({ "clients": "LoadBalancer" }),
        json!({ "clients": "PodIP", "sourceRanges": ["203.0.113.0/24"] }),
        json!({ "sourceRanges": ["203.0.113.0/24"] }),
    ] {
        refused(&with(broadcast), Reason::InvalidSpec, &words);
    }
}

#[test]
fn what_no_pod_can_have_beside_the_server_is_named() {
    let with = |sidecars: Value| {
        good().spec(|spec| spec.sidecars = serde_json::from_value(sidecars).unwrap())
    };
    let sidecar = |more: &Value| {
        let mut sidecar = json!({ "name": "prober", "image": "prober:1" });
        sidecar.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        with(json!([sidecar]))
    };
    let port = |name: &str, port: i32| json!({ "ports": [{ "name": name, "port": port }] });
    for (cluster, words) in [
        (sidecar(&json!({ "name": "install" })), ["install", "name of another container"]),
        (sidecar(&json!({ "name": "Prober" })), ["Prober", "name is not valid"]),
        (sidecar(&port("cql", 9042)), ["prober", "port 9042"]),
        (sidecar(&port("jolokia", 8778)), ["prober", "port 8778"]),
        (sidecar(&port("a--b", 9500)), ["prober", "a--b"]),
        (sidecar(&json!({ "resources": { "limits": { "cpu": "many" } } })), ["prober", "many"]),
        (
            sidecar(&json!({ "resources": { "limits": { "cpu": 1 }, "requests": { "cpu": 2 } } })),
            ["prober", "more than the limit of 1"],
        ),
    ] {
        refused(&cluster, Reason::InvalidSpec, &words);
    }
    let claim = json!({ "storage": { "volumeClaimTemplates": [{
        "metadata": { "name": "sidecar-prober" }, "spec": {},
    }] } });
    let named = sidecar(&json!({})).first_rack_with(&claim);
    refused(&named, Reason::InvalidSpec, &["sidecar-prober", "reserved"]);
    good().first_rack_with(&claim).valid();
}

#[test]
fn an_audit_log_is_of_cassandra_and_said_in_one_place() {
    let with = |audit: Value| {
        let audit: Audit = serde_json::from_value(audit).unwrap();
        good().spec(|spec| spec.audit = Some(audit))
    };
    let all = json!({ "categories": ["AUTH", "DDL"], "excludedKeyspaces": ["metrics"] });
    let (_, rack) = with(all.clone()).valid_rack();
    assert_eq!(serde_json::to_value(rack.server.audit).unwrap(), all);
    let words = ["AUTH is listed twice"];
    refused(&with(json!({ "categories": ["AUTH", "AUTH"] })), Reason::InvalidSpec, &words);
    for name in ["a,b", " a", ""] {
        let words = ["is not the name of a keyspace"];
        refused(&with(json!({ "excludedKeyspaces": [name] })), Reason::InvalidSpec, &words);
    }
    let by_hand = with(json!({})).spec(|spec| {
        spec.config = [("audit_logging_options".into(), json!({ "enabled": true }))].into();
    });
    refused(&by_hand, Reason::InvalidSpec, &["audit_logging_options", "`audit`"]);
    let of_scylla = with(json!({})).spec(|spec| {
        spec.mode = Mode::Scylla;
        spec.version = "6.2.1".into();
    });
    refused(&of_scylla, Reason::InvalidSpec, &["`audit` applies to Cassandra only"]);
}
