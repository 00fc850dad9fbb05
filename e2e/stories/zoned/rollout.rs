//! Versions, canaries, and pods that stand in the way.

use std::time::Instant;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};

pub fn story() -> Story {
    Story::named("zoned-rollout")
        .step("the old set serves until a pod of the new version is ready", versions)
        .step("a bad canary stops at one pod and a fix overtakes it", bad_canary)
        .step("Recreate never runs old and new side by side", recreate)
        .step("pods in order that never ran are mended by editing the spec alone", pods_in_order)
        .step("an update works though the old pods never ran", old_pods_never_ran)
        .into()
}

fn versions() {
    let manifest = example("versioned").replace("watchSeconds: 30", "watchSeconds: 10");
    let front = Zoned::start("zoned-version", "front", &manifest);
    assert_eq!(front.sets(), ["front-z0-v1", "front-z1-v1"]);
    let old = front.uids();
    front.set_template("bad", Some("palladion.dev/not-there:1"));
    front.wait("the bad version to fail", PATIENCE, |o| o["status"]["rollout"] == "Failed");
    assert_eq!(front.sets(), ["front-z0-v1", "front-z0-v2", "front-z1-v1", "front-z1-v2"]);
    let now = front.uids();
    assert!(
        old.iter().all(|(name, uid)| now.get(name) == Some(uid)),
        "the old version was touched"
    );
    front.wait_told(Reason::RolloutFailed, "not-there");
    // A third version in the middle.
    front.set_template("good", Some("palladion.dev/tools:dev"));
    front.wait_ready();
    assert_eq!(front.sets(), ["front-z0-v3", "front-z1-v3"]);
    assert_eq!(front.status()["version"], 3);
    front.end();
}

fn bad_canary() {
    let web = Zoned::start(
        "zoned-canary",
        "web",
        &example("partitioned").replace("watchSeconds: 60", "watchSeconds: 10"),
    );
    let before = web.uids();
    web.set_template("bad", Some("palladion.dev/not-there:1"));
    let failed = web.wait("the canary to fail", PATIENCE, |o| o["status"]["rollout"] == "Failed");
    assert_eq!(failed["status"]["ready"], false);
    assert_eq!(failed["status"]["sets"]["web-z1"]["state"], "Pending");
    let after = web.uids();
    let changed: Vec<&String> =
        before.iter().filter(|(n, u)| after.get(*n) != Some(u)).map(|(n, _)| n).collect();
    assert_eq!(changed, ["web-z0-1"]);
    web.wait_told(Reason::RolloutFailed, "not-there");
    web.set_template("fixed", Some("palladion.dev/tools:dev"));
    web.wait_ready();
    assert_eq!(web.status()["rollout"], "Done");
    assert!(
        web.uids().iter().all(|(name, uid)| before.get(name) != Some(uid)),
        "a pod kept the old template"
    );
    let events =
        bed().kubectl("get events -n zoned-canary -o jsonpath={.items[*].reason}").expect("events");
    assert!(events.contains(Reason::RolloutFailed.as_str()), "{events}");
    web.end();
}

fn recreate() {
    let manifest = example("partitioned").replace("rollout: Partitioned", "rollout: Recreate");
    let web = Zoned::start("zoned-recreate", "web", &manifest);
    let old: Vec<String> = web.uids().into_values().collect();
    web.set_template("new", None);
    let begin = Instant::now();
    loop {
        let uids: Vec<String> = web.uids().into_values().collect();
        let (of_old, of_new): (Vec<_>, Vec<_>) = uids.iter().partition(|u| old.contains(u));
        assert!(of_old.is_empty() || of_new.is_empty(), "old and new pods at once");
        if of_new.len() == 4 {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "no new pods; status: {}", web.status());
    }
    web.wait_ready();
    assert_eq!(web.status()["version"], 2);
    web.end();
}

/// Kubernetes itself makes no pod while a lower one is not ready, and waits for
/// ever (kubernetes/kubernetes#67250).
fn pods_in_order() {
    let ns = "zoned-order";
    bed().fresh_namespace(ns).expect("a namespace");
    let bad = example("partitioned")
        .replace("zones: [z1, z2]", "zones: [z1]")
        .replace(
            "      replicas: 2\n",
            "      replicas: 2\n      podManagementPolicy: OrderedReady\n",
        )
        .replace("image: palladion.dev/tools:dev", "image: palladion.dev/not-there:1");
    bed().apply(ns, &bad).expect("accepted");
    let web = Zoned { namespace: ns, name: "web" };
    let told = web.wait("the image to be named", PATIENCE, |o| {
        o["status"].to_string().contains(Reason::ImagePullFailed.as_str())
    });
    assert_eq!(told["status"]["pods"], "0/2");
    web.set_template("good", Some("palladion.dev/tools:dev"));
    web.wait_ready();

    // A bad canary, and a fix while the operator would wait for it.
    web.set_template("bad", Some("palladion.dev/not-there:1"));
    web.wait("the canary to be in trouble", PATIENCE, |o| {
        o["status"]["sets"]["web-z0"]["state"] == "Canary"
            && o["status"].to_string().contains("not-there")
    });
    web.set_template("fixed", Some("palladion.dev/tools:dev"));
    web.wait_ready();
    assert_eq!(web.status()["version"], 4);
    web.end();
}

fn old_pods_never_ran() {
    let ns = "zoned-version-bad";
    bed().fresh_namespace(ns).expect("a namespace");
    let bad = example("versioned").replace("tools:dev", "not-there:1");
    bed().apply(ns, &bad).expect("accepted");
    let front = Zoned { namespace: ns, name: "front" };
    front.wait("pods of version 1", PATIENCE, |o| o["status"]["pods"] == "0/2");
    front.set_template("good", Some("palladion.dev/tools:dev"));
    front.wait_ready();
    assert_eq!(front.sets(), ["front-z0-v2", "front-z1-v2"]);
    front.end();
}
