//! Objects that nobody can read or compute: their own status says so, and no other object of
//! their kind is held up.

use palladion_api::Reason;
use palladion_e2e::bed;
use palladion_e2e::stack::{PATIENCE, Services, document, example};
use palladion_e2e::wait_for;
use serde_json::{Value, json};

/// More than JSON libraries go down, and far fewer than an API server stores.
const LEVELS: usize = 150;

/// Two values that are doubled so often that comparing them ends in some centuries.
const WITHOUT_END: &str = "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(60) %}\
    {% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}";
/// Lists in lists, deeper than the stack of a main thread goes.
const DEEP: &str = "{% set ns = namespace(x=1) %}{% for i in range(500) %}\
    {% set ns.x = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ns.x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] %}\
    {% endfor %}{{ ns.x | string | length }}";

/// How often containers of the operator were started again, in all its pods.
fn restarts() -> u32 {
    let what = "get pods -n palladion-system -l app.kubernetes.io/name=palladion-operator \
        -o jsonpath={.items[*].status.containerStatuses[0].restartCount}";
    let counts = bed().kubectl(what).expect("the operator's pods");
    let counts: Vec<u32> =
        counts.split_whitespace().map(|count| count.parse().expect("a number")).collect();
    assert!(!counts.is_empty(), "nobody was counted");
    counts.iter().sum()
}

pub(super) fn without_end() {
    let services = Services::start("stack-beside", &example("component"));
    services.wait_ready("component", "web");
    let before = restarts();
    let mut object: Value = serde_yaml::from_str(&document(&example("component"), "  name: store"))
        .expect("a Component");
    let mut with = |name: &str, template: &str| {
        object["metadata"]["name"] = json!(name);
        object["spec"]["config"] = json!({ "files": [{ "name": "conf", "template": template }] });
        object.to_string()
    };
    let (endless, deep) = (with("endless", WITHOUT_END), with("deep", DEEP));
    let foreign = Services::start("stack-endless", &endless);
    foreign.apply(&deep);
    foreign.wait(("component", "endless"), "what is wrong with it to be said", |o| {
        let all = o["status"]["conditions"].as_array().into_iter().flatten();
        let mut timed_out = all.filter(|c| c["reason"] == Reason::DecisionTimeout.as_str());
        timed_out.any(|c| c["message"].as_str().is_some_and(|m| m.contains("simplify its spec")))
    });
    services.patch("component", "store", &json!({ "spec": { "replicas": 2 } }));
    services.wait(("component", "store"), "a second store", |o| {
        o["status"]["service"]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 2)
    });
    foreign.wait_ready("component", "deep");
    assert_eq!(restarts(), before, "nobody's decision has ended the operator");
    // Corrected by the manifest alone, while the thread still computes.
    foreign.apply(&with("endless", "nothing\n"));
    foreign.wait_ready("component", "endless");
    // What it computes is lost with the process.
    let restart = "rollout restart deployment/palladion-operator -n palladion-system";
    bed().kubectl(restart).expect("restarted");
    let waits = "rollout status deployment/palladion-operator -n palladion-system --timeout=120s";
    bed().kubectl(waits).expect("another operator");
    foreign.end();
    services.end();
}

pub(super) fn stops_nobody() {
    let deep = (0..LEVELS).fold(json!("end"), |inner, _| json!({ "a": inner }));
    let text = document(&example("component"), "  name: store");
    let mut object: Value = serde_yaml::from_str(&text).expect("a Component");
    object["metadata"]["name"] = json!("deep");
    object["spec"]["config"] = json!({ "parameters": { "deep": deep },
        "files": [{ "name": "conf", "template": "nothing\n" }] });
    let foreign = Services::start("stack-deep", &object.to_string());
    let services = Services::start("stack-beside", &example("component"));
    services.wait_ready("component", "web");
    // By kubectl, which reads as deep as the API server stores.
    let words = "get component deep -n stack-deep -o jsonpath={.status.conditions[*].message}";
    wait_for("what is wrong with it to be said", PATIENCE, || {
        let said = bed().kubectl(words)?;
        Ok(said.contains("nested more than 100 levels deep").then_some(()))
    })
    .expect("its own status");
    // A new operator begins with a list of both.
    let restart = "rollout restart deployment/palladion-operator -n palladion-system";
    bed().kubectl(restart).expect("restarted");
    let waits = "rollout status deployment/palladion-operator -n palladion-system --timeout=120s";
    bed().kubectl(waits).expect("another operator");
    services.patch("component", "store", &json!({ "spec": { "replicas": 2 } }));
    services.wait(("component", "store"), "a second store", |o| {
        o["status"]["service"]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 2)
    });
    // Corrected by the manifest alone.
    object["spec"]["config"]["parameters"] = json!({ "deep": "end" });
    foreign.apply(&object.to_string());
    foreign.wait_ready("component", "deep");
    foreign.end();
    services.end();
}
