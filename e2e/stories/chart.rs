//! The chart: it is whole, it takes the values it names and no others, and its
//! operator may run where the strictest pod security is demanded.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use palladion_e2e::bed;
use palladion_e2e::bed::OPERATOR_NAMESPACE;
use palladion_e2e::story::Story;
use palladion_testbed::cache::Cache;
use palladion_testbed::parts;
use palladion_testbed::progress::Lines;
use serde::Deserialize as _;
use serde_json::Value;

pub fn story() -> Story {
    Story::named("chart")
        .nodes(1)
        .step("the chart is whole", whole)
        .step("a value that is misspelled is refused", misspelled_value)
        .step("named namespaces bound the operator's rights", named_namespaces)
        .step("policies bind nobody outside of named namespaces", policies_of_named_namespaces)
        .step("definitions outlive the chart and policies can be turned off", definitions)
        .step("the operator's pod passes the restricted level", restricted_level)
        .into()
}

fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../charts/palladion")
}

fn helm(words: &[&str]) -> Output {
    static HELM: LazyLock<PathBuf> = LazyLock::new(|| {
        let cache = Cache::of_user().expect("a cache");
        parts::helm(&cache, &mut Lines).expect("helm should be built")
    });
    // Built from its module, Helm takes itself for one of an old Kubernetes.
    let version = ["--kube-version", "1.34.0"];
    Command::new(&*HELM).args(words).args(version).output().expect("helm should run")
}

/// The objects that the chart makes of these values.
fn objects(values: &[&str]) -> Vec<Value> {
    let chart = chart();
    let mut words = vec![
        "template",
        "palladion",
        chart.to_str().expect("a path in UTF-8"),
        "--namespace",
        OPERATOR_NAMESPACE,
    ];
    words.extend(values.iter().flat_map(|value| ["--set", value]));
    let output = helm(&words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    serde_yaml::Deserializer::from_str(&text)
        .map(|document| Value::deserialize(document).expect("YAML"))
        .filter(|object| object.is_object())
        .collect()
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|o| o["kind"] == kind).collect()
}

fn whole() {
    let output = helm(&["lint", "--strict", chart().to_str().expect("a path in UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let objects = objects(&[]);
    assert_eq!(of_kind(&objects, "Deployment").len(), 1);
    let definitions = of_kind(&objects, "CustomResourceDefinition").len();
    assert_eq!(definitions, palladion_api::crd::all().len(), "every kind is installed");
}

fn misspelled_value() {
    for value in ["replica=2", "image.tagg=x", "log.format=xml", "replicas=two"] {
        let output = helm(&[
            "template",
            "palladion",
            chart().to_str().expect("a path in UTF-8"),
            "--set",
            value,
        ]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("schema"), "{value}: {said}");
    }
}

fn named_namespaces() {
    let objects = objects(&["watchNamespaces={one,two}"]);
    let cluster_wide: Vec<&Value> = of_kind(&objects, "ClusterRoleBinding");
    assert!(
        cluster_wide.iter().all(|b| b["roleRef"]["name"] == "palladion-cluster"),
        "rights on rings stay in the named namespaces"
    );
    let rings = of_kind(&objects, "RoleBinding")
        .into_iter()
        .filter(|b| b["roleRef"]["name"] == "palladion-rings");
    let namespaces: Vec<&str> = rings.filter_map(|b| b["metadata"]["namespace"].as_str()).collect();
    assert_eq!(namespaces, ["one", "two"]);
    let arguments = of_kind(&objects, "Deployment")[0]
        .pointer("/spec/template/spec/containers/0/args")
        .expect("arguments")
        .to_string();
    assert!(
        arguments.contains("--watch-namespace=one") && arguments.contains("--watch-namespace=two"),
        "{arguments}"
    );
}

/// Another installation writes its members in its own namespaces.
fn policies_of_named_namespaces() {
    let selector = "/spec/matchResources/namespaceSelector/matchExpressions/0/values";
    let bindings = |values: &[&str]| {
        let objects = objects(values);
        let all = of_kind(&objects, "ValidatingAdmissionPolicyBinding").into_iter().cloned();
        all.collect::<Vec<Value>>()
    };
    let named = bindings(&["watchNamespaces={one,two}"]);
    assert_eq!(named.len(), 6);
    for binding in &named {
        assert_eq!(binding.pointer(selector), Some(&serde_json::json!(["one", "two"])));
    }
    let of_all = bindings(&[]);
    assert_eq!(of_all.len(), 6);
    assert!(of_all.iter().all(|binding| binding["spec"]["matchResources"].is_null()));
}

fn definitions() {
    for definition in of_kind(&objects(&[]), "CustomResourceDefinition") {
        assert_eq!(
            definition["metadata"]["annotations"]["helm.sh/resource-policy"], "keep",
            "{}",
            definition["metadata"]["name"]
        );
    }
    let bare = objects(&["crds.install=false", "policies.status=false", "policies.members=false"]);
    for kind in [
        "CustomResourceDefinition",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ] {
        assert!(of_kind(&bare, kind).is_empty(), "{kind} is left");
    }
}

fn restricted_level() {
    let bed = bed();
    let namespace = "chart-restricted";
    bed.fresh_namespace(namespace).expect("a namespace");
    bed.kubectl(&format!(
        "label namespace {namespace} pod-security.kubernetes.io/enforce=restricted"
    ))
    .expect("a label");
    let objects = objects(&[]);
    let mut pod = of_kind(&objects, "Deployment")[0]["spec"]["template"].clone();
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = "operator".into();
    pod["spec"]["serviceAccountName"] = "default".into();
    let words = ["create", "--dry-run=server", "-n", namespace, "-f", "-"];
    bed.cluster
        .kubectl_with_input(&words, &pod.to_string())
        .expect("the restricted level admits the operator's pod");
    pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = true.into();
    bed.cluster
        .kubectl_with_input(&words, &pod.to_string())
        .expect_err("the level should be enforced, or this test proves nothing");
    bed.remove_namespace(namespace).expect("the namespace to go");
}
