//! Probes by HTTP and gRPC, of several containers; all that pass.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::wait_for;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use serde_json::{Value, json};

use super::active::{fail_over, one_active};

pub fn story() -> Story {
    Story::named("zoned-probes")
        .step("a pod is active by HTTP and gRPC of two containers", http_and_grpc)
        .into()
}

/// Let a container answer well, or not.
fn lead(pair: &Zoned, pod: &str, container: &str, verb: &str) {
    let words =
        ["exec", "-n", pair.namespace, pod, "-c", container, "--", "busybox", verb, "/tmp/lead"];
    bed().cluster.kubectl(&words).expect("exec");
}

fn http_and_grpc() {
    let pair = Zoned::start("zoned-probes", "pair", &example("http-and-grpc-probes"));
    let first = one_active(&pair);
    lead(&pair, &first, "web", "rm");
    let took = fail_over(&pair, &first, Duration::from_secs(2));
    eprintln!("fail-over after HTTP 404: {took:?} (period 1 s, threshold 2)");
    let second = one_active(&pair);
    lead(&pair, &first, "web", "touch");
    // Ready to take over again when its probe has passed.
    std::thread::sleep(Duration::from_secs(2));
    lead(&pair, &second, "rpc", "rm");
    let took = fail_over(&pair, &second, Duration::from_secs(2));
    eprintln!("fail-over after gRPC NOT_SERVING: {took:?} (period 1 s, threshold 2)");
    assert_eq!(one_active(&pair), first);

    // A template that Kubernetes refuses holds up no fail-over.
    lead(&pair, &second, "rpc", "touch");
    let volumes = |volumes: Value| {
        let pod = json!({ "spec": { "volumes": volumes } });
        json!({ "spec": { "template": { "spec": { "template": pod } } } })
    };
    pair.patch(&volumes(json!([{ "name": "v", "emptyDirr": {} }])));
    pair.wait("the mistake to be named", PATIENCE, |o| {
        let status = o["status"].to_string();
        status.contains(Reason::UpdateError.as_str()) && status.contains("emptyDirr")
    });
    lead(&pair, &first, "web", "rm");
    let took = fail_over(&pair, &first, Duration::from_secs(2));
    eprintln!("fail-over while the template is refused: {took:?}");
    assert_eq!(one_active(&pair), second);
    pair.patch(&volumes(Value::Null));
    pair.wait_ready();

    // Nobody passes: nobody is active, and why is said.
    lead(&pair, &second, "rpc", "rm");
    let told = pair.wait("no pod to be active", PATIENCE, |o| {
        o["status"].to_string().contains(Reason::NoActivePod.as_str())
    });
    let words = told["status"]["conditions"].to_string();
    assert!(words.contains("HTTP status 404"), "{words}");
    assert!(words.contains("NOT_SERVING"), "{words}");

    lead(&pair, &first, "web", "touch");
    lead(&pair, &second, "rpc", "touch");
    pair.patch(&json!({ "spec": { "activePassiveMode": "AllPassing" } }));
    wait_for("both to be active", PATIENCE, || {
        Ok((pair.active() == ["pair-0", "pair-1"]).then_some(()))
    })
    .expect("both");
    pair.end();
}
