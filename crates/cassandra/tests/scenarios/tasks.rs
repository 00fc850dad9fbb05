//! What people ask for by tasks.

use crate::every::{all_end_alike, before_each_write, same_end, some};
use crate::nodes::{LAST, spread, spread_with};
use crate::sim::World;
use crate::sim::manifests::NAMESPACE;
use palladion_api::ids::{HostId, VolumeId};
use palladion_api::reasons::Reason;
use palladion_api::task::{CassandraTaskStatus, TaskMember, TaskPhase};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

/// A person makes a task.
pub fn ask(world: &mut World, name: &str, spec: &Value) {
    world.tell(&format!("a person makes the task {name}: {spec}"));
    let task = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": spec,
    });
    world.store.create(&key(name), &task).expect("the task should be accepted");
}

pub fn key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::TASK, NAMESPACE, name)
}

pub fn status(world: &World, name: &str) -> CassandraTaskStatus {
    let task = world.store.get(&key(name)).expect("the task should exist");
    serde_json::from_value(task["status"].clone()).unwrap_or_default()
}

/// What a task says of a member.
pub fn entry(world: &World, name: &str, member: &str) -> TaskMember {
    let members = status(world, name).members;
    members.into_iter().find(|entry| entry.name.as_str() == member).expect("it is of the task")
}

fn message(world: &World, name: &str) -> String {
    let status = status(world, name);
    let first = status.conditions.first();
    first.map(|c| c.message.clone()).unwrap_or_default()
}

fn spec_of(world: &World, member: &str, field: &str) -> String {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
    let member = world.store.get(&key).expect("the member should exist");
    let text = member["spec"][field].as_str();
    text.unwrap_or_default().to_string()
}

pub fn volume_of(world: &World, member: &str) -> VolumeId {
    VolumeId::new(spec_of(world, member, "volumeID"))
}

pub fn host_of(world: &World, member: &str) -> HostId {
    HostId::new(spec_of(world, member, "hostID"))
}

/// How many events of this reason name the task.
pub fn told(world: &World, reason: Reason, task: &str) -> usize {
    let words = format!("   event: CassandraTask {task}");
    let lines = world.story.iter().filter(|line| line.contains(&words)).count();
    if world.events.contains(&reason) { lines } else { 0 }
}

pub fn replace(member: &str) -> Value {
    json!({ "cluster": "demo", "replace": { "member": member } })
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    let mut world = spread(2, 1);
    let before = world.end();
    let mut on_another = replace(LAST);
    on_another["replace"]["volumeID"] = json!("another");
    let mut of_another = replace(LAST);
    of_another["cluster"] = json!("other");
    let cases = [
        ("alive", replace(LAST), "it is up and normal"),
        ("nobody", replace("demo-dc1-a-7"), "existing members: demo-dc1-a-0"),
        ("volume", on_another, "MemberIsLive: "),
        ("cluster", of_another, "belongs to cluster demo, not to other"),
    ];
    for (place, (name, spec, why)) in cases.iter().enumerate() {
        ask(&mut world, name, spec);
        world.settle();
        assert_eq!(told(&world, Reason::TaskRefused, name), 1, "{}", world.last_words());
        assert_eq!(world.counted("jobs_ended_total Replace Refused"), place + 1);
        assert_eq!(status(&world, name).phase, Some(TaskPhase::Refused));
        let message = message(&world, name);
        assert!(message.contains(why), "{name}: {message}");
    }
    assert_eq!(world.end().members, before.members);
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
    world.expect_rest();
}

#[test]
fn a_dead_member_is_replaced_and_the_task_tells_so() {
    let mut world = spread(2, 1);
    world.break_volume(LAST);
    world.pass(60);
    let mut spec = replace(LAST);
    spec["replace"]["volumeID"] = json!(volume_of(&world, LAST));
    ask(&mut world, "replace-it", &spec);
    let (worlds, mut end) = before_each_write(world);
    end.expect_ring(3);
    let status = status(&end, "replace-it");
    assert_eq!(status.phase, Some(TaskPhase::Done), "{}", end.last_words());
    assert!(status.started_at.is_some() && status.ended_at.is_some());
    assert_eq!(told(&end, Reason::TaskDone, "replace-it"), 1, "{}", end.last_words());
    assert_eq!(end.counted("jobs_ended_total Replace Done"), 1);
    let expected = end.end();
    let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore];
    let kill = |world: &mut World| {
        let writes = world.faults.writes();
        world.faults.plan(writes, faults[writes % faults.len()]);
    };
    let compare = |world: &mut World, expected: &crate::sim::End| {
        same_end(world, expected)?;
        match self::status(world, "replace-it").phase {
            Some(TaskPhase::Done) => Ok(()),
            other => Err(format!("the task is {other:?}")),
        }
    };
    all_end_alike("a replacement by task, killed", some(worlds, 2, 0), &expected, kill, compare);
}

/// A member is lost, and a task asks for its replacement.
fn asked_to_replace(mut world: World) -> World {
    world.break_volume(LAST);
    world.pass(60);
    ask(&mut world, "replace-it", &replace(LAST));
    world
}

/// The same while another member is down as well, so that nobody can prove anything.
fn a_replacement_that_waits() -> World {
    let mut world = spread(2, 1);
    let node = world.node_of("demo-dc1-b-0");
    world.set_machine(&node, palladion_plan::sim::kubernetes::Machine::Down);
    let mut world = asked_to_replace(world);
    world.pass(120);
    world
}

/// The lost one is mounted again, and nothing was taken from it.
fn comes_back_untouched(world: &mut World) {
    world.heal();
    world.mount(LAST);
    world.settle();
    world.expect_ring(3);
    assert!(world.destructive.is_empty(), "{:?}", world.destructive);
}

#[test]
fn a_task_is_taken_back_while_it_waits_and_not_later() {
    let abort = |world: &mut World| {
        world.tell("a person aborts the task");
        world
            .store
            .merge(&key("replace-it"), &json!({ "spec": { "abort": true } }), Subresource::None)
            .expect("the task should exist");
    };
    let mut world = a_replacement_that_waits();
    assert_eq!(status(&world, "replace-it").phase, Some(TaskPhase::Running));
    abort(&mut world);
    world.pass(30);
    assert_eq!(status(&world, "replace-it").phase, Some(TaskPhase::Aborted));
    assert_eq!(told(&world, Reason::TaskAborted, "replace-it"), 1, "{}", world.last_words());
    comes_back_untouched(&mut world);

    let (worlds, _) = before_each_write(asked_to_replace(spread(2, 1)));
    let mut outcomes = [0, 0];
    for mut world in worlds {
        abort(&mut world);
        let done = |w: &World| status(w, "replace-it").phase.is_some_and(TaskPhase::is_final);
        world.until(done);
        world.settle();
        match status(&world, "replace-it").phase {
            Some(TaskPhase::Done) => {
                outcomes[0] += 1;
                world.expect_ring(3);
            }
            Some(TaskPhase::Aborted) => {
                outcomes[1] += 1;
                world.mount(LAST);
                world.settle();
                world.expect_ring(3);
                assert!(world.destructive.is_empty(), "{:?}", world.destructive);
            }
            other => panic!("{other:?}\n{}", world.last_words()),
        }
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}

/// Whoever deletes a task wants nothing of it any more.
#[test]
fn a_task_that_is_deleted_while_it_waits_is_taken_back_and_not_later() {
    let delete = |world: &mut World| world.delete(kinds::TASK, "replace-it");
    let replaces = |world: &World| {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, LAST);
        world.store.get(&key).is_some_and(|member| member["spec"]["replace"].is_object())
    };
    let mut world = a_replacement_that_waits();
    assert!(replaces(&world));
    delete(&mut world);
    world.pass(30);
    assert!(!replaces(&world), "{}", world.last_words());
    comes_back_untouched(&mut world);

    let (worlds, _) = before_each_write(asked_to_replace(spread(2, 1)));
    let mut outcomes = [0, 0];
    for mut world in worlds {
        delete(&mut world);
        world.settle();
        match world.destructive.is_empty() {
            true => {
                outcomes[0] += 1;
                assert!(!replaces(&world), "{}", world.last_words());
                world.mount(LAST);
                world.settle();
            }
            false => outcomes[1] += 1,
        }
        world.expect_ring(3);
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}

#[test]
fn the_last_of_three_speaks_for_the_ring_where_a_person_names_the_volumes() {
    let lost = ["demo-dc1-a-0", LAST];
    let mut world = World::new();
    world.ring.copies = 3;
    let mut world = spread_with(world, 2, 1);
    world.register_node("n6", "z1");
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    let nodes = lost.map(|member| world.node_of(member));
    for node in &nodes {
        world.lose_node(node);
    }
    world.pass(300);
    assert_eq!(world.normal(), 1, "{}", world.last_words());
    // What cannot be done yet is not tried again and again.
    let writes = world.faults.writes();
    world.pass(600);
    assert_eq!(world.faults.writes(), writes, "{}", world.last_words());
    // Without the volume a task has no more to say than what is known.
    ask(&mut world, "no-volume", &replace(LAST));
    world.pass(120);
    assert_eq!(world.normal(), 1, "{}", world.last_words());
    for (name, member) in ["first", "second"].iter().zip(lost) {
        let mut spec = replace(member);
        spec["replace"]["volumeID"] = json!(volume_of(&world, member));
        ask(&mut world, name, &spec);
        let host = host_of(&world, member);
        world.ring.called_lost.insert(host);
    }
    world.settle();
    world.expect_ring(3);
    for name in ["no-volume", "first", "second"] {
        assert_eq!(status(&world, name).phase, Some(TaskPhase::Done), "{name}");
    }
}
