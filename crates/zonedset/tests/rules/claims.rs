//! Changed volume claims, and other parts that a StatefulSet fixes.

use crate::world::{World, a_spec, with};
use palladion_zonedset::resources::CLAIM;
use serde_json::{Value, json};

fn with_claim(size: &str, class: &str) -> Value {
    let claim = json!([{ "metadata": { "name": "data" }, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": { "requests": { "storage": size } }
    } }]);
    with(with(a_spec(), "/zones", json!([])), "/template/spec/volumeClaimTemplates", claim)
}

fn bound(world: &mut World) {
    for ordinal in 0..2 {
        let labels = json!({ "app.kubernetes.io/managed-by": "palladion", "palladion.dev/zoned-stateful-set": "web" });
        let claim = json!({ "metadata": { "labels": labels }, "spec": { "resources": { "requests": { "storage": "1Gi" } } } });
        world.put(CLAIM, &format!("data-web-{ordinal}"), claim);
    }
    world.settle();
}

#[test]
fn a_larger_request_grows_the_claims_and_the_set_is_made_anew_around_its_pods() {
    let mut world = World::settled(with_claim("1Gi", "fast"));
    bound(&mut world);
    let before = world.uids();
    world.set_spec(with_claim("2Gi", "fast"));
    world.settle();
    let sizes: Vec<Value> = world
        .store
        .list(CLAIM)
        .map(|(_, c)| c["spec"]["resources"]["requests"]["storage"].clone())
        .collect();
    assert_eq!(sizes, ["2Gi", "2Gi"]);
    assert_eq!(
        world.set("web")["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"],
        "2Gi"
    );
    assert_eq!(world.uids(), before);
    assert_eq!(world.status()["ready"], true);
}

#[test]
fn another_change_of_a_claim_is_reported_and_nothing_is_touched() {
    let mut world = World::settled(with_claim("1Gi", "fast"));
    bound(&mut world);
    let before = world.uids();
    world.set_spec(with_claim("1Gi", "slow"));
    world.settle();
    assert_eq!(world.condition("Degraded")["reason"], "VolumeClaimTemplatesWarning");
    assert_eq!(
        world.set("web")["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"],
        "fast"
    );
    assert_eq!(world.uids(), before);
}

#[test]
fn another_service_name_restarts_nobody() {
    let mut world = World::settled(a_spec());
    let before = world.uids();
    world.set_spec(with(a_spec(), "/template/spec/serviceName", json!("other")));
    world.settle();
    assert_eq!(world.set("web-z0")["spec"]["serviceName"], "other");
    assert_eq!(world.set("web-z1")["spec"]["serviceName"], "other");
    assert_eq!(world.uids(), before);
}
