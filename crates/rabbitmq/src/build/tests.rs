//! What objects are built for a spec.

use super::{credentials, generated, member, release, stateful_set};
use crate::facts::Facts;
use crate::fixtures::a_cluster;
use crate::validate::{Valid, validated};
use palladion_api::labels::{AGENT_IMAGE, GONE, SPEC_HASH};
use palladion_plan::Generated;
use palladion_plan::members::spec::{AgentImage, ServiceSpec};
use serde_json::{Value, json};

fn valid(spec: &Value) -> Valid {
    let mut fixture = a_cluster(3);
    fixture.spec = spec.clone();
    let snapshot = fixture.snapshot();
    let facts = Facts::read(&snapshot).expect("all is known");
    validated(&facts).expect("the spec is valid")
}

#[test]
fn an_upgrade_of_palladion_restarts_nothing() {
    let old = valid(&json!({ "version": "3.10.8" }));
    let set = stateful_set(&old, 3, &release(&old, None));
    let annotations = set["spec"]["template"]["metadata"]["annotations"].clone();
    let agent_image = AgentImage::Default("agent:2".to_string());
    let service = ServiceSpec { agent_image, ..old.service.clone() };
    let kept = release(&Valid { service, ..old }, Some(&annotations));
    assert_eq!(annotations[SPEC_HASH], json!(kept.hash));
    assert_eq!(kept.template["metadata"]["annotations"][AGENT_IMAGE], json!("agent:1"));
}

#[test]
fn all_that_a_node_writes_is_on_its_one_volume() {
    let valid = valid(&json!({ "version": "3.10.8" }));
    let template = release(&valid, None).template;
    let container = &template["spec"]["containers"][0];
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], json!(true));
    let mounts = container["volumeMounts"].as_array().expect("a list");
    let on_volume: Vec<&str> = mounts
        .iter()
        .filter(|m| m["name"] == "data")
        .filter_map(|m| m["mountPath"].as_str())
        .collect();
    assert_eq!(on_volume, ["/palladion", "/var/lib/rabbitmq"]);
    assert_eq!(container["image"], json!("rabbitmq:3.10.8"));
}

/// A member that has joined starts by itself, whatever Secret is missing.
#[test]
fn secrets_are_files_and_optional_and_never_in_the_environment() {
    let valid = valid(&json!({ "version": "3.10.8", "definitionsSecretName": "queues" }));
    let template = release(&valid, None).template;
    let volumes = template["spec"]["volumes"].as_array().expect("a list");
    let secrets = volumes.iter().find(|v| v["name"] == "secrets").expect("a volume");
    let sources = secrets["projected"]["sources"].as_array().expect("a list");
    let names: Vec<&str> = sources.iter().filter_map(|s| s["secret"]["name"].as_str()).collect();
    assert_eq!(names, ["demo-rmq", "queues"]);
    assert!(sources.iter().all(|s| s["secret"]["optional"] == true));
    let paths: Vec<&str> = sources
        .iter()
        .flat_map(|s| s["secret"]["items"].as_array().into_iter().flatten())
        .filter_map(|item| item["path"].as_str())
        .collect();
    let last = ["credentials/username", "credentials/password", "definitions/definitions.json"];
    assert_eq!(&paths[2..], last);
    let env = template["spec"]["containers"][0]["env"].to_string();
    assert!(!env.contains("secretKeyRef"));
}

/// What the plan has of the Secret is nothing that anybody could log in with.
#[test]
fn nothing_secret_is_in_the_plan() {
    let valid = valid(&json!({ "version": "3.10.8" }));
    let (key, object) = credentials(&valid);
    assert_eq!(key.name, "demo-rmq");
    let said = object["stringData"].as_object().expect("a map");
    assert_eq!(said.keys().collect::<Vec<_>>(), ["username"]);
    assert!(object["metadata"]["ownerReferences"].is_null(), "it outlives the cluster object");
    let filled = Generated::filled(&object, &generated(), |digits| "f".repeat(digits));
    let keys: Vec<&String> = filled["stringData"].as_object().expect("a map").keys().collect();
    assert_eq!(keys, ["agent-password", "erlang-cookie", "password", "username"]);
    assert!(generated().iter().all(|value| value.digits >= 40));
}

/// The policies of the chart under which people change members, and agents write.
const POLICY: &str =
    include_str!("../../../../charts/palladion/templates/policy-service-members.yaml");
const STATUS: &str = include_str!("../../../../charts/palladion/templates/policy-status.yaml");

/// Whoever takes a label off hides a member from the operator; the annotations say whose it
/// is, and that it has left.
#[test]
fn only_the_operator_writes_what_it_identifies_a_member_by() {
    let valid = valid(&json!({ "version": "3.10.8" }));
    let object = member(&valid, &"demo-rmq-1".into(), &Default::default());
    for (field, more) in [("labels", vec![]), ("annotations", vec![GONE])] {
        let written = object["metadata"][field].as_object().expect("the operator writes some");
        for key in written.keys().map(String::as_str).chain(more) {
            let all = format!("].all(key, object.metadata.?{field}[?key]");
            let list = POLICY.split(&all).next().and_then(|before| before.rsplit('[').next());
            assert!(list.expect("a list").contains(&format!("'{key}'")), "{field} {key}");
        }
    }
}

/// Agents write as the account of their set.
#[test]
fn the_account_of_the_pods_is_the_one_that_may_write_their_status() {
    let valid = valid(&json!({ "version": "3.10.8" }));
    let pod = release(&valid, None).template;
    assert_eq!(pod["spec"]["serviceAccountName"], json!("demo-rmq-member"));
    assert!(STATUS.contains("oldObject.spec.system == 'RabbitMQ' ? '-rmq' : '-zk'"));
}
