//! What must and what must not change the hashes and names by which objects
//! are told from their older selves.

use super::{full, set_of};
use crate::build::*;
use crate::fixtures::ClusterFixture;
use palladion_api::labels;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What the hash of a whole set is, and that of its pods.
fn hashes(set: &Value) -> (String, String) {
    let at = |pointer: &str| {
        let annotations = set.pointer(pointer).unwrap();
        annotations[labels::SPEC_HASH].as_str().unwrap().to_string()
    };
    (at("/metadata/annotations"), at("/spec/template/metadata/annotations"))
}

#[test]
fn a_replicas_change_leaves_the_spec_hash_and_the_template() {
    let (valid, rack) = full().valid_rack();
    let mut three = stateful_set(&valid, &rack, 3, &rendered(&valid, &rack, &[]));
    let four = stateful_set(&valid, &rack, 4, &rendered(&valid, &rack, &[]));
    assert_ne!(three, four);
    three["spec"]["replicas"] = json!(4);
    assert_eq!(three, four);
    let more = full().first_rack(|rack| rack.members = 9);
    assert_eq!(hashes(&set_of(&more)), hashes(&set_of(&full())));
}

#[test]
fn any_other_change_is_another_spec_hash() {
    let changes = [
        full().spec(|spec| spec.version = "5.0.6".into()),
        full().spec(|spec| spec.repository = Some("mirror/cassandra".into())),
        full().spec(|spec| {
            let image = json!({ "repository": "mirror/agent", "version": "2" });
            spec.sidecar_image = serde_json::from_value(image).unwrap();
        }),
        full().spec(|spec| {
            spec.config.insert("concurrent_reads".into(), json!(65));
        }),
        full().spec(|spec| spec.jvm_options.push("-Dx=y".into())),
        full().spec(|spec| spec.heap_size = serde_json::from_value(json!("3Gi")).unwrap()),
        full().spec(|spec| spec.num_tokens = 8),
        full().spec(|spec| spec.env[0].value = Some("Europe/Athens".into())),
        full().spec(|spec| spec.termination_grace_period_seconds = 601),
        full().spec(|spec| spec.image_pull_secrets.clear()),
        full().spec(|spec| {
            spec.annotations.insert("more".into(), "1".into());
        }),
        full().first_rack(|rack| rack.annotations.clear()),
        full().first_rack(|rack| rack.placement = None),
        full().first_rack(|rack| rack.jmx_exporter_config_map_name = None),
        full().first_rack(|rack| rack.config_map_name = None),
        full().first_rack_with(&json!({ "resources": { "limits": { "memory": "8Gi" } } })),
        full().config_map("settings", json!({ "cassandra.yaml": "concurrent_writes: 33" })),
        full().config_map("metrics", json!({ "jmx_exporter_config.yaml": "rules: []" })),
    ];
    let before = hashes(&set_of(&full()));
    let mut seen = BTreeSet::from([before.clone()]);
    for (index, changed) in changes.iter().enumerate() {
        let now = hashes(&set_of(changed));
        assert!(now.0 != before.0 && now.1 != before.1, "change {index}");
        assert!(seen.insert(now), "change {index} is as another");
    }
}

#[test]
fn a_claim_that_grows_changes_the_set_and_restarts_no_pod() {
    let grown = full().first_rack(|rack| {
        let claim = &mut rack.storage.volume_claim_templates[0];
        let resources = json!({ "requests": { "storage": "200Gi" } });
        claim.spec.resources = serde_json::from_value(resources).unwrap();
    });
    let (before, after) = (set_of(&full()), set_of(&grown));
    assert_eq!(before["spec"]["template"], after["spec"]["template"]);
    assert_ne!(hashes(&before).0, hashes(&after).0);
}

#[test]
fn a_change_of_one_rack_leaves_the_others_alone() {
    let changed = full().first_rack(|rack| rack.annotations.clear());
    let of_second = |cluster: &ClusterFixture| {
        let valid = cluster.valid();
        stateful_set(&valid, &valid.racks[1], 2, &rendered(&valid, &valid.racks[1], &[]))
    };
    assert_eq!(of_second(&full()), of_second(&changed));
    assert_ne!(set_of(&full()), set_of(&changed));
}

#[test]
fn a_config_maps_name_changes_with_its_content_only() {
    let name = |cluster: &ClusterFixture| {
        let (valid, rack) = cluster.valid_rack();
        config_map(&valid, &rack, &rendered(&valid, &rack, &[]))["metadata"]["name"].clone()
    };
    let before = name(&full());
    let same = [
        full().first_rack(|rack| rack.members = 9),
        full().first_rack(|rack| rack.annotations.clear()),
        full().first_rack(|rack| rack.placement = None),
        full().spec(|spec| spec.env.clear()),
        full().config_map(
            "settings",
            json!({ "cassandra.yaml": "# said otherwise\nconcurrent_writes: 32" }),
        ),
    ];
    for (index, cluster) in same.iter().enumerate() {
        assert_eq!(name(cluster), before, "{index}");
    }
    let other = [
        full().spec(|spec| spec.version = "5.0.6".into()),
        full().config_map("settings", json!({ "cassandra.yaml": "concurrent_writes: 33" })),
        full().config_map("metrics", json!({ "jmx_exporter_config.yaml": "rules: [{}]" })),
        full().spec(|spec| spec.jvm_options.clear()),
        full().meta(|meta| {
            let developer = labels::DEVELOPER_MODE.to_string();
            meta.annotations.insert(developer, "true".into());
        }),
    ];
    for (index, cluster) in other.iter().enumerate() {
        assert_ne!(name(cluster), before, "{index}");
    }
}
