//! Pods of a running ring keep the template that they were made with, whatever
//! release of Palladion looks at them.

use super::{full, plain, scylla, with_auth};
use crate::build::*;
use crate::fixtures::ClusterFixture;
use crate::generations::{Generation, Generations, OF_THIS_RELEASE, SECOND};
use palladion_api::labels::{AGENT_IMAGE, SPEC_HASH, TEMPLATE_GENERATION};
use serde_json::{Value, json};

/// The set that this Palladion makes where a set stands.
fn over(standing: &Value, cluster: &ClusterFixture) -> Value {
    let (valid, rack) = cluster.valid_rack();
    stateful_set(&valid, &rack, 3, &rendered(&valid, &rack, &stamps(standing)))
}

fn stamps(standing: &Value) -> Vec<Stamp> {
    let annotations = &standing["spec"]["template"]["metadata"]["annotations"];
    Stamp::read(|key| annotations[key].as_str()).into_iter().collect()
}

/// The configuration that it makes for the pods of that set.
fn configuration_over(standing: &Value, cluster: &ClusterFixture) -> Value {
    let (valid, rack) = cluster.valid_rack();
    config_map(&valid, &rack, &rendered(&valid, &rack, &stamps(standing)))
}

/// The same cluster as the next release of Palladion sees it, whose
/// configuration says more.
fn of_next_release(cluster: ClusterFixture) -> ClusterFixture {
    let next = Generation {
        server_json: |server| {
            let mut all = json!(server);
            all["config"]["concurrent_validations"] = 1.into();
            all
        },
        ..SECOND
    };
    let mut later = OF_THIS_RELEASE.later.to_vec();
    later.push(next);
    cluster.with_generations(Generations { later: later.leak(), ..OF_THIS_RELEASE })
}

/// The same cluster as the release whose newest generation is this one sees it.
fn of_generation(number: usize, cluster: ClusterFixture) -> ClusterFixture {
    let later = &OF_THIS_RELEASE.later[..number - 1];
    cluster.with_generations(Generations { later, ..OF_THIS_RELEASE })
}

/// TLS by hand that does not say that others are refused.
fn encrypts_by_hand() -> ClusterFixture {
    plain().spec(|spec| {
        spec.config = [("client_encryption_options".into(), json!({ "enabled": true }))].into();
    })
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
fn a_release_that_renders_another_configuration_leaves_it_as_it_is() {
    let (standing, configuration) =
        (super::set_of(&full()), configuration_over(&json!({}), &full()));
    let next = of_next_release(full());
    assert_eq!(over(&standing, &next), standing);
    assert_eq!(configuration_over(&standing, &next), configuration);
    let changed = next.spec(|spec| spec.jvm_options.push("-Dx=y".into()));
    let made = over(&standing, &changed);
    assert_eq!(template(&made)["metadata"]["annotations"][TEMPLATE_GENERATION], "3");
    let content = configuration_over(&standing, &changed)["data"]["server.json"].to_string();
    assert!(content.contains("concurrent_validations"), "{content}");
    assert_eq!(over(&made, &changed), made);
}

#[test]
fn a_ring_that_encrypts_by_hand_mounts_the_authorities_from_its_next_rollout_on() {
    let mounts = |set: &Value| set["spec"]["template"]["spec"]["volumes"].to_string();
    let standing = super::set_of(&of_generation(1, encrypts_by_hand()));
    assert!(!mounts(&standing).contains("ca.crt"));
    assert_eq!(over(&standing, &encrypts_by_hand()), standing);
    let changed = encrypts_by_hand().spec(|spec| spec.jvm_options.push("-Dx=y".into()));
    assert!(mounts(&over(&standing, &changed)).contains("ca.crt"));
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
        (TEMPLATE_GENERATION, "9"),
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
    let clusters = || {
        let by_hand = ("by hand", encrypts_by_hand());
        [("full", full()), ("plain", plain()), ("scylla", scylla()), ("auth", with_auth()), by_hand]
    };
    let newest = OF_THIS_RELEASE.later.len() + 1;
    let rendered = (1..=newest).flat_map(|number| {
        clusters().map(|(name, cluster)| {
            let set = super::set_of(&of_generation(number, cluster));
            let annotations = &template(&set)["metadata"]["annotations"];
            let of = |key| annotations[key].as_str().unwrap().to_string();
            format!("generation {} {name} {}", of(TEMPLATE_GENERATION), of(SPEC_HASH))
        })
    });
    let rendered: Vec<String> = rendered.collect();
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("generations", rendered.join("\n"));
    });
}
