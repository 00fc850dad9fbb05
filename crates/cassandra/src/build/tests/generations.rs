//! Pods of a running ring keep the template that they were made with, whatever
//! release of Palladion looks at them.

use super::{full, plain, scylla, with_auth};
use crate::build::*;
use crate::fixtures::ClusterFixture;
use palladion_api::labels::{AGENT_IMAGE, SPEC_HASH, TEMPLATE_GENERATION};
use serde_json::{Value, json};

/// The set that this Palladion makes where a set stands.
fn over(standing: &Value, cluster: &ClusterFixture) -> Value {
    let (valid, rack) = cluster.valid_rack();
    let annotations = &standing["spec"]["template"]["metadata"]["annotations"];
    let stamp = Stamp::read(|key| annotations[key].as_str());
    stateful_set(&valid, &rack, 3, &stamp.into_iter().collect::<Vec<_>>())
}

fn template(set: &Value) -> &Value {
    &set["spec"]["template"]
}

fn image(set: &Value) -> &str {
    set["spec"]["template"]["spec"]["initContainers"][0]["image"].as_str().unwrap()
}

const NEWER: &str = "palladion.dev/agent:9.9.9";

fn newer(cluster: ClusterFixture) -> ClusterFixture {
    cluster.with_agent_image(NEWER)
}

#[test]
fn a_new_default_image_of_the_agent_leaves_pods_as_they_are() {
    let standing = super::set_of(&full());
    assert_eq!(over(&standing, &newer(full())), standing);
    let made = over(&json!({}), &newer(full()));
    assert_eq!(image(&made), NEWER);
    assert_eq!(template(&made)["metadata"]["annotations"][AGENT_IMAGE], NEWER);
}

#[test]
fn what_is_replaced_for_another_reason_takes_the_newest_agent() {
    let standing = super::set_of(&full());
    let changed = newer(full()).spec(|spec| spec.jvm_options.push("-Dx=y".into()));
    assert_eq!(image(&over(&standing, &changed)), NEWER);
}

#[test]
fn an_image_that_the_spec_names_is_asked_for() {
    let own = |version: &str| {
        full().spec(|spec| {
            let image = json!({ "repository": "mirror/agent", "version": version });
            spec.sidecar_image = serde_json::from_value(image).unwrap();
        })
    };
    let standing = super::set_of(&own("1"));
    assert_eq!(over(&standing, &own("1")), standing);
    assert_eq!(image(&over(&standing, &own("2"))), "mirror/agent:2");
    // Taken away again: what stands does not come from the spec any more.
    assert_eq!(over(&standing, &newer(full())), standing);
}

#[test]
fn a_template_that_somebody_else_made_is_rendered_by_this_release() {
    for (key, value) in [
        (TEMPLATE_GENERATION, "2"),
        (TEMPLATE_GENERATION, "x"),
        (SPEC_HASH, "0"),
        (AGENT_IMAGE, "a"),
    ] {
        let mut standing = super::set_of(&full());
        standing["spec"]["template"]["metadata"]["annotations"][key] = value.into();
        assert_eq!(over(&standing, &newer(full())), super::set_of(&newer(full())), "{key}");
    }
}

/// Rings that run have pods of these hashes. A change of them restarts every
/// ring at the next upgrade of Palladion: add a generation instead.
#[test]
fn each_generation_is_rendered_as_it_always_was() {
    let rendered =
        [("full", full()), ("plain", plain()), ("scylla", scylla()), ("auth", with_auth())].map(
            |(name, cluster)| {
                let set = super::set_of(&cluster);
                let annotations = &template(&set)["metadata"]["annotations"];
                let of = |key| annotations[key].as_str().unwrap().to_string();
                format!("generation {} {name} {}", of(TEMPLATE_GENERATION), of(SPEC_HASH))
            },
        );
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("generations", rendered.join("\n"));
    });
}
