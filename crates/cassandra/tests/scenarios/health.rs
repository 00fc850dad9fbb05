//! Stories of health: of a member, as its agent finds it, and of a ring, check
//! by check. What flaps is not written, and what has ended is.

use crate::every::a_ring;
use crate::nodes::{LAST, spread};
use crate::rolling::a_ring_of_4_1;
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster, two_racks};
use crate::sim::world::{Link, Tick, cluster_key};
use crate::tasks::{ask, replace};
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";
const OF_B: &str = "demo-dc1-b-0";

fn status(world: &World) -> Value {
    world.store.get(&cluster_key()).map(|c| c["status"].clone()).unwrap_or_default()
}

/// Verdict of the ring.
fn verdict(world: &World) -> String {
    status(world)["health"]["verdict"].as_str().unwrap_or_default().to_string()
}

/// A check: its result and message.
fn check(world: &World, name: &str) -> String {
    let status = status(world);
    let checks = status["health"]["checks"].as_array().cloned().unwrap_or_default();
    let found = checks.iter().find(|c| c["name"] == name);
    let text =
        |field: &str| found.and_then(|c| c[field].as_str()).map(str::to_string).unwrap_or_default();
    format!("{}: {}", text("result"), text("message"))
}

/// Names of the checks that do not pass.
fn amiss(world: &World) -> Vec<String> {
    let status = status(world);
    let checks = status["health"]["checks"].as_array().cloned().unwrap_or_default();
    let amiss = checks.iter().filter(|c| c["result"] != "Pass");
    amiss.map(|c| c["name"].as_str().unwrap_or_default().to_string()).collect()
}

fn expect_well(world: &mut World) {
    world.settle();
    assert_eq!((verdict(world).as_str(), amiss(world)), ("Well", vec![]), "{}", world.last_words());
    assert!(world.condition("Healthy").starts_with("True AllChecksPass"));
}

/// This check fails as the first, with these words, and the ring is ill by it.
fn expect_ill(world: &World, name: &str, words: &str) {
    let found = check(world, name);
    let is_so = found.starts_with("Fail: ") && found.contains(words);
    assert!(is_so, "{name}: {found}\n{}", world.last_words());
    assert_eq!(verdict(world), "Ill");
    let condition = world.condition("Healthy");
    let expected = format!("False {name}: ");
    assert!(condition.starts_with(&expected) && condition.contains(words), "{condition}");
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).map(|m| (**m).clone()).unwrap_or_default()
}

/// The history of a member's health: results, and whether they have ended.
fn history(world: &World, name: &str) -> Vec<String> {
    let records = member(world, name)["status"]["health"].as_array().cloned().unwrap_or_default();
    let words = |r: &Value| {
        let result = r["result"].as_str().unwrap_or_default();
        format!("{result}{}", if r["until"].is_null() { "" } else { " ended" })
    };
    records.iter().map(words).collect()
}

/// Versions of all objects whose status is told, so that no write goes unseen.
fn versions(world: &World) -> Vec<Value> {
    let of_members = world.members().into_iter().map(|m| member(world, &m));
    let cluster = world.store.get(&cluster_key()).map(|c| (**c).clone()).unwrap_or_default();
    let all = of_members.chain([cluster]);
    all.map(|object| object["metadata"]["resourceVersion"].clone()).collect()
}

#[test]
fn a_ring_at_rest_is_well_by_every_check() {
    let mut world = a_ring(2, 1);
    expect_well(&mut world);
    assert_eq!(status(&world)["health"]["checks"].as_array().map(Vec::len), Some(10));
    for name in world.members() {
        assert_eq!(history(&world, &name), ["Healthy"], "{name}");
    }
}

#[test]
fn a_ring_that_grows_or_shrinks_is_not_well_until_it_is_as_wanted() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| check(w, "TopologyStill").contains("the join of member demo-dc1-a-2"));
    expect_ill(&world, "MembersExist", "not in the ring yet: demo-dc1-a-2");
    expect_well(&mut world);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| check(w, "TopologyStill").contains("the decommission of member demo-dc1-a-2"));
    expect_ill(&world, "MembersExist", "no longer in the spec: demo-dc1-a-2");
    expect_well(&mut world);
    world.expect_ring(3);
}

#[test]
fn a_ring_without_a_live_seed_says_so_first() {
    let mut world = a_ring(2, 1);
    world.ring.closed.extend([FIRST, LAST, OF_B].map(String::from));
    world.pass(60);
    expect_ill(&world, "SeedsLive", &format!("no seed is live, so no member can join: {FIRST}"));
    assert_eq!(status(&world)["contactPoints"], Value::Null, "nobody takes clients");
    world.ring.closed.remove(OF_B);
    world.pass(60);
    assert_eq!(check(&world, "SeedsLive"), "Pass: ", "one is enough");
    world.ring.closed.clear();
    expect_well(&mut world);
}

#[test]
fn a_member_that_takes_no_clients_is_not_healthy() {
    let mut world = a_ring(2, 1);
    world.ring.closed.insert(LAST.into());
    world.pass(60);
    expect_ill(&world, "MembersHealthy", "the native transport is down");
    assert_eq!(amiss(&world), ["MembersHealthy"], "its mode is NORMAL, and others see it up");
    assert_eq!(history(&world, LAST), ["Unhealthy", "Healthy ended"]);
    world.ring.closed.insert(OF_B.into());
    world.pass(60);
    let both = format!("not healthy: {LAST} and {OF_B}; member {LAST}: ");
    expect_ill(&world, "MembersHealthy", &both);
    world.ring.closed.clear();
    expect_well(&mut world);
    assert_eq!(history(&world, LAST), ["Healthy", "Unhealthy ended", "Healthy ended"]);
}

#[test]
fn a_server_that_is_silent_for_long_is_told_and_back_when_it_answers() {
    let mut world = a_ring(2, 1);
    world.ring.silent.insert(LAST.into());
    world.pass(60);
    assert_eq!(history(&world, LAST), ["NoAnswer", "Healthy ended"]);
    expect_ill(&world, "MembersHealthy", LAST);
    assert!(
        check(&world, "MembersNormal").starts_with("Fail: members that are not in mode NORMAL: ")
    );
    assert_eq!(check(&world, "AgentsSpeak"), "Pass: ");
    world.ring.silent.clear();
    expect_well(&mut world);
    assert_eq!(history(&world, LAST), ["Healthy", "NoAnswer ended", "Healthy ended"]);
}

#[test]
fn a_server_that_answers_now_and_then_causes_no_write() {
    let mut world = a_ring(2, 1);
    expect_well(&mut world);
    let (before, writes) = (versions(&world), world.writes.len());
    for _ in 0..20 {
        world.ring.silent.insert(LAST.into());
        world.pass(12);
        world.ring.silent.clear();
        world.pass(12);
    }
    assert_eq!(versions(&world), before, "{}", world.last_words());
    assert_eq!(world.writes.len(), writes, "{}", world.last_words());
    // Were it silent for longer, it would be written: the looks are taken.
    world.ring.silent.insert(LAST.into());
    world.pass(24);
    assert_ne!(versions(&world), before);
}

#[test]
fn a_machine_that_is_down_leaves_what_its_agent_knew_unknown() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    expect_ill(&world, "AgentsSpeak", LAST);
    for name in ["MembersHealthy", "MembersNormal", "ServersRun"] {
        let found = check(&world, name);
        assert!(found.starts_with("Unknown: ") && found.contains(LAST), "{name}: {found}");
    }
    let points = status(&world)["contactPoints"].as_array().map(Vec::len);
    assert_eq!(points, Some(2), "{}", status(&world)["contactPoints"]);
    world.set_machine(&node, Machine::Up);
    expect_well(&mut world);
}

#[test]
fn a_stopped_member_makes_the_ring_ill_since_it_was_stopped() {
    let mut world = a_ring(2, 1);
    world.want(LAST, &json!({ "run": "Stopped" }));
    world.settle();
    expect_ill(&world, "MembersHealthy", &format!("member {LAST}: its server is stopped"));
    assert!(check(&world, "ServersRun").starts_with("Fail: the servers of these members"));
    assert_eq!(history(&world, LAST), ["NoAnswer", "Healthy ended"]);
    let since = status(&world)["health"]["since"].clone();
    let (before, writes) = (versions(&world), world.writes.len());
    world.pass(3600);
    world.expect_rest();
    assert_eq!((versions(&world), world.writes.len()), (before, writes), "nothing is written");
    // Another check that fails does not begin it anew.
    world.ring.closed.insert(OF_B.into());
    world.pass(60);
    assert_eq!((verdict(&world).as_str(), &status(&world)["health"]["since"]), ("Ill", &since));
    world.ring.closed.clear();
    world.want(LAST, &json!({ "run": "Running" }));
    expect_well(&mut world);
    assert_ne!(status(&world)["health"]["since"], since);
    assert_eq!(history(&world, LAST), ["Healthy", "NoAnswer ended", "Healthy ended"]);
}

#[test]
fn a_ring_that_is_stopped_is_ill_for_that_alone() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    expect_ill(&world, "ServersRun", "`spec.run` is Stopped");
    assert_eq!(check(&world, "MembersHealthy"), "Unknown: ");
    world.patch_spec(&json!({ "run": "Running" }));
    expect_well(&mut world);
}

#[test]
fn members_that_do_not_see_each_other_or_one_schema_are_told() {
    let mut world = spread(2, 1);
    world.cut_off(LAST);
    world.pass(60);
    expect_ill(&world, "ViewsAgree", LAST);
    assert_eq!(amiss(&world), ["ViewsAgree"]);
    world.reconnect();
    expect_well(&mut world);
    world.ring.odd_schemas.insert(LAST.into());
    world.pass(60);
    assert_eq!((verdict(&world).as_str(), amiss(&world)), ("Unknown", vec!["SchemaAgrees".into()]));
    assert!(world.condition("Healthy").starts_with("Unknown SchemaAgrees: "));
    world.pass(300);
    expect_ill(&world, "SchemaAgrees", LAST);
    world.ring.odd_schemas.clear();
    expect_well(&mut world);
}

#[test]
fn release_lines_that_differ_are_told_for_as_long_as_they_do() {
    let mut world = a_ring_of_4_1();
    expect_well(&mut world);
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.until(|w| {
        check(w, "LinesSame") == "Fail: members run different release lines: 4.1 and 5.0"
    });
    assert_eq!(verdict(&world), "Ill");
    expect_well(&mut world);
}

#[test]
fn of_a_spec_that_is_not_valid_it_is_unknown_whom_it_asks_for() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "version": "4.1.9" }));
    world.settle();
    assert!(world.condition("Accepted").starts_with("False"), "{}", world.condition("Accepted"));
    assert_eq!((verdict(&world).as_str(), amiss(&world)), ("Unknown", vec!["MembersExist".into()]));
    // What runs is watched on.
    world.ring.closed.insert(LAST.into());
    world.pass(60);
    expect_ill(&world, "MembersHealthy", LAST);
    world.ring.closed.clear();
    world.patch_spec(&json!({ "version": "5.0.5" }));
    expect_well(&mut world);
}

#[test]
fn a_new_agent_closes_the_last_result_and_looks_for_itself() {
    let mut world = a_ring(2, 1);
    world.restart_agent(LAST);
    world.until(|w| history(w, LAST) == ["Healthy ended"]);
    let told = member(&world, LAST)["status"]["health"][0]["message"].clone();
    assert_eq!(told, "the agent was restarted; when this ended is not known");
    expect_well(&mut world);
    assert_eq!(history(&world, LAST), ["Healthy", "Healthy ended"]);
}

#[test]
fn of_an_agent_that_reports_no_health_the_mode_counts_and_that_is_said() {
    let mut world = a_ring(2, 1);
    world.set_protocol(3);
    world.pass(60);
    expect_well(&mut world);
    assert_eq!(history(&world, LAST), Vec::<String>::new());
    let found = check(&world, "MembersHealthy");
    assert!(found.starts_with("Pass: agents of an older version report no health"), "{found}");
    assert_eq!(status(&world)["contactPoints"].as_array().map(Vec::len), Some(3));
    world.ring.closed.insert(LAST.into());
    world.pass(60);
    expect_ill(&world, "MembersHealthy", LAST);
}

#[test]
fn clients_are_told_of_live_members_of_each_rack_one_first() {
    let mut world = a_ring(3, 1);
    let address = |w: &World, m: &str| {
        format!("{}:9042", member(w, m)["spec"]["address"].as_str().unwrap_or_default())
    };
    let of = |w: &World, all: &[&str]| all.iter().map(|m| address(w, m)).collect::<Vec<_>>();
    let points = |w: &World| status(w)["contactPoints"].clone();
    assert_eq!(points(&world), json!(of(&world, &[FIRST, OF_B, LAST])));
    world.want(FIRST, &json!({ "run": "Stopped" }));
    world.settle();
    assert_eq!(points(&world), json!(of(&world, &[LAST, OF_B, "demo-dc1-a-2"])));
    world.want(FIRST, &json!({ "run": "Running" }));
    world.settle();
    assert_eq!(points(&world), json!(of(&world, &[FIRST, OF_B, LAST])));
}

/// A member's own word counts: to be live takes more, and to be dead takes more, too.
#[test]
fn a_member_that_is_not_live_is_not_replaced_for_that() {
    let mut world = a_ring(2, 1);
    world.ring.closed.insert(LAST.into());
    world.pass(60);
    let points = status(&world)["contactPoints"].as_array().map(Vec::len);
    assert_eq!(points, Some(2), "clients are not sent to it");
    ask(&mut world, "replace-it", &replace(LAST));
    world.pass(10);
    let refused = crate::tasks::status(&world, "replace-it").conditions[0].message.clone();
    assert!(refused.contains("MemberIsLive: "), "{refused}");
    world.ring.closed.clear();
    expect_well(&mut world);
}

/// What a status says besides health and what follows from it.
fn besides_health(mut status: Value) -> Value {
    for field in ["health", "contactPoints"] {
        status[field] = Value::Null;
    }
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|c| c["type"] != "Healthy");
    }
    status
}

/// Let a history go on to its end; so many writes of the status had no other cause
/// than health, out of so many.
fn writes_of_health(world: &mut World) -> (usize, usize) {
    let (mut alone, mut all) = (0, 0);
    let mut before = status(world);
    loop {
        let tick = world.tick().unwrap_or_else(|why| panic!("{why}"));
        let now = status(world);
        if now != before {
            all += 1;
            alone += usize::from(besides_health(now.clone()) == besides_health(before));
        }
        before = now;
        if tick == Tick::Rest {
            return (alone, all);
        }
    }
}

/// The transitions themselves, and nothing more: a member that is found healthy
/// some seconds after it is ready.
#[test]
fn health_costs_one_write_for_each_member_that_comes_or_goes() {
    let mut world = World::new().with(&two_racks());
    let (alone, all) = writes_of_health(&mut world);
    assert!(alone <= 3, "a creation: {alone} of {all}");
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let (alone, all) = writes_of_health(&mut world);
    assert!(alone <= 1, "a growth: {alone} of {all}");
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let (alone, all) = writes_of_health(&mut world);
    assert!(alone <= 1, "a shrinkage: {alone} of {all}");
    world.expect_ring(3);
}

/// What its agent said last stands in its status, and no longer holds.
#[test]
fn a_member_whose_server_dies_while_its_agent_does_not_reach_the_api_server_is_not_called_healthy()
{
    let mut world = a_ring(2, 1);
    world.agent_is_cut(LAST, Link::Cut);
    world.pass(60);
    assert_eq!(check(&world, "MembersHealthy"), "Pass: ", "its pod is ready");
    world.ring.unlucky.insert(LAST.into());
    world.kill_server(LAST);
    world.pass(60);
    let found = check(&world, "MembersHealthy");
    assert!(found.starts_with("Unknown: ") && found.contains(LAST), "{found}");
    let condition = world.condition("Healthy");
    assert!(!condition.starts_with("True"), "{condition}");
    world.ring.unlucky.clear();
    world.agents_are_back();
    expect_well(&mut world);
}
