//! Upgrades from line to line.

use super::world::World;
use serde_json::json;

/// The first node of a new line knows flags that cannot be enabled before the last one is
/// of that line too: they hold up nothing.
#[test]
fn an_upgrade_goes_node_by_node_and_enables_the_flags_at_its_end() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "version": "3.11.28" }));
    let mut away = 0;
    while world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words())) {
        away = away.max(3 - world.rabbit.running().len());
        let is_last = world.rabbit.running().iter().all(|p| p.version == "3.11.28");
        assert!(is_last || !world.new_flag_enabled, "{}", world.last_words());
        let turns = world.writes.iter().filter(|w| w.starts_with("begin the restart")).count();
        assert!(turns <= 3, "{turns} turns: {}", world.last_words());
    }
    assert_eq!(away, 1, "{}", world.last_words());
    world.expect(3);
    assert!(world.rabbit.running().iter().all(|p| p.version == "3.11.28"));
    assert!(world.new_flag_enabled, "{}", world.last_words());
    assert_eq!(world.status()["highestReleaseLine"], json!("3.11"));
}

/// Only the next line needs the flags: what mends the cluster does not wait for them.
#[test]
fn flags_that_are_not_enabled_hold_up_no_change_within_the_line() {
    let mut world = World::settled(3);
    world.flags_disabled = vec!["stream_queue".to_string()];
    world.slow.insert("demo-rmq-0".to_string());
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    world.pass(300);
    let replaced = world.writes.iter().filter(|w| w.starts_with("replace the pod of")).count();
    assert_eq!(replaced, 3, "{}", world.last_words());
    world.slow.clear();
    world.settle();
    world.expect(3);
    assert!(world.flags_disabled.is_empty(), "{}", world.last_words());
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
    let turns = world.writes.iter().filter(|w| w.starts_with("begin the restart")).count();
    assert_eq!(turns, 0, "{:?}", world.writes);
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
