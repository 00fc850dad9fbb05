//! Volumes, and what a StatefulSet does not let change. Local volumes have no
//! resizer: that the claim requests more is all that can be seen of growth.

use std::collections::BTreeMap;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use serde_json::{Value, json};

pub fn story() -> Story {
    Story::named("zoned-claims")
        .step("claims grow and other fixed parts change without touching a pod", grow)
        .into()
}

fn requests(store: &Zoned) -> Vec<String> {
    let claims = bed().list(store.namespace, "pvc").expect("list claims");
    let size = |c: &Value| c["spec"]["resources"]["requests"]["storage"].clone();
    claims.iter().filter_map(|c| size(c).as_str().map(str::to_string)).collect()
}

fn request(store: &Zoned, size: &str) {
    let claim = json!([{ "metadata": { "name": "data" }, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": size } },
    } }]);
    store.patch(&json!({ "spec": { "template": { "spec": { "volumeClaimTemplates": claim } } } }));
}

fn let_claims_grow(may: impl Into<Value>) {
    let patch = json!({ "allowVolumeExpansion": may.into() });
    bed().patch("default", "storageclass", "local", &patch).expect("patch the storage class");
}

fn set(store: &Zoned) -> Value {
    let set = bed().get(store.namespace, "statefulset", store.name);
    set.expect("get").unwrap_or_default()
}

fn grow() {
    let_claims_grow(false);
    let store = Zoned::start("zoned-claims", "store", &example("volumes"));
    let pods: BTreeMap<String, String> = store.uids();

    // Less is told and not done.
    request(&store, "50Mi");
    let words = store.wait_told(Reason::VolumeClaimTemplatesWarning, "");
    assert!(words.contains("lowered from 100Mi to 50Mi"), "{words}");
    assert_eq!(requests(&store), ["100Mi", "100Mi"]);

    // More is refused by a storage class that does not allow it, in its words.
    request(&store, "200Mi");
    let words = store.wait_told(Reason::ErrSyncFailed, "");
    assert!(words.contains("could not expand"), "{words}");
    assert_eq!(requests(&store), ["100Mi", "100Mi"]);

    // And done by one that does; the set is made anew around its pods.
    let old = set(&store)["metadata"]["uid"].clone();
    let_claims_grow(true);
    request(&store, "300Mi");
    store.wait("the claims to grow and the set to say so", PATIENCE, |o| {
        let template = &set(&store)["spec"]["volumeClaimTemplates"][0]["spec"];
        template["resources"]["requests"]["storage"] == "300Mi" && o["status"]["ready"] == true
    });
    // As it was made.
    let_claims_grow(Value::Null);
    assert_eq!(requests(&store), ["300Mi", "300Mi"]);
    let anew = set(&store)["metadata"]["uid"].clone();
    assert_ne!(anew, old, "a set cannot change its claim templates");

    // The way pods are made is fixed as well.
    store.patch(
        &json!({ "spec": { "template": { "spec": { "podManagementPolicy": "Parallel" } } } }),
    );
    store.wait("the set to be made in parallel", PATIENCE, |o| {
        set(&store)["spec"]["podManagementPolicy"] == "Parallel" && o["status"]["ready"] == true
    });
    assert_eq!(store.uids(), pods, "a pod was touched");
    assert_eq!(store.status()["version"], 1);

    // It rolls as ever, with its volumes.
    bed().exec(store.namespace, "store-0", &["sh", "-c", "echo kept > /data/word"]).expect("write");
    store.set_template("new", None);
    store.wait("version 2", PATIENCE, |o| {
        o["status"]["version"] == 2 && o["status"]["ready"] == true
    });
    let word = bed().exec(store.namespace, "store-0", &["cat", "/data/word"]);
    assert_eq!(word.expect("read").trim(), "kept");
    bed().remove_namespace(store.namespace).expect("clean up");
}
