//! What objects are built for a spec.

use super::{member, member_service, release, service_name, stateful_set};
use crate::facts::Facts;
use crate::fixtures::an_ensemble;
use crate::validate::{Valid, validated};
use palladion_api::labels::{AGENT_IMAGE, GONE, POSTPONED_JOIN, SPEC_HASH};
use palladion_api::zookeeper::ServerId;
use palladion_plan::members::spec::{AgentImage, ServiceSpec};
use serde_json::{Value, json};

fn valid(spec: &Value) -> Valid {
    let mut fixture = an_ensemble(3);
    fixture.spec = spec.clone();
    let snapshot = fixture.snapshot();
    let facts = Facts::read(&snapshot).expect("all is known");
    validated(&facts).expect("the spec is valid")
}

fn with_agent(valid: &Valid, image: &str) -> Valid {
    let agent_image = AgentImage::Default(image.to_string());
    let service = ServiceSpec { agent_image, ..valid.service.clone() };
    Valid { service, ..valid.clone() }
}

/// What a set that was made by this release says of its template.
fn standing(valid: &Valid) -> Value {
    let set = stateful_set(valid, 3, &release(valid, None));
    set["spec"]["template"]["metadata"]["annotations"].clone()
}

#[test]
fn an_upgrade_of_palladion_restarts_nothing() {
    let old = valid(&json!({ "version": "3.9.3" }));
    let annotations = standing(&old);
    let new = with_agent(&old, "agent:2");
    let kept = release(&new, Some(&annotations));
    assert_eq!(annotations[SPEC_HASH], json!(kept.hash));
    assert_eq!(kept.template["metadata"]["annotations"][AGENT_IMAGE], json!("agent:1"));
    // A change that people ask for brings the newer agent along.
    let changed = with_agent(&valid(&json!({ "version": "3.9.4" })), "agent:2");
    let fresh = release(&changed, Some(&annotations));
    assert_eq!(fresh.template["metadata"]["annotations"][AGENT_IMAGE], json!("agent:2"));
    // And so does one that is asked for by name.
    let named =
        json!({ "version": "3.9.3", "sidecarImage": { "repository": "agent", "version": "2" } });
    let named = release(&valid(&named), Some(&annotations));
    assert_ne!(annotations[SPEC_HASH], json!(named.hash));
}

#[test]
fn data_and_logs_are_on_the_one_volume_and_nothing_else_is_written() {
    let valid = valid(&json!({ "version": "3.9.3" }));
    let template = release(&valid, None).template;
    let container = &template["spec"]["containers"][0];
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], json!(true));
    let mounts = container["volumeMounts"].as_array().expect("a list");
    let on_volume: Vec<&str> = mounts
        .iter()
        .filter(|m| m["name"] == "data")
        .filter_map(|m| m["mountPath"].as_str())
        .collect();
    assert_eq!(on_volume, ["/palladion", "/data", "/datalog"]);
    assert_eq!(container["image"], json!("zookeeper:3.9.3"));
}

#[test]
fn replicas_are_stated_and_claims_are_never_deleted_with_the_set() {
    let valid = valid(&json!({ "version": "3.9.3" }));
    let set = stateful_set(&valid, 5, &release(&valid, None));
    assert_eq!(set["spec"]["replicas"], json!(5));
    let kept = json!({ "whenDeleted": "Retain", "whenScaled": "Retain" });
    assert_eq!(set["spec"]["persistentVolumeClaimRetentionPolicy"], kept);
    assert_eq!(set["spec"]["updateStrategy"]["type"], json!("OnDelete"));
}

#[test]
fn a_reserved_address_leads_to_no_pod() {
    let valid = valid(&json!({ "version": "3.9.3" }));
    let member = "demo-zk-1".into();
    assert_eq!(service_name(&member, None), "demo-zk-1");
    let name = service_name(&member, Some(ServerId::new(4)));
    assert_eq!(name, "demo-zk-1-s4");
    let selector = |reserved| {
        let service = member_service(&valid, &member, &name, None, reserved);
        service["spec"]["selector"].clone()
    };
    assert_eq!(selector(false)["statefulset.kubernetes.io/pod-name"], json!("demo-zk-1"));
    assert_ne!(selector(true), selector(false));
}

/// The policy of the chart under which people change members.
const POLICY: &str =
    include_str!("../../../../charts/palladion/templates/policy-service-members.yaml");

/// Whoever takes a label off hides a member from the operator; the annotations say whose it
/// is, and that it has left.
#[test]
fn only_the_operator_writes_what_it_identifies_a_member_by() {
    let valid = valid(&json!({ "version": "3.9.3" }));
    let object = member(&valid, &"demo-zk-1".into(), &Default::default());
    for (field, more) in [("labels", vec![]), ("annotations", vec![GONE, POSTPONED_JOIN])] {
        let all = format!("].all(key, object.metadata.?{field}[?key]");
        let list = POLICY.split(&all).next().and_then(|before| before.rsplit('[').next());
        let mut kept: Vec<&str> =
            list.expect("a list").split(',').map(|key| key.trim().trim_matches('\'')).collect();
        // Nodes of RabbitMQ have a label, and a record, of their own.
        let of_nodes = [palladion_api::labels::RABBITMQ, "palladion.dev/yet-to-grow"];
        kept.retain(|key| !of_nodes.contains(key));
        let written = object["metadata"][field].as_object().expect("the operator writes some");
        let mut written: Vec<&str> = written.keys().map(String::as_str).chain(more).collect();
        written.sort_unstable();
        assert_eq!(kept, written, "{field}");
    }
}
