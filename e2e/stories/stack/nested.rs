//! An object that is nested more deeply than anybody reads: its own status says so, and no other
//! object of its kind is held up.

use palladion_e2e::bed;
use palladion_e2e::stack::{PATIENCE, Services, document, example};
use palladion_e2e::wait_for;
use serde_json::{Value, json};

/// More than JSON libraries go down, and far fewer than an API server stores.
const LEVELS: usize = 150;

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
