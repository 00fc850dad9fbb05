//! What a member gets of the machine: memory, and a volume of its own.

use super::{good, limits, refused};
use crate::fixtures::ClusterFixture;
use crate::validate::IsDefault;
use palladion_api::reasons::Reason;
use serde_json::{Value, json};

#[test]
fn a_storage_class_has_to_exist_until_the_rack_does() {
    let named = good().first_rack_with(&claim(json!({ "spec": { "storageClassName": "fast" } })));
    let words = ["rack a", "storage class fast", "(available: local)"];
    refused(&named, Reason::StorageClassMissing, &words);
    let there = named.clone().storage_classes(&[("fast", IsDefault::No)]);
    assert!(there.validate().is_ok());
    assert!(named.clone().set_exists("demo-dc1-a").validate().is_ok());

    let no_default = good().storage_classes(&[("slow", IsDefault::No)]);
    let words = ["rack a", "no default storage class", "(available: slow)"];
    refused(&no_default, Reason::StorageClassMissing, &words);
    assert!(no_default.set_exists("demo-dc1-a").validate().is_ok());
    let none = good().storage_classes(&[]);
    let words = ["no default storage class; create one", "has no storage classes"];
    refused(&none, Reason::StorageClassMissing, &words);
    let words = ["storage class fast does not exist; create it", "has no storage classes"];
    refused(&named.storage_classes(&[]), Reason::StorageClassMissing, &words);

    let by_hand = claim(json!({ "spec": { "storageClassName": "" } }));
    assert!(none.first_rack_with(&by_hand).validate().is_ok());
}

#[test]
fn a_claim_is_one_members_alone() {
    let two = json!({ "storage": { "volumeClaimTemplates": [{ "spec": {} }, { "spec": {} }] } });
    let words = ["rack a", "2 claim templates", "keep one"];
    refused(&good().first_rack_with(&two), Reason::InvalidSpec, &words);
    for (template, word) in [
        (json!({ "spec": { "volumeName": "pv-1" } }), "`volumeName`"),
        (json!({ "spec": { "selector": {} } }), "`selector`"),
        (
            json!({ "spec": { "dataSource": { "kind": "VolumeSnapshot", "name": "s" } } }),
            "`dataSource`",
        ),
        (json!({ "spec": { "volumeMode": "Block" } }), "Block"),
        (json!({ "spec": { "accessModes": ["ReadWriteMany"] } }), "ReadWriteMany"),
        (json!({ "metadata": { "name": "shared" }, "spec": {} }), "reserved names: shared"),
        (json!({ "metadata": { "name": "My.Data" }, "spec": {} }), "My.Data"),
        (
            json!({ "metadata": { "labels": { "palladion.dev/rack": "b" } }, "spec": {} }),
            "palladion.dev/rack",
        ),
        (
            json!({ "metadata": { "labels": { "app.kubernetes.io/managed-by": "me" } }, "spec": {} }),
            "managed-by",
        ),
    ] {
        let cluster = good().first_rack_with(&claim(template));
        refused(&cluster, Reason::InvalidSpec, &["rack a", word]);
    }
}

#[test]
fn a_member_gets_the_memory_that_it_needs() {
    let with = |memory: &str| good().first_rack_with(&limits(memory));
    assert!(with("768Mi").validate().is_ok());
    let words = ["`resources.limits.memory` of rack a", "767Mi", "raise it"];
    refused(&with("767Mi"), Reason::NotEnoughMemory, &words);
    let words = ["`resources.limits.memory` of rack a", "lots", "`4Gi`"];
    refused(&with("lots"), Reason::InvalidSpec, &words);
    refused(&with("0"), Reason::InvalidSpec, &words[..1]);
    refused(&with("1000Ei"), Reason::InvalidSpec, &words[..1]);

    let heap = |cluster: ClusterFixture, size: &str| {
        let size = serde_json::from_value(json!(size)).unwrap();
        cluster.spec(|spec| spec.heap_size = Some(size))
    };
    let fits = heap(with("1000Mi"), "800Mi");
    assert_eq!(fits.valid_rack().1.server.heap_mib, Some(800));
    let words = ["`heapSize` is 801Mi", "80%", "1000Mi", "lower `heapSize`"];
    refused(&heap(with("1000Mi"), "801Mi"), Reason::NotEnoughMemory, &words);
    let words = ["`heapSize`", "much"];
    refused(&heap(good(), "much"), Reason::InvalidSpec, &words);
    assert_eq!(heap(good(), "4Gi").valid_rack().1.server.heap_mib, Some(4096));
}

fn claim(template: Value) -> Value {
    json!({ "storage": { "volumeClaimTemplates": [template] } })
}

#[test]
fn resources_are_what_a_pod_may_ask_for() {
    let with = |resources: Value| good().first_rack_with(&json!({ "resources": resources }));
    let cluster = with(json!({ "requests": { "cpu": "2 cores" } }));
    let words = ["`resources.requests.cpu` of rack a", "2 cores", "`500m`"];
    refused(&cluster, Reason::InvalidSpec, &words);
    let cluster = with(json!({ "requests": { "cpu": "1.5" }, "limits": { "cpu": "1200m" } }));
    let words = ["`resources.requests.cpu` of rack a is 1.5", "`resources.limits.cpu`"];
    refused(&cluster, Reason::InvalidSpec, &words);
    let cluster = with(json!({ "requests": { "cpu": "1.2" }, "limits": { "cpu": "1200m" } }));
    assert!(cluster.validate().is_ok());
    for size in ["10 GB", "0"] {
        let size = json!({ "spec": { "resources": { "requests": { "storage": size } } } });
        let words = ["rack a", "`resources.requests.storage`", "`10Gi`"];
        let cluster = good().first_rack_with(&claim(size));
        refused(&cluster, Reason::InvalidSpec, &words);
    }
}
