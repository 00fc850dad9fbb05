//! What somebody changed by hand.

use palladion_e2e::{Ring, bed, wait_for};
use serde_json::json;

use super::server::well;
use super::{NAMESPACE, RESTARTS_IN, SOON};

pub(super) fn put_back(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("uids");
    let set =
        || bed().get(NAMESPACE, "statefulset", "roll-dc1-a").expect("get").unwrap_or_default();
    bed()
        .kubectl(&format!("scale statefulset roll-dc1-a -n {NAMESPACE} --replicas=4"))
        .expect("scale");
    wait_for("replicas to be put back", SOON, || {
        Ok((set()["spec"]["replicas"] == 2 && ring.pod_uids()?.len() == 3).then_some(()))
    })
    .expect("put back");
    bed()
        .patch(
            NAMESPACE,
            "statefulset",
            "roll-dc1-a",
            &json!({ "spec": { "updateStrategy": { "type": "RollingUpdate" } } }),
        )
        .expect("patch");
    wait_for("the strategy to be put back", SOON, || {
        Ok((set()["spec"]["updateStrategy"]["type"] == "OnDelete").then_some(()))
    })
    .expect("put back");
    // A selector with one more label selects nothing.
    let selectors = [
        ("service", "roll-client", "/spec/selector"),
        ("poddisruptionbudget", "roll-dc1", "/spec/selector/matchLabels"),
    ];
    for (kind, name, at) in selectors {
        let selector = || {
            let object = bed().get(NAMESPACE, kind, name)?.unwrap_or_default();
            anyhow::Ok(object.pointer(at).cloned().unwrap_or_default())
        };
        let before = selector().expect("selector");
        assert!(before.is_object(), "{kind} {name} has a selector");
        let mut patch = json!({ "added": "by-hand" });
        for field in at.rsplit('/').filter(|field| !field.is_empty()) {
            patch = json!({ field: patch });
        }
        bed().patch(NAMESPACE, kind, name, &patch).expect("patch");
        wait_for("the selector to be put back", SOON, || Ok((selector()? == before).then_some(())))
            .expect("put back");
    }
    // What a template says besides would hold for each pod from its next restart on.
    let template = || set()["spec"]["template"]["spec"].clone();
    let before = template();
    bed()
        .kubectl(&format!("set env statefulset/roll-dc1-a -n {NAMESPACE} ADDED=by-hand"))
        .expect("set env");
    wait_for("the template to be put back", SOON, || Ok((template() == before).then_some(())))
        .unwrap_or_else(|error| panic!("{error:#}: {:#}", template()));
    let old = set()["metadata"]["uid"].clone();
    bed().delete_with(NAMESPACE, "statefulset", "roll-dc1-a", "--cascade=orphan").expect("delete");
    wait_for("the set to be made again", SOON, || {
        Ok((set()["metadata"]["uid"].is_string() && set()["metadata"]["uid"] != old).then_some(()))
    })
    .expect("made again");
    wait_for("no phantom", RESTARTS_IN, || Ok((ring.member_names()?.len() == 3).then_some(())))
        .expect("three members");
    well(ring, &ids);
    assert_eq!(ring.pod_uids().expect("uids"), uids, "no pod was touched");
}
