//! Rotations of an authority that a person asks for: all come to trust the new one, it signs, the
//! former one goes; with no member restarted, and no client that reads the ConfigMap in its time
//! kept out. What disturbs that, whoever leads at each write of it. That servers take what the
//! others show is an invariant of the simulation.

use crate::every::{
    a_ring, all_end_alike, before_each_write, in_flight, killed_at_every_write, same_end, some,
};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::{Link, Tick, cluster_key};
use crate::tasks::{ask, key as task_key, replace, status};
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::Purpose;
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub const TASK: &str = "rotate-it";
const DAY: SignedDuration = SignedDuration::from_hours(24);
const FIRST: &str = "demo-dc1-a-0";
const LAST: &str = "demo-dc1-b-0";

/// A ring whose members take TLS alone, from each other and from clients.
pub fn a_secure_ring(a: i32, b: i32) -> World {
    let mut cluster = a_cluster(&[("a", a), ("b", b)]);
    let operator = json!({ "mode": "Require", "certificates": { "operator": {} } });
    cluster["spec"]["tls"] = json!({ "internode": operator, "client": operator });
    let mut world = World::new().with(&cluster);
    world.settle();
    world.expect_ring(usize::try_from(a + b).unwrap());
    world.story.clear();
    world.destructive.clear();
    world.writes.clear();
    world
}

fn rotate(purpose: Purpose) -> Value {
    json!({ "cluster": "demo", "rotateAuthority": { "purpose": purpose } })
}

/// The same where clients have no time, or all they need.
fn at_once(purpose: Purpose) -> Value {
    let mut spec = rotate(purpose);
    if purpose == Purpose::Client {
        spec["rotateAuthority"]["overlapSeconds"] = json!(600);
    }
    spec
}

pub fn asked(purpose: Purpose) -> World {
    let mut world = a_secure_ring(2, 1);
    ask(&mut world, TASK, &at_once(purpose));
    world
}

pub fn patch_task(world: &mut World, spec: &Value) {
    world.tell(&format!("a person changes the task: {spec}"));
    let patch = json!({ "spec": spec });
    world.store.merge(&task_key(TASK), &patch, Subresource::None).expect("the task should exist");
}

pub fn phase(world: &World, task: &str) -> Option<TaskPhase> {
    status(world, task).phase
}

pub fn message(world: &World, task: &str) -> String {
    let first = status(world, task).conditions.first().cloned();
    first.map(|c| format!("{}: {}", c.reason, c.message)).unwrap_or_default()
}

fn says(message: &str, reason: Reason) -> bool {
    message.contains(&format!("{reason}: "))
}

/// The authorities on record, with the step of a rotation.
pub fn authorities(world: &World, purpose: Purpose) -> Vec<String> {
    let status = world.status();
    let all = status["authorities"].as_object().into_iter().flatten();
    let of_purpose = all.filter(|(name, _)| name.starts_with(purpose.name()));
    let words = |(name, record): (&String, &Value)| match record["rotation"]["step"].as_str() {
        Some(step) => format!("{name} {step}"),
        None => name.clone(),
    };
    of_purpose.map(words).collect()
}

pub fn fingerprint(world: &World, authority: &str) -> String {
    let cluster = world.store.get(&cluster_key()).expect("the cluster");
    let known = cluster["status"]["authorities"][authority]["fingerprint"].as_str();
    known.unwrap_or_default().to_string()
}

/// What servers show, each once.
pub fn shown(world: &World, purpose: Purpose) -> BTreeSet<String> {
    let servers = world.ring.servers.values();
    let shown = servers.map(|server| match purpose {
        Purpose::Client => &server.shown_to_clients,
        Purpose::Internode => &server.shown,
    });
    shown.filter_map(|shown| shown.shows.clone()).collect()
}

/// What servers take, each once.
pub fn taken(world: &World, purpose: Purpose) -> BTreeSet<String> {
    let servers = world.ring.servers.values();
    let shown = servers.map(|server| match purpose {
        Purpose::Client => &server.shown_to_clients,
        Purpose::Internode => &server.shown,
    });
    shown.flat_map(|shown| shown.takes.clone()).collect()
}

/// What clients find that read the ConfigMap now.
fn for_clients(world: &World) -> BTreeSet<String> {
    let key = ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, "demo-client-ca");
    let map = world.store.get(&key).map(|map| map["data"]["ca.crt"].clone()).unwrap_or_default();
    let text = map.as_str().unwrap_or_default();
    text.split_inclusive('\n').map(|one| palladion_plan::hash::of(&json!(one))).collect()
}

/// Only the authority of this number is left, everywhere.
fn expect_rotated(world: &World, purpose: Purpose, number: u32) {
    let name = format!("{}-{number}", purpose.name());
    assert_eq!(authorities(world, purpose), std::slice::from_ref(&name), "{}", world.last_words());
    let new = BTreeSet::from([fingerprint(world, &name)]);
    assert_eq!(shown(world, purpose), new, "{}", world.last_words());
    assert_eq!(taken(world, purpose), new, "{}", world.last_words());
    if purpose == Purpose::Client {
        assert_eq!(for_clients(world), new);
    }
}

#[test]
fn each_authority_is_rotated_in_three_steps_and_nobody_restarts() {
    for purpose in Purpose::ALL {
        let mut world = asked(purpose);
        let pods: Vec<_> = world.ring.servers.keys().cloned().collect();
        let [one, two] = [1, 2].map(|number| format!("{}-{number}", purpose.name()));
        let old = BTreeSet::from([fingerprint(&world, &one)]);
        let mut seen: Vec<Vec<String>> = Vec::new();
        loop {
            let now = authorities(&world, purpose);
            // Trust first: nobody shows the new one before all take it.
            if now == [one.clone(), format!("{two} Trust")] {
                assert_eq!(shown(&world, purpose), old, "{}", world.last_words());
            }
            if seen.last() != Some(&now) {
                seen.push(now);
            }
            if world.tick().unwrap() == Tick::Rest {
                break;
            }
        }
        let steps = [
            vec![one.clone()],
            vec![one.clone(), format!("{two} Trust")],
            vec![one, format!("{two} Certificates")],
            vec![format!("{two} Certificates")],
            vec![two.clone()],
        ];
        assert_eq!(seen, steps, "{}", world.last_words());
        assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{}", world.last_words());
        let ended = status(&world, TASK);
        assert_eq!((ended.authority, ended.progress), (Some(two), Some("100%".into())));
        expect_rotated(&world, purpose, 2);
        assert_eq!(world.ring.servers.keys().cloned().collect::<Vec<_>>(), pods);
        assert!(world.destructive.is_empty(), "{:?}", world.destructive);
        world.expect_ring(3);
        world.expect_rest();
    }
}

#[test]
fn the_operator_may_end_at_any_write_of_it() {
    for purpose in Purpose::ALL {
        let mut end = killed_at_every_write("an authority is rotated", asked(purpose), 3);
        end.expect_ring(3);
        expect_rotated(&end, purpose, 2);
    }
}

#[test]
fn a_leader_that_was_frozen_takes_no_step_of_it_twice() {
    for purpose in Purpose::ALL {
        let (worlds, end) = before_each_write(asked(purpose));
        let expected = end.end();
        let compare = |world: &mut World, expected: &crate::sim::End| {
            expect_rotated(world, purpose, 2);
            same_end(world, expected)
        };
        all_end_alike("frozen", some(worlds, 3, 1), &expected, in_flight, compare);
    }
}

#[test]
fn a_client_that_reads_what_it_trusts_in_its_time_is_never_kept_out() {
    let mut world = a_secure_ring(2, 1);
    ask(&mut world, TASK, &rotate(Purpose::Client));
    // Of the last seven days, the oldest first.
    let mut read: Vec<(Timestamp, BTreeSet<String>)> = vec![(world.now(), for_clients(&world))];
    for _ in 0..3_000 {
        let now = world.now();
        let known = for_clients(&world);
        if read.last().is_some_and(|(_, last)| *last != known) {
            read.push((now, known));
        }
        let overlap = DAY * 7 - SignedDuration::from_mins(1);
        let of_then = read.iter().rev().find(|(at, _)| *at <= now - overlap);
        let (_, trusted) = of_then.unwrap_or(&read[0]);
        for by in shown(&world, Purpose::Client) {
            assert!(trusted.contains(&by), "a client is kept out: {}", world.last_words());
        }
        if world.tick().unwrap() == Tick::Rest {
            if phase(&world, TASK) == Some(TaskPhase::Done) {
                break;
            }
            world.pass(3600);
        }
    }
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{}", world.last_words());
    expect_rotated(&world, Purpose::Client, 2);
}

#[test]
fn who_knows_that_clients_are_ready_lowers_the_time() {
    let mut world = a_secure_ring(2, 1);
    ask(&mut world, TASK, &rotate(Purpose::Client));
    world.settle();
    let said = message(&world, TASK);
    assert!(said.contains("clients have until") && said.contains("overlapSeconds"), "{said}");
    assert_eq!(authorities(&world, Purpose::Client), ["client-1", "client-2 Trust"]);
    assert_eq!(for_clients(&world).len(), 2);
    world.expect_rest();
    patch_task(&mut world, &json!({ "rotateAuthority": { "overlapSeconds": 0 } }));
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{}", world.last_words());
    expect_rotated(&world, Purpose::Client, 2);
}

#[test]
fn it_is_taken_back_as_long_as_nothing_is_signed_and_goes_on_afterwards() {
    let (worlds, _) = before_each_write(asked(Purpose::Internode));
    let (mut back, mut done) = (0, 0);
    for mut world in worlds {
        let step = authorities(&world, Purpose::Internode).pop().unwrap_or_default();
        // The write that lets it sign may be on its way while somebody aborts.
        let is_signing = !step.contains("Trust") && step.starts_with("internode-2")
            || message(&world, TASK).contains("which signs next");
        patch_task(&mut world, &json!({ "abort": true }));
        world.settle();
        match phase(&world, TASK) {
            Some(TaskPhase::Aborted) => {
                expect_rotated(&world, Purpose::Internode, 1);
                back += 1;
            }
            Some(TaskPhase::Done) => {
                assert!(is_signing, "{}", world.last_words());
                expect_rotated(&world, Purpose::Internode, 2);
                done += 1;
            }
            other => panic!("{other:?}: {}", world.last_words()),
        }
        world.expect_ring(3);
        world.expect_rest();
    }
    assert!(back > 3 && done > 3, "{back} were taken back, {done} went on");
}

#[test]
fn too_late_to_abort_is_said() {
    let mut world = asked(Purpose::Internode);
    world
        .until(|w| authorities(w, Purpose::Internode).contains(&"internode-2 Certificates".into()));
    patch_task(&mut world, &json!({ "abort": true }));
    world.until(|w| message(w, TASK).contains("too late to abort"));
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{}", world.last_words());
}

#[test]
fn a_task_that_is_deleted_takes_it_back_and_later_it_goes_on_without() {
    for (step, number) in [("Trust", 1), ("Certificates", 2)] {
        for purpose in Purpose::ALL {
            let mut world = asked(purpose);
            let name = format!("{}-2 {step}", purpose.name());
            world.until(|w| authorities(w, purpose).contains(&name));
            world.delete(kinds::TASK, TASK);
            world.settle();
            expect_rotated(&world, purpose, number);
            world.expect_rest();
        }
    }
}

#[test]
fn what_cannot_be_rotated_is_refused_with_the_reason() {
    let mut world = a_ring(2, 1);
    for purpose in Purpose::ALL {
        ask(&mut world, purpose.name(), &rotate(purpose));
        world.settle();
        assert_eq!(phase(&world, purpose.name()), Some(TaskPhase::Refused));
        let said = message(&world, purpose.name());
        assert!(says(&said, Reason::NoAuthority) && said.contains("does not sign"), "{said}");
    }
    let internode = json!({ "mode": "Require", "certificates": { "operator": {} } });
    world.patch_spec(&json!({ "tls": { "internode": internode } }));
    world.until(|world| world.status()["internodeTls"] == "Prefer");
    ask(&mut world, "too-early", &rotate(Purpose::Internode));
    world.until(|w| phase(w, "too-early") == Some(TaskPhase::Refused));
    let said = message(&world, "too-early");
    assert!(says(&said, Reason::InternodeTlsChanging), "{said}");
    world.settle();
    world.expect_ring(3);
    let mut world = asked(Purpose::Internode);
    world.until(|w| authorities(w, Purpose::Internode).len() == 2);
    ask(&mut world, "second", &rotate(Purpose::Internode));
    ask(&mut world, "other", &at_once(Purpose::Client));
    world.until(|w| phase(w, "second") == Some(TaskPhase::Refused));
    let said = message(&world, "second");
    assert!(says(&said, Reason::AlreadyRotating) && said.contains("rotate-it"), "{said}");
    world.settle();
    assert_eq!(phase(&world, "other"), Some(TaskPhase::Done), "each purpose has its own");
    expect_rotated(&world, Purpose::Internode, 2);
    expect_rotated(&world, Purpose::Client, 2);
}

#[test]
fn two_tasks_at_once_rotate_once() {
    let mut world = a_secure_ring(2, 1);
    ask(&mut world, "b", &rotate(Purpose::Internode));
    ask(&mut world, "a", &rotate(Purpose::Internode));
    world.settle();
    let phases = ["a", "b"].map(|task| phase(&world, task).unwrap());
    assert!(
        phases.contains(&TaskPhase::Done) && phases.contains(&TaskPhase::Refused),
        "{phases:?}"
    );
    expect_rotated(&world, Purpose::Internode, 2);
}

#[test]
fn without_the_policies_it_waits() {
    let mut world = a_secure_ring(2, 1);
    world.set_policies(false);
    ask(&mut world, TASK, &rotate(Purpose::Internode));
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Waiting));
    assert!(message(&world, TASK).contains("SigningOff"), "{}", message(&world, TASK));
    world.set_policies(true);
    world.settle();
    expect_rotated(&world, Purpose::Internode, 2);
}

#[test]
fn a_paused_ring_takes_up_nothing_and_lets_it_be_aborted() {
    let mut world = a_secure_ring(2, 1);
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    ask(&mut world, TASK, &rotate(Purpose::Internode));
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Waiting));
    patch_task(&mut world, &json!({ "abort": true }));
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Aborted), "{}", world.last_words());
}

#[test]
fn a_silent_member_holds_the_step_and_is_named() {
    for step in ["Trust", "Certificates"] {
        let mut world = asked(Purpose::Internode);
        let name = format!("internode-2 {step}");
        world.until(|w| authorities(w, Purpose::Internode).contains(&name));
        world.agent_is_cut(LAST, Link::Cut);
        world.pass((DAY * 2).as_secs());
        assert!(authorities(&world, Purpose::Internode).contains(&name), "{}", world.last_words());
        let said = message(&world, TASK);
        assert!(says(&said, Reason::CertificatesBehind) && said.contains(LAST), "{said}");
        world.agents_are_back();
        world.settle();
        expect_rotated(&world, Purpose::Internode, 2);
    }
}

#[test]
fn a_member_that_is_to_be_replaced_holds_nothing() {
    for step in ["Trust", "Certificates"] {
        let mut world = asked(Purpose::Internode);
        let name = format!("internode-2 {step}");
        world.until(|w| authorities(w, Purpose::Internode).contains(&name));
        // Nobody replaces it while another one is down, too.
        let node = world.node_of(LAST);
        world.set_machine(&node, Machine::Down);
        world.pass(600);
        ask(&mut world, "replace-it", &replace(LAST));
        world.settle();
        world.pass((DAY * 2).as_secs());
        world.settle();
        assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{step}: {}", world.last_words());
    }
}

#[test]
fn members_join_and_are_replaced_at_each_step() {
    for purpose in Purpose::ALL {
        for step in ["-2 Trust", "-2 Certificates", "-2"] {
            let mut world = asked(purpose);
            let name = format!("{}{step}", purpose.name());
            world.until(|w| authorities(w, purpose).contains(&name));
            world.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
            world.delete(kinds::POD, FIRST);
            world.wipe_volume(FIRST);
            world.settle();
            world.expect_ring(4);
            assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{}", world.last_words());
            expect_rotated(&world, purpose, 2);
        }
    }
}

#[test]
fn agents_that_do_not_report_for_clients_hold_it_until_their_successors_do() {
    let mut world = a_secure_ring(2, 1);
    world.set_protocol(10);
    ask(&mut world, TASK, &at_once(Purpose::Client));
    world.settle();
    let said = message(&world, TASK);
    assert!(says(&said, Reason::AgentTooOld), "{said}");
    assert_eq!(authorities(&world, Purpose::Client), ["client-1", "client-2 Trust"]);
    patch_task(&mut world, &json!({ "abort": true }));
    world.settle();
    expect_rotated_but_for_servers(&world);
}

/// Servers of agents that do not report are read by themselves.
fn expect_rotated_but_for_servers(world: &World) {
    assert_eq!(phase(world, TASK), Some(TaskPhase::Aborted), "{}", world.last_words());
    assert_eq!(authorities(world, Purpose::Client), ["client-1"]);
}

#[test]
fn a_succession_that_is_under_way_is_replaced_as_a_whole() {
    let mut world = a_secure_ring(2, 1);
    // Ten years, less two.
    for _ in 0..(8 * 365 / 5 + 2) {
        world.pass((DAY * 5).as_secs());
        world.settle();
    }
    assert_eq!(authorities(&world, Purpose::Internode), ["internode-1", "internode-2"]);
    ask(&mut world, TASK, &rotate(Purpose::Internode));
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Done), "{}", world.last_words());
    expect_rotated(&world, Purpose::Internode, 3);
}

#[test]
fn a_record_that_somebody_removes_fails_it_and_the_ring_goes_on() {
    let mut world = asked(Purpose::Internode);
    world.until(|w| status(w, TASK).authority.is_some());
    let none = json!({ "status": { "authorities": { "internode-2": null } } });
    world.store.merge(&cluster_key(), &none, Subresource::Status).expect("the cluster");
    world.settle();
    assert_eq!(phase(&world, TASK), Some(TaskPhase::Failed), "{}", world.last_words());
    expect_rotated(&world, Purpose::Internode, 1);
}
