//! Texts by node where the name of one node is the beginning of another's, as of a machine
//! that registered again under its full name while its old Node is still there.

use crate::groups::{a_group, begun, node, settled};
use crate::world::{World, with};
use palladion_stack::GroupMind;
use serde_json::{Value, json};

fn by_node() -> Value {
    let spec = with(a_group(), "/config/key", json!("NodeName"));
    let template = json!("{{ self.node }} {{ dependencies.ring.addresses | join(',') }}");
    with(spec, "/config/files/0/template", template)
}

fn well(world: &World<GroupMind>, agents: usize) {
    assert_eq!(world.status()["pods"], format!("{agents}/{agents}"), "{}", world.status());
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn agents_on_nodes_of_alike_names_start_and_hear_of_changes() {
    let mut world = begun(by_node());
    node(&mut world, "n1.lab", "kernel");
    world.ring(3, 3);
    world.pass(20);
    well(&world, 3);
    assert_eq!(world.kubelet.starts.len(), 3);
    assert_eq!(world.texts()["n1.conf"], "n1 10.96.1.0,10.96.1.1,10.96.1.2");
    assert_eq!(world.texts()["n1.lab.conf"], "n1.lab 10.96.1.0,10.96.1.1,10.96.1.2");
    world.ring(4, 4);
    world.pass(60);
    well(&world, 3);
    assert_eq!(world.kubelet.starts.len(), 6, "each once");
    assert!(world.texts().values().all(|text| text.contains("10.96.1.3")));
    let writes = world.writes();
    world.pass(600);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
}

#[test]
fn a_node_whose_namesake_comes_and_goes_goes_on() {
    let mut world = settled(by_node());
    node(&mut world, "n1.lab", "kernel");
    world.pass(60);
    well(&world, 3);
    let starts = |world: &World<GroupMind>| {
        world.kubelet.starts.iter().filter(|(pod, ..)| pod == "kernel-n1").count()
    };
    let before = starts(&world);
    world.ring(4, 4);
    world.pass(60);
    well(&world, 3);
    assert_eq!(starts(&world), before + 1, "it hears of a change");
    node(&mut world, "n1.lab", "dpdk");
    world.pass(60);
    well(&world, 2);
    assert_eq!(world.texts().keys().collect::<Vec<_>>(), ["n1.conf", "n2.conf"]);
}
