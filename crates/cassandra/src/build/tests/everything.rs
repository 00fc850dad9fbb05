//! What holds for everything that is built.

use super::{a_member, full, plain, scylla, set_of, with_auth, with_sidecars};
use crate::build::*;
use crate::fixtures::ClusterFixture;
use palladion_api::labels;
use serde_json::{Value, json};

/// Everything that is built, for rules that hold for all of it.
fn all(cluster: &ClusterFixture) -> Vec<Value> {
    let (valid, rack) = cluster.valid_rack();
    let mut all = member_account(&valid);
    all.extend([
        client_service(&valid),
        disruption_budget(&valid),
        network_policy(&valid, &valid.network.clone().unwrap_or_default()),
        config_map(&valid, &rack, &rendered(&valid, &rack, &[])),
        stateful_set(&valid, &rack, 3, &rendered(&valid, &rack, &[])),
        member_service(&valid, &rack, &"demo-dc1-a-0".into(), None, true),
        load_balancer(&valid, &rack, &"demo-dc1-a-0".into(), &["203.0.113.0/24".into()]),
        a_member(&valid, &rack, "demo-dc1-a-0"),
    ]);
    all
}

#[test]
fn every_object_is_found_by_one_selector_and_goes_with_its_cluster() {
    for object in all(&full()).iter().chain(&all(&scylla())) {
        let metadata = &object["metadata"];
        let what = format!("{} {}", object["kind"], metadata["name"]);
        assert_eq!(metadata["labels"][labels::MANAGED_BY], labels::PALLADION, "{what}");
        assert_eq!(metadata["labels"][labels::CLUSTER], "demo", "{what}");
        assert_eq!(metadata["namespace"], "databases", "{what}");
        let owner = &metadata["ownerReferences"][0];
        assert_eq!(owner["uid"], "11111111-2222-3333-4444-555555555555", "{what}");
        assert_eq!(owner["controller"], true, "{what}");
    }
}

#[test]
fn claims_and_pods_are_found_by_the_same_selector() {
    let set = set_of(&full());
    for labelled in ["/spec/template", "/spec/volumeClaimTemplates/0"] {
        let found = &set.pointer(labelled).unwrap()["metadata"]["labels"];
        assert_eq!(found[labels::MANAGED_BY], labels::PALLADION, "{labelled}");
        for (key, value) in set["spec"]["selector"]["matchLabels"].as_object().unwrap() {
            assert_eq!(&found[key], value, "{labelled}");
        }
    }
}

/// Fields that the API server does not store: stated, they would look like a
/// difference at every comparison.
fn unstored(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Null => found.push(path.to_string()),
        Value::Bool(false) if !path.ends_with("allowPrivilegeEscalation") => {
            let kept = ["/enableServiceLinks", "/automountServiceAccountToken"];
            if !kept.iter().any(|field| path.ends_with(field)) {
                found.push(path.to_string());
            }
        }
        Value::String(text) if text.is_empty() && !path.contains("/labels/") => {
            found.push(path.to_string());
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                unstored(item, &format!("{path}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                unstored(field, &format!("{path}/{key}"), found);
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn nothing_is_stated_that_would_not_be_stored() {
    for cluster in [full(), plain(), scylla(), with_auth(), with_sidecars()] {
        for object in all(&cluster) {
            let mut found = Vec::new();
            unstored(&object, "", &mut found);
            assert_eq!(found, Vec::<String>::new(), "{}", object["kind"]);
        }
    }
}

#[test]
fn a_pod_mounts_the_config_map_that_is_built() {
    let (valid, rack) = full().valid_rack();
    let volumes = &stateful_set(&valid, &rack, 3, &rendered(&valid, &rack, &[]))["spec"]["template"]
        ["spec"]["volumes"];
    let mounted = volumes.as_array().unwrap().iter().find(|v| v["name"] == "config");
    assert_eq!(
        mounted.unwrap()["configMap"]["name"],
        config_map(&valid, &rack, &rendered(&valid, &rack, &[]))["metadata"]["name"]
    );
}

/// Secrets of servers that ask who logs in, and of no others: their pods would
/// be restarted for it.
#[test]
fn only_servers_that_ask_mount_secrets() {
    let mounts = |cluster: &ClusterFixture| {
        let spec = set_of(cluster)["spec"]["template"]["spec"].clone();
        let names = |list: &Value| {
            let all = list.as_array().unwrap();
            all.iter().filter(|v| v["name"] == "secrets").count()
        };
        (names(&spec["volumes"]), names(&spec["containers"][0]["volumeMounts"]))
    };
    let by_hand = |class: &str| {
        let class = Value::from(class);
        plain().spec(|spec| spec.config = [("authenticator".into(), class)].into())
    };
    assert_eq!(mounts(&plain()), (0, 0));
    assert_eq!(mounts(&with_auth()), (1, 1));
    assert_eq!(mounts(&by_hand("PasswordAuthenticator")), (1, 1));
    assert_eq!(mounts(&by_hand("AllowAllAuthenticator")), (0, 0));
    let tls = |optional| {
        let options = json!({ "enabled": true, "optional": optional });
        plain().spec(|spec| spec.config = [("client_encryption_options".into(), options)].into())
    };
    assert_eq!(mounts(&tls(false)), (1, 1));
    assert_eq!(mounts(&tls(true)), (0, 0));
}

#[test]
fn with_requests_as_limits_a_pod_is_of_class_guaranteed() {
    let spec = &set_of(&full())["spec"]["template"]["spec"];
    let containers = ["initContainers", "containers"].map(|list| spec[list].as_array().unwrap());
    for container in containers.into_iter().flatten() {
        let resources = &container["resources"];
        assert_eq!(resources["limits"], resources["requests"], "{}", container["name"]);
        assert_eq!(resources["limits"]["memory"], "8Gi");
    }
}

/// The network of a pod cannot be divided; all else is.
#[test]
fn sidecars_share_neither_volume_nor_user_nor_token_with_the_server() {
    let spec = &set_of(&with_sidecars())["spec"]["template"]["spec"];
    assert_eq!(spec["automountServiceAccountToken"], false);
    let containers = spec["containers"].as_array().unwrap();
    let (server, sidecars) = containers.split_first().unwrap();
    assert_eq!((&server["name"], sidecars.len()), (&json!("cassandra"), 2));
    let mounts = |container: &Value| -> Vec<Value> {
        let all = container["volumeMounts"].as_array().unwrap().iter();
        all.map(|mount| mount["name"].clone()).collect()
    };
    let of_the_server = mounts(server);
    assert!(of_the_server.contains(&json!("agent-token")), "{of_the_server:?}");
    let mut seen = of_the_server;
    for sidecar in sidecars {
        let own = mounts(sidecar);
        assert_eq!(own.len(), 1, "{own:?}");
        assert!(!seen.contains(&own[0]), "{own:?}");
        let volumes = spec["volumes"].as_array().unwrap();
        let volume = volumes.iter().find(|volume| volume["name"] == own[0]).unwrap();
        assert_eq!(volume["emptyDir"], json!({}), "{volume}");
        seen.extend(own);
        let security = &sidecar["securityContext"];
        assert_ne!(security["runAsUser"], spec["securityContext"]["runAsUser"]);
        assert_eq!(security["capabilities"], server["securityContext"]["capabilities"]);
        assert_eq!(security["readOnlyRootFilesystem"], true);
        assert_eq!(security["allowPrivilegeEscalation"], false);
    }
}

#[test]
fn jmx_asks_for_a_password_where_somebody_shares_its_address() {
    let config = |cluster: &ClusterFixture| {
        let (valid, rack) = cluster.valid_rack();
        let map = config_map(&valid, &rack, &rendered(&valid, &rack, &[]));
        let text = map["data"]["server.json"].as_str().unwrap().to_string();
        serde_json::from_str::<Value>(&text).unwrap()["jmx"].clone()
    };
    assert_eq!(config(&with_sidecars()), "Password");
    assert_eq!(config(&full()), Value::Null, "others are rendered as before");
}
