//! Node agents: their gates, their texts and their restarts under faults.

use super::{disturbed, overtaken};
use crate::groups::{a_group, begun, node, profile, settled, signalled, vfs};
use crate::world::World;
use palladion_stack::GroupMind;

type Agents = World<GroupMind>;

#[test]
fn agents_are_created() {
    let story = |world: &mut Agents| {
        world.ring(3, 3);
        world.pass(15);
    };
    disturbed(|| begun(a_group()), story, 2);
    overtaken(|| begun(a_group()), story);
}

#[test]
fn a_node_comes_and_another_goes() {
    let story = |world: &mut Agents| {
        node(world, "n4", "kernel");
        world.pass(10);
        node(world, "n2", "dpdk");
        world.pass(10);
    };
    disturbed(|| settled(a_group()), story, 3);
    overtaken(|| settled(a_group()), story);
}

#[test]
fn the_sandbox_of_an_agent_restarts() {
    let story = |world: &mut Agents| {
        world.ring(3, 1);
        world.restart_sandbox("kernel-n1");
        world.pass(10);
        world.ring(3, 3);
        world.pass(10);
    };
    disturbed(|| settled(a_group()), story, 3);
    overtaken(|| settled(a_group()), story);
}

#[test]
fn a_profile_changes() {
    let story = |world: &mut Agents| {
        profile(world, "base", vfs(8));
        world.pass(30);
    };
    disturbed(|| settled(a_group()), story, 4);
    overtaken(|| settled(a_group()), story);
}

#[test]
fn a_ring_grows_under_signals() {
    let story = |world: &mut Agents| {
        world.ring(4, 4);
        world.pass(25);
    };
    disturbed(|| settled(signalled(a_group())), story, 2);
    overtaken(|| settled(signalled(a_group())), story);
}
