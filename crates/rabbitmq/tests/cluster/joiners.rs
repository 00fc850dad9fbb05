//! Joiners whose pods end, or whose permits are withdrawn, while they join.

use super::acts::{node, pod};
use super::model::{App, data};
use super::world::{World, cluster_key};
use palladion_api::member::PermitState;
use palladion_plan::Subresource;
use palladion_plan::sim::kubernetes::Machine;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

/// Who says that a node is in the cluster.
#[derive(Clone, Copy)]
enum Committed {
    ByTheOthers,
    /// Its own file, too.
    ByAll,
}

impl World {
    /// How many nodes there are, by the tables of the first that runs.
    fn cluster(&self) -> usize {
        self.rabbit.running().first().map_or(0, |p| data(&self.kube.disks, p).cluster.len())
    }

    /// Does the node of the third member run, by itself yet?
    fn third_has_begun(&self) -> bool {
        let begun = self.rabbit.by_name(&node(2)).is_some_and(|(_, p)| p.app == App::Running);
        begun && self.cluster() == 2
    }

    /// Is the node of the fourth member in the cluster, which its agent has not noted yet?
    fn fourth_has_just_joined(&self) -> bool {
        let disks = self.kube.disks.values().map(|disk| &disk.content);
        let mut begun = disks.filter(|volume| volume.id.is_some() && !volume.ledger.entered);
        begun.any(|volume| {
            volume.data.as_ref().is_some_and(|data| data.is_noted && data.cluster.len() == 4)
        })
    }

    /// What the process of the third member has begun comes to its end, or half of it, whatever
    /// its agent was told meanwhile; then its agent is back.
    fn commit_the_join(&mut self, how_far: Committed) {
        let uid = self.uid(2).unwrap();
        self.rabbit.join(&uid, &[node(0)], &mut self.kube.disks).unwrap();
        match how_far {
            Committed::ByTheOthers => {}
            Committed::ByAll => self.rabbit.note_join(&uid, &mut self.kube.disks),
        }
        self.tell("the third node is in the cluster");
        self.absent.clear();
    }
}

/// The first of two pauses while the second is away: nobody serves that could be asked. It
/// knows the second, whose own files do not say so yet and whose permit has failed.
#[test]
fn the_second_of_two_that_has_not_noted_its_join_goes_on_in_a_new_pod() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.cluster() == 2);
    world.kill(1);
    let volume = &mut world.disk(1).content;
    volume.data.as_mut().unwrap().is_noted = false;
    volume.ledger.permit.as_mut().unwrap().state = PermitState::Failed;
    world.delete(kinds::POD, &pod(1));
    world.settle();
    assert_eq!(world.refused, Vec::<String>::new(), "{}", world.last_words());
    world.expect(3);
}

/// What is there of it is what `join_cluster` leaves, which is no loss: the first serves only
/// beside it, so that nobody could replace it either.
#[test]
fn the_second_of_two_that_is_killed_before_its_application_starts_goes_on_in_a_new_pod() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.cluster() == 2);
    world.until(|w| w.has_noted_its_cluster(1));
    let volume = &world.disk(1).content;
    assert!(!volume.ledger.entered && volume.data.as_ref().is_some_and(|data| !data.has_run));
    world.kill(1);
    world.delete(kinds::POD, &pod(1));
    world.settle();
    assert_eq!(world.refused, Vec::<String>::new(), "{}", world.last_words());
    world.expect(3);
}

/// A permit that is withdrawn ends no join that is under way: its agent may hear of it
/// when the others know the node already.
#[test]
fn a_node_that_joins_after_its_permit_was_withdrawn_leaves_as_any_other() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(World::third_has_begun);
    world.absent.insert(pod(2));
    world.patch_spec(&json!({ "nodes": 1 }));
    let mut tried = 0;
    for _ in 0..15 {
        if !world.tick().unwrap() {
            break;
        }
        for how_far in [Committed::ByTheOthers, Committed::ByAll] {
            let mut world = world.clone();
            tried += 1;
            world.commit_the_join(how_far);
            world.settle();
            world.expect(1);
        }
    }
    assert!(tried > 10, "{tried}: {}", world.last_words());
}

/// Its machine was cut off, and so nobody waited for its agent: it was on record that it has
/// left.
#[test]
fn a_node_that_joins_after_it_was_recorded_as_left_is_forgotten() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(World::third_has_begun);
    let pods = world.kube.pods(&world.store);
    let machine = pods.iter().find(|p| p.key.name == pod(2)).unwrap().node.clone();
    world.absent.insert(pod(2));
    world.kube.set_machine(&mut world.store, &machine, Machine::CutFromApi);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.until(|w| w.member(2)["spec"]["run"] == "Terminated");
    world.commit_the_join(Committed::ByAll);
    world.kube.set_machine(&mut world.store, &machine, Machine::Up);
    world.settle();
    world.expect(1);
}

/// Its turn ends when the others have taken it in, before they report that and before its own
/// agent has noted it.
#[test]
fn a_joiner_whose_join_was_not_noted_when_its_permit_went_is_a_member_like_all_others() {
    let mut world = World::settled(3);
    world.declare("wide", 5);
    world.pass(10);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(World::fourth_has_just_joined);
    world.patch_member(&pod(3), &json!({ "spec": { "start": null } }));
    let no_turn = json!({ "status": { "turn": null } });
    world.store.merge(&cluster_key(), &no_turn, Subresource::Status).unwrap();
    world.settle();
    world.expect(5);
    assert!(world.replicas("wide").contains(&3), "{}", world.last_words());
}

/// It waits for that one for a while only: the restart has its turn when the joiner is a member.
#[test]
fn a_joiner_becomes_a_member_although_another_node_does_not_come_back_before_its_restart() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(World::fourth_has_just_joined);
    world.unlucky.insert(pod(1));
    world.kill(1);
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.until(|w| w.member(1)["spec"]["restartToken"] == "x");
    world.unlucky.clear();
    world.settle();
    world.expect(5);
}
