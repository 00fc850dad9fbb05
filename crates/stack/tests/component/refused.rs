//! What is not carried out: said with the field, the cause and the next step, and
//! cured by correcting the manifest alone. What runs goes on running.

use crate::world::{World, a_spec, with};
use palladion_api::Reason;
use serde_json::{Value, json};

const FILE: &str = "/config/files/0/template";

fn refused_and_cured(wrong: Value, reason: Reason, words: &str) {
    let mut world = World::settled(a_spec());
    let (uids, texts) = (world.uids(), world.texts());
    world.set_spec(wrong);
    world.pass(60);
    assert_eq!(world.says("Accepted"), format!("False {reason}"));
    let message = world.condition("Accepted")["message"].clone();
    assert!(message.as_str().unwrap().contains(words), "{message}");
    assert_eq!((world.uids(), world.texts()), (uids.clone(), texts), "what runs has what it had");
    world.set_spec(a_spec());
    world.pass(10);
    assert_eq!(world.says("Accepted"), "True Valid");
    assert_eq!(world.uids(), uids);
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn a_template_that_fails_is_refused_with_file_and_line() {
    let of = |template: &str| with(a_spec(), FILE, json!(template));
    let unknown = of("one\n{{ dependencies.rnig.addresses }}\n");
    refused_and_cured(unknown, Reason::TemplateInvalid, "file conf fails in line 2");
    refused_and_cured(of("{% if %}"), Reason::TemplateInvalid, "file conf fails in line 1");
    let endless =
        of("{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}");
    refused_and_cured(endless, Reason::TemplateInvalid, "does not end");
}

#[test]
fn labels_of_the_operator_are_refused() {
    let labels = json!({ "labels": { "status": "ready" } });
    let wrong = with(a_spec(), "/template/metadata", labels);
    refused_and_cured(wrong, Reason::InvalidSpec, "label `status`");
}

#[test]
fn a_template_that_fails_for_what_a_dependency_says_keeps_the_pods_as_they_are() {
    let mut world = World::settled(a_spec());
    let (uids, texts) = (world.uids(), world.texts());
    let template = json!("{{ dependencies.ring.attributes.datacenters }}\n");
    world.set_spec(with(a_spec(), FILE, template));
    world.pass(30);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::TemplateInvalid));
    assert_eq!((world.uids(), world.texts()), (uids, texts));
}

#[test]
fn texts_that_do_not_fit_into_one_map_are_not_written() {
    let mut world = World::settled(a_spec());
    let texts = world.texts();
    let long = json!("x".repeat(60_000) + "{{ self.name }}");
    let files: Vec<Value> =
        (0..8).map(|n| json!({ "name": format!("f{n}"), "template": long })).collect();
    world.set_spec(with(a_spec(), "/config/files", json!(files)));
    world.pass(30);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ConfigTooLarge));
    assert_eq!(world.texts(), texts);
    world.set_spec(a_spec());
    world.pass(10);
    assert!(world.is_at_rest(), "{}", world.status());
}
