//! Node agents on nodes that are away, and agents that find no place.

use crate::groups::{a_group, begun, profile, settled, vfs};
use crate::world::World;
use palladion_api::Reason;
use palladion_stack::GroupMind;

/// kernel-n1 is on a node that died.
fn without_a_node(world: &mut World<GroupMind>) {
    world.kubelet.dead.insert("kernel-n1".into());
    world.kubelet.sick.insert("kernel-n1".into());
    world.node("n1", "Unknown");
    world.pass(1);
}

fn message(world: &World<GroupMind>) -> String {
    world.condition("Progressing")["message"].to_string()
}

#[test]
fn a_node_that_is_away_holds_up_no_other() {
    let mut world = settled(a_group());
    without_a_node(&mut world);
    let uids = world.uids();
    profile(&mut world, "base", vfs(8));
    world.pass(60);
    assert_eq!(world.uids()["kernel-n1"], uids["kernel-n1"], "nobody would see it go");
    assert_ne!(world.uids()["kernel-n2"], uids["kernel-n2"]);
    assert!(world.is_ready("kernel-n2"));
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::RollingOut));
    assert!(
        message(&world).contains("1 pods get no change") && message(&world).contains("kernel-n1")
    );
    let writes = world.writes();
    world.pass(600);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
    world.kubelet.dead.clear();
    world.kubelet.sick.clear();
    world.node("n1", "True");
    world.pass(60);
    assert_ne!(world.uids()["kernel-n1"], uids["kernel-n1"]);
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn a_pod_that_does_not_end_in_its_time_holds_up_no_other() {
    let mut world = settled(a_group());
    world.kubelet.dead.insert("kernel-n1".into());
    world.end_pod("kernel-n1");
    profile(&mut world, "base", vfs(8));
    world.pass(30);
    assert_eq!(world.kubelet.starts.len(), 2, "it may be on its way, and one goes at a time");
    world.pass(60);
    assert_eq!(world.kubelet.starts.len(), 3, "{}", world.status());
    assert!(world.is_ready("kernel-n2"));
}

#[test]
fn an_agent_that_finds_no_place_is_reported_in_the_words_of_the_scheduler() {
    let mut world = begun(a_group());
    world.kubelet.unscheduled.insert("kernel-n1".into());
    world.delete_pod("kernel-n1");
    world.ring(3, 3);
    world.pass(20);
    assert_eq!(world.status()["pods"], "1/2");
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::Unschedulable));
    for type_ in ["Degraded", "Progressing"] {
        let message = world.condition(type_)["message"].to_string();
        assert!(message.contains("kernel-n1") && message.contains("0/3 nodes"), "{message}");
    }
}
