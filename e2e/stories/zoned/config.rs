//! Configuration that rolls the pods.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use serde_json::json;

pub fn story() -> Story {
    Story::named("zoned-config")
        .step("data of the configuration rolls the pods and metadata does not", data_rolls)
        .step("a Secret that may not be read is named and read when it may", unreadable_secret)
        .into()
}

fn data_rolls() {
    let conf = Zoned::start("zoned-config", "conf", &example("config"));
    let ns = conf.namespace;
    let first = conf.uids();
    bed().kubectl("label configmap settings -n zoned-config touched=yes").expect("label");
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(conf.uids(), first, "a label rolled the pods");

    for word in ["a", "b", "c"] {
        bed()
            .patch(ns, "configmap", "settings", &json!({ "data": { "GREETING": word } }))
            .expect("patch");
    }
    conf.wait("version 2", PATIENCE, |o| {
        o["status"]["version"] == 2 && o["status"]["ready"] == true
    });
    let env = bed().exec(ns, "conf-z0-0", &["busybox", "env"]).expect("env");
    assert!(env.contains("GREETING=c"), "{env}");
    assert_eq!(conf.status()["version"], 2, "three changes should be one rollout");

    let newer = example("config")
        .split("---")
        .nth(1)
        .unwrap_or_default()
        .replace("tls-v1", "tls-v2")
        .replace("key: one", "key: two");
    bed().apply(ns, &newer).expect("a newer Secret");
    conf.wait("version 3", PATIENCE, |o| {
        o["status"]["version"] == 3 && o["status"]["ready"] == true
    });
    let key = bed().exec(ns, "conf-z0-0", &["busybox", "cat", "/tls/key"]).expect("cat");
    assert_eq!(key.trim(), "two");

    conf.patch(&json!({ "spec": { "updateOnConfigChange": false } }));
    let third = conf.uids();
    bed()
        .patch(ns, "configmap", "settings", &json!({ "data": { "GREETING": "d" } }))
        .expect("patch");
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(conf.uids(), third, "rolled although switched off");
    conf.end();
}

fn unreadable_secret() {
    let manifest = example("config");
    let role = manifest.find("kind: RoleBinding").expect("the example should have a RoleBinding");
    let without = manifest.replace("name: palladion-operator", "name: somebody-else");
    assert!(role > 0 && without != manifest);
    bed().fresh_namespace("zoned-secret").expect("a namespace");
    bed().apply("zoned-secret", &without).expect("accepted");
    let conf = Zoned { namespace: "zoned-secret", name: "conf" };
    let told = conf.wait("the Secret to be named", PATIENCE, |o| {
        o["status"].to_string().contains(Reason::ConfigUnreadable.as_str())
    });
    assert!(told["status"].to_string().contains("Secret tls-v"), "{}", told["status"]);
    assert!(conf.sets().is_empty(), "nothing is made on a guess");
    bed().apply("zoned-secret", &manifest).expect("accepted");
    conf.wait_ready();
    conf.end();
}
