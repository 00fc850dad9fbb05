//! Upgrades from line to line.

use super::world::World;
use serde_json::json;

#[test]
fn an_upgrade_goes_node_by_node_and_enables_the_flags_at_its_end() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "version": "3.11.28" }));
    world.until(|w| w.rabbit.running().iter().filter(|p| p.version == "3.11.28").count() == 3);
    world.flags_disabled = vec!["stream_queue".to_string()];
    world.settle();
    world.expect(3);
    assert!(world.flags_disabled.is_empty(), "{}", world.last_words());
    assert_eq!(world.status()["highestReleaseLine"], json!("3.11"));
}

#[test]
fn flags_that_are_not_enabled_come_before_the_next_line() {
    let mut world = World::settled(3);
    world.flags_disabled = vec!["stream_queue".to_string()];
    world.slow.insert("demo-rmq-0".to_string());
    world.patch_spec(&json!({ "version": "3.11.28" }));
    world.pass(300);
    assert!(world.rabbit.running().iter().all(|p| p.version == "3.10.8"), "{}", world.last_words());
    let said = world.condition("Progressing");
    assert!(said.starts_with("True FeatureFlagsDisabled"), "{said}");
    world.slow.clear();
    world.settle();
    world.expect(3);
    assert!(world.rabbit.running().iter().all(|p| p.version == "3.11.28"));
}

#[test]
fn a_line_is_neither_skipped_nor_gone_back() {
    let mut world = World::settled(3);
    for version in ["3.12.14", "4.0.2"] {
        world.patch_spec(&json!({ "version": version }));
        world.settle();
        assert!(world.condition("Accepted").starts_with("False InvalidSpec"), "{version}");
        assert!(world.rabbit.running().iter().all(|p| p.version == "3.10.8"));
    }
    world.patch_spec(&json!({ "version": "3.11.28" }));
    world.settle();
    world.expect(3);
    world.patch_spec(&json!({ "version": "3.10.8" }));
    world.settle();
    assert!(world.condition("Accepted").starts_with("False InvalidSpec"));
    assert!(world.rabbit.running().iter().all(|p| p.version == "3.11.28"));
}
