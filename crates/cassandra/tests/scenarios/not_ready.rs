//! Members at the repair of what is due whose Node, or whose agent alone, loses the API
//! server while their servers go on: nobody else repairs what they were granted before their
//! agents have ended that by themselves.

use crate::jobs::{abort, task};
use crate::sim::World;
use crate::sim::rows::RANGES;
use crate::sim::world::Link;
use crate::tasks::{ask, status};
use crate::unheard::{DUE, MEMBER, at_work, entry, hangs, repaired};
use palladion_api::member::{JobCause, JobState, JobStatus};
use palladion_api::task::{MemberTaskState as State, TaskPhase};
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

/// A member that repairs for long when its Node loses the API server.
fn not_ready() -> World {
    let (mut world, member) = at_work();
    let node = world.node_of(&member);
    world.set_machine(&node, Machine::CutFromApi);
    world
}

/// So long, in steps in which everything that is due happens.
pub fn live(world: &mut World, seconds: i64) {
    let end = world.clock() + seconds;
    while world.clock() < end {
        world.pass(120.min(end - world.clock()));
    }
    world.pass(1);
}

/// What its agent has noted of its part.
fn noted(world: &mut World) -> JobStatus {
    let notes = &world.disk_of(MEMBER).content.jobs;
    notes.last.as_ref().expect("it was given a part").status.clone()
}

/// The pod and the Node are not ready, and the others see the server up.
#[test]
fn a_member_whose_node_loses_the_api_server_keeps_its_part_until_its_agent_has_ended_it() {
    let mut world = not_ready();
    live(&mut world, 800);
    assert!(hangs(&world), "it goes on by itself: {}", world.last_words());
    assert_eq!(entry(&world, MEMBER).state, State::Running, "{}", world.last_words());
    live(&mut world, 1600);
    assert!(!hangs(&world), "nobody could have stopped it: {}", world.last_words());
    assert_eq!(entry(&world, MEMBER).state, State::Running, "{}", world.last_words());
    let before = repaired(&world).len();
    live(&mut world, 1800);
    let given_back = entry(&world, MEMBER);
    assert_eq!(given_back.state, State::Interrupted, "{}", world.last_words());
    assert_eq!((given_back.tries, given_back.reason.as_deref()), (0, Some("Interrupted")));
    assert!(repaired(&world).len() > before, "others repair with it: {}", world.last_words());
    world.ring.hanging.clear();
    let node = world.node_of(MEMBER);
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert!(status(&world, DUE).phase.is_some_and(TaskPhase::is_final), "{}", world.last_words());
    ask(&mut world, "next", &task("repair", &json!({ "scope": "Due" })));
    world.settle();
    assert_eq!(status(&world, "next").phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(repaired(&world), (0..RANGES).collect());
    world.expect_ring(4);
}

/// Its agent says that its part was interrupted, and that costs no try.
#[test]
fn a_node_that_is_back_before_others_are_given_its_part_goes_on_with_a_new_one() {
    let mut world = not_ready();
    live(&mut world, 2400);
    let ended = noted(&mut world);
    let by_itself = (JobState::Interrupted, Some(JobCause::ApiServerUnreachable));
    assert_eq!((ended.state, ended.cause), by_itself, "{}", world.last_words());
    world.ring.hanging.clear();
    let node = world.node_of(MEMBER);
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert_eq!(status(&world, DUE).phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(entry(&world, MEMBER).tries, 1);
    assert_eq!(repaired(&world), (0..RANGES).collect());
    world.expect_ring(4);
}

/// Each of its agents would count half an hour of its own.
#[test]
fn an_agent_that_is_restarted_over_and_over_goes_on_counting() {
    let mut world = not_ready();
    let cut = world.clock();
    let mut restarted = cut;
    while world.clock() < cut + 600 {
        live(&mut world, 240);
        world.restart_agent(MEMBER);
        restarted = world.clock();
    }
    live(&mut world, 10);
    assert!(!noted(&mut world).state.is_final(), "{}", world.last_words());
    let left = cut + 1900 - world.clock();
    live(&mut world, left);
    assert!(world.clock() < restarted + 1700, "the last one has run for less: {restarted}");
    let ended = noted(&mut world);
    let by_itself = (JobState::Interrupted, Some(JobCause::ApiServerUnreachable));
    assert_eq!((ended.state, ended.cause), by_itself, "{}", world.last_words());
}

/// It says last that it repairs; nobody asked it about that, so that a person who aborts the
/// task waited for seven days.
#[test]
fn a_task_whose_member_has_lost_the_api_server_can_be_aborted() {
    let (mut world, member) = at_work();
    world.agent_is_cut(&member, Link::Cut);
    world.pass(60);
    abort(&mut world, DUE);
    live(&mut world, 600);
    assert_eq!(status(&world, DUE).phase, Some(TaskPhase::Running), "its server is at it still");
    live(&mut world, 3600);
    assert_eq!(status(&world, DUE).phase, Some(TaskPhase::Aborted), "{}", world.last_words());
    world.ring.hanging.clear();
    world.agents_are_back();
    world.settle();
    world.expect_ring(4);
}

/// A turn comes before all jobs, and waits for the end of what runs; and no turn is taken
/// whose end an agent that nobody hears would have to confirm. That is told, with its name.
#[test]
fn a_restart_waits_for_a_member_that_has_lost_the_api_server_in_a_repair_and_says_so() {
    let is_restarted = |world: &World| {
        world.writes.iter().any(|write| write.contains("restart the server of member demo-dc1-b-0"))
    };
    let (mut world, member) = at_work();
    world.agent_is_cut(&member, Link::Cut);
    world.pass(60);
    world.want("demo-dc1-b-0", &json!({ "restartToken": "again" }));
    live(&mut world, 600);
    assert!(!is_restarted(&world), "a server that others see up repairs still");
    live(&mut world, 2 * 3600);
    assert!(!is_restarted(&world), "{}", world.last_words());
    let (silent, waits) = (world.condition("Degraded"), world.condition("Progressing"));
    assert!(silent.starts_with("True AgentSilent") && silent.contains(&member), "{silent}");
    assert!(waits.contains("demo-dc1-b-0") && waits.contains(&member), "{waits}");
    let cut = crate::addresses::member(&world, &member);
    assert_eq!(cut["spec"]["job"], Value::Null, "others may repair what it was given: {cut}");
    world.ring.hanging.clear();
    world.agents_are_back();
    world.settle();
    assert!(is_restarted(&world), "{}", world.last_words());
    assert_eq!(status(&world, DUE).phase, Some(TaskPhase::Done), "{}", world.last_words());
    world.expect_ring(4);
}

/// A flush goes before the repair, which is asked to stop, and its agent does not hear that. Its
/// pod and its Node are ready.
#[test]
fn what_goes_before_a_repair_waits_for_an_agent_that_is_not_heard_and_not_for_ever() {
    let (mut world, member) = at_work();
    world.agent_is_cut(&member, Link::Cut);
    world.ring.hanging.clear();
    let flush = json!({ "cluster": "demo", "flush": {}, "members": ["demo-dc1-b-0"] });
    ask(&mut world, "flush", &flush);
    live(&mut world, 5400);
    assert_eq!(status(&world, "flush").phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(entry(&world, MEMBER).state, State::Interrupted, "{}", world.last_words());
}

/// The same of a user who takes the repair back, in a ring that is paused.
#[test]
fn a_paused_ring_ends_a_repair_whose_agent_is_not_heard() {
    let (mut world, member) = at_work();
    world.agent_is_cut(&member, Link::Cut);
    world.ring.hanging.clear();
    world.patch_spec(&json!({ "paused": true }));
    abort(&mut world, DUE);
    live(&mut world, 5400);
    let ended = status(&world, DUE).phase;
    assert!(ended.is_some_and(TaskPhase::is_final), "{ended:?}: {}", world.last_words());
}
