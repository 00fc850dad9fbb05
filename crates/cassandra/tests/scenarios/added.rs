//! A datacenter that is added to a ring: its members take no clients before they have the rows of
//! the keyspaces that name it, whatever ends in between.

use crate::every::{before_each_write, in_flight, some};
use crate::holes::wrote;
use crate::sim::World;
use crate::sim::far::{HERE, SYSTEM, THERE};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::ring::Phase;
use crate::sim::world::Tick;
use crate::tasks::{ask, status};
use palladion_agent::render::Door;
use palladion_api::labels;
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};

pub const MEMBER: &str = "demo-dc1-a-0";
pub const OTHER: &str = "demo-dc1-b-0";

/// A world in which a datacenter elsewhere has all keyspaces, and two members here are to join.
pub fn to_add() -> World {
    let mut world = World::new();
    world.elsewhere("far-1", THERE, "10.9.0.1");
    world.elsewhere("far-2", THERE, "10.9.0.2");
    for keyspace in SYSTEM.into_iter().chain(["shop", "stock"]) {
        world.ring.alter(keyspace, THERE, 2);
    }
    let mut cluster = a_cluster(&[("a", 1), ("b", 1)]);
    cluster["spec"]["ring"] = json!({ "origin": "Existing", "lock": "None" });
    cluster["spec"]["network"] = json!({ "clusterIPsAreRouted": true });
    cluster["spec"]["externalSeeds"] = json!([{ "name": "far", "addresses": ["10.9.0.1"] }]);
    world.with(&cluster)
}

/// The same, with the members in the ring.
fn added() -> World {
    let mut world = to_add();
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world
}

/// The other datacenter names this one.
fn name_here(world: &mut World, keyspaces: &[&str]) {
    for keyspace in keyspaces {
        world.ring.alter(keyspace, HERE, 2);
    }
}

/// How many members take clients.
pub fn open(world: &World) -> usize {
    let servers = world.ring.servers.values();
    servers.filter(|s| s.door == Door::Open && s.phase == Phase::Normal).count()
}

fn is_ready(world: &World, member: &str) -> bool {
    let key = ObjectKey::new(kinds::POD, NAMESPACE, member);
    let conditions = &world.store.get(&key).expect("a pod")["status"]["conditions"];
    let conditions = conditions.as_array().cloned().unwrap_or_default();
    conditions.iter().any(|c| c["type"] == "Ready" && c["status"] == "True")
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).expect("the member should exist").as_ref().clone()
}

fn is_open(world: &World) -> bool {
    open(world) == 2 && is_ready(world, MEMBER) && is_ready(world, OTHER)
}

/// It is named, rebuilt, repaired and open.
fn becomes_open(world: &mut World) {
    world.settle();
    assert!(is_open(world), "{}", world.last_words());
    for name in [MEMBER, OTHER] {
        let rebuild = &member(world, name)["status"]["rebuild"];
        assert_eq!(rebuild["open"], true, "{rebuild}");
        assert_eq!(rebuild["keyspaces"]["shop"], 2, "{rebuild}");
        let pending = &member(world, name)["spec"]["pendingMaintenance"];
        assert!(pending.as_array().is_none_or(Vec::is_empty), "{pending}");
    }
}

/// A datacenter that was added, and takes clients.
fn opened() -> World {
    let mut world = added();
    name_here(&mut world, &SYSTEM);
    name_here(&mut world, &["shop"]);
    becomes_open(&mut world);
    world
}

#[test]
fn members_join_and_take_no_clients_before_a_keyspace_names_them_and_they_are_rebuilt() {
    let mut world = added();
    assert_eq!(open(&world), 0, "{}", world.last_words());
    assert!(!is_ready(&world, MEMBER));
    let server = &member(&world, MEMBER)["status"]["server"];
    assert_eq!(
        (&server["reason"], &server["mode"]),
        (&json!(Reason::RebuildOwed.as_str()), &json!("NORMAL"))
    );
    assert!(
        world.waits().contains("no keyspace of clients names datacenter dc1"),
        "{}",
        world.waits()
    );
    // So that users can log in; clients have no keyspace there yet.
    name_here(&mut world, &SYSTEM);
    world.settle();
    assert_eq!(open(&world), 0, "{}", world.last_words());
    assert!(world.waits().contains("no keyspace of clients"), "{}", world.waits());
    name_here(&mut world, &["shop"]);
    becomes_open(&mut world);
    let all = |words: &str| world.writes.iter().filter(|w| w.contains(words)).count();
    assert_eq!(
        all("start the pending rebuild on member"),
        4,
        "once for the roles, once for the shop"
    );
    assert!(all("start the pending repair on member") >= 2, "{}", world.last_words());
}

#[test]
fn a_datacenter_that_no_keyspace_names_is_opened_by_an_annotation() {
    let mut world = added();
    world.annotate_cluster(labels::OPEN_DATACENTER, "1");
    world.settle();
    assert!(is_open(&world), "{}", world.last_words());
}

/// One member at a time, and nothing is opened before the last one is done.
#[test]
fn a_rebuild_that_fails_or_hangs_keeps_all_members_closed() {
    let mut world = added();
    world.ring.hanging.insert(OTHER.into());
    name_here(&mut world, &SYSTEM);
    name_here(&mut world, &["shop"]);
    world.settle();
    assert_eq!(open(&world), 0, "{}", world.last_words());
    assert!(
        world.waits().contains("rebuild of member demo-dc1-b-0 is running"),
        "{}",
        world.waits()
    );
    world.ring.hanging.clear();
    world.ring.failing.insert(OTHER.into());
    becomes_open(&mut world);
}

type Ends = fn(&mut World);

/// What ends of a member, or of all, while no port is open.
pub const ENDS: [(&str, Ends); 4] = [
    ("the agent", |w| w.restart_agent(MEMBER)),
    ("the server", |w| w.kill_server(MEMBER)),
    ("the pod", |w| w.delete(kinds::POD, MEMBER)),
    ("the power", |w| {
        w.power_cut();
        w.pass(30);
        assert_eq!(open(w), 0, "{}", w.last_words());
        w.api_returns();
    }),
];

/// Agent, server and pod of a member end while it is rebuilt: what is not known to be done is
/// done again, and no port opens before.
#[test]
fn whatever_ends_in_a_rebuild_it_is_done_again_and_no_port_opens_before() {
    for (what, end) in ENDS {
        let mut world = added();
        name_here(&mut world, &SYSTEM);
        name_here(&mut world, &["shop"]);
        let rebuilds = |w: &World| {
            w.ring
                .at_operations(&pods(w))
                .iter()
                .any(|(_, o)| o.kind == palladion_api::member::OperationKind::Rebuild)
        };
        world.until(rebuilds);
        world.tell(&format!("{what} ends"));
        end(&mut world);
        world.pass(5);
        assert_eq!(open(&world), 0, "{what}: {}", world.last_words());
        becomes_open(&mut world);
    }
}

fn pods(world: &World) -> std::collections::BTreeSet<&str> {
    world.ring.servers.keys().map(String::as_str).collect()
}

/// It is open, and stays so: with the API server away, too.
#[test]
fn an_open_member_starts_open_and_a_closed_one_closed_with_the_api_server_away() {
    for named in [false, true] {
        let mut world = added();
        if named {
            name_here(&mut world, &SYSTEM);
            name_here(&mut world, &["shop"]);
            becomes_open(&mut world);
        }
        world.api_goes_away();
        world.forget_processes();
        world.pass(120);
        assert_eq!(world.normal(), 2, "{}", world.last_words());
        assert_eq!(open(&world), if named { 2 } else { 0 }, "{}", world.last_words());
        world.api_returns();
        world.settle();
    }
}

/// The volume knows: neither a lost status nor a lost record opens or closes anybody.
#[test]
fn a_lost_status_opens_nobody() {
    let mut world = added();
    name_here(&mut world, &SYSTEM);
    name_here(&mut world, &["shop"]);
    world.ring.hanging.insert(OTHER.into());
    world.settle();
    world.erase_status();
    for name in [MEMBER, OTHER] {
        world.delete(kinds::MEMBER, name);
    }
    world.settle();
    assert_eq!(open(&world), 0, "{}", world.last_words());
    world.ring.hanging.clear();
    becomes_open(&mut world);
    world.erase_status();
    world.delete(kinds::MEMBER, MEMBER);
    world.settle();
    assert!(is_open(&world), "{}", world.last_words());
}

/// What names the datacenter later is rebuilt as well, and until then clients are told.
#[test]
fn a_keyspace_that_names_it_later_is_behind_until_it_is_rebuilt() {
    let mut world = opened();
    world.ring.hanging.insert(MEMBER.into());
    name_here(&mut world, &["stock"]);
    world.settle();
    let behind = format!("{}: reads of stock at `LOCAL_` levels", Reason::KeyspacesBehind);
    assert!(world.waits().contains(&behind), "{}", world.waits());
    assert_eq!(open(&world), 2, "nobody is closed again");
    world.ring.hanging.clear();
    world.settle();
    assert!(!world.waits().contains("LOCAL_"), "{}", world.waits());
    becomes_open(&mut world);
}

/// Its copies there are all that there are.
#[test]
fn no_task_drops_the_copies_that_members_here_are_to_be_rebuilt_from() {
    let mut world = opened();
    world.ring.hanging.insert(MEMBER.into());
    name_here(&mut world, &["stock"]);
    world.settle();
    let drop = json!({ "cluster": "demo", "replication": {
        "keyspaces": ["stock"], "datacenter": THERE, "factor": 0, "lowering": "Allow",
    }});
    ask(&mut world, "early", &drop);
    world.pass(60);
    let early = format!("{:?}", status(&world, "early").conditions);
    assert_eq!(status(&world, "early").phase, Some(TaskPhase::Refused), "{early}");
    assert!(early.contains(MEMBER) && early.contains("not rebuilt"), "{early}");
    assert_eq!(world.ring.copies_in("stock", THERE), 2);
    world.ring.hanging.clear();
    world.settle();
    ask(&mut world, "then", &drop);
    world.settle();
    assert_eq!(status(&world, "then").phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(world.ring.copies_in("stock", THERE), 0);
}

/// What was written while it had no copies here went past its members.
#[test]
fn a_keyspace_whose_copies_were_dropped_and_given_again_is_rebuilt_again() {
    let mut world = opened();
    world.ring.alter("shop", HERE, 0);
    world.settle();
    for name in [MEMBER, OTHER] {
        let rebuilt = &member(&world, name)["status"]["rebuild"]["keyspaces"];
        assert_eq!((&rebuilt["shop"], &rebuilt["system_auth"]), (&Value::Null, &json!(2)));
    }
    world.ring.hanging.insert(MEMBER.into());
    name_here(&mut world, &["shop"]);
    world.settle();
    assert!(world.waits().contains("reads of shop at `LOCAL_` levels"), "{}", world.waits());
    world.ring.hanging.clear();
    becomes_open(&mut world);
    assert!(!world.waits().contains("LOCAL_"), "{}", world.waits());
}

/// A second copy here is on members that have not streamed it.
#[test]
fn a_keyspace_with_more_copies_than_when_it_was_rebuilt_keeps_its_datacenter_closed() {
    let mut world = added();
    name_here(&mut world, &SYSTEM);
    world.settle();
    world.ring.alter("shop", HERE, 1);
    world.ring.hanging.insert(OTHER.into());
    let has = |w: &World| member(w, MEMBER)["status"]["rebuild"]["keyspaces"]["shop"] == 1;
    world.until(has);
    world.ring.alter("shop", HERE, 2);
    world.settle();
    let rebuilt = &member(&world, MEMBER)["status"]["rebuild"]["keyspaces"];
    // What it had for one copy is nothing for two: it was forgotten, or rebuilt once more.
    assert_ne!(rebuilt["shop"], 1, "{}", world.last_words());
    assert_eq!(open(&world), 0, "{}", world.last_words());
    world.ring.hanging.clear();
    becomes_open(&mut world);
}

/// Its rows are looked for on other members once somebody converts it.
#[test]
fn a_keyspace_that_does_not_count_by_datacenter_keeps_a_datacenter_closed() {
    let mut world = added();
    world.ring.far.simple.insert("stock".into());
    name_here(&mut world, &SYSTEM);
    name_here(&mut world, &["shop", "stock"]);
    world.settle();
    assert_eq!(open(&world), 0, "{}", world.last_words());
    let why =
        format!("{}: 2 members joined, and take no clients: stock do not", Reason::RebuildOwed);
    assert!(world.waits().contains(&why), "{}", world.waits());
    let rebuilt = &member(&world, MEMBER)["status"]["rebuild"]["keyspaces"];
    assert_eq!((&rebuilt["shop"], &rebuilt["stock"]), (&json!(2), &Value::Null));
    world.ring.far.simple.clear();
    name_here(&mut world, &["stock"]);
    becomes_open(&mut world);
}

/// A member whose volume is lost streams from those that have all, and takes clients at once;
/// before they had, it is rebuilt as they are.
#[test]
fn a_replacement_is_open_where_its_datacenter_has_all_and_closed_before() {
    for is_named in [true, false] {
        let mut world = added();
        if is_named {
            name_here(&mut world, &SYSTEM);
            name_here(&mut world, &["shop"]);
            becomes_open(&mut world);
        }
        world.delete(kinds::POD, MEMBER);
        world.wipe_volume(MEMBER);
        world.label(kinds::MEMBER, MEMBER, labels::REPLACE);
        world.settle();
        assert_eq!(world.normal(), 2, "{}", world.last_words());
        assert_eq!(open(&world), if is_named { 2 } else { 0 }, "{}", world.last_words());
        if !is_named {
            name_here(&mut world, &SYSTEM);
            name_here(&mut world, &["shop"]);
            becomes_open(&mut world);
        }
    }
}

/// What was on record before the keyspace went is no longer lacked by anybody: it keeps nobody
/// closed, and other maintenance waits for it no longer.
#[test]
fn a_rebuild_of_what_names_the_datacenter_no_longer_is_over() {
    for is_dropped in [false, true] {
        let mut world = added();
        name_here(&mut world, &SYSTEM);
        world.settle();
        world.ring.hanging.insert(MEMBER.into());
        name_here(&mut world, &["shop"]);
        world.until(|w| debts(w, MEMBER) == ["Rebuild"] && debts(w, OTHER) == ["Rebuild"]);
        match is_dropped {
            true => world.ring.drop_keyspace("shop"),
            false => world.ring.alter("shop", HERE, 0),
        }
        world.pass(120);
        world.ring.hanging.clear();
        world.annotate_cluster(labels::OPEN_DATACENTER, "1");
        world.settle();
        assert!(is_open(&world), "{}", world.last_words());
        assert!(debts(&world, OTHER).is_empty(), "{}", world.last_words());
    }
}

/// What a volume that is gone lacked, the one that takes its place may have streamed.
#[test]
fn a_rebuild_that_a_replacement_made_up_for_is_over() {
    let mut world = opened();
    world.ring.hanging.insert(OTHER.into());
    name_here(&mut world, &["stock"]);
    world.settle();
    assert_eq!(debts(&world, OTHER), ["Rebuild"]);
    world.ring.hanging.clear();
    world.delete(kinds::POD, OTHER);
    world.wipe_volume(OTHER);
    world.label(kinds::MEMBER, OTHER, labels::REPLACE);
    world.settle();
    assert_eq!(debts(&world, OTHER), Vec::<String>::new(), "{}", world.last_words());
    becomes_open(&mut world);
}

/// Kinds of the pending maintenance of a member.
fn debts(world: &World, name: &str) -> Vec<String> {
    let pending = &member(world, name)["spec"]["pendingMaintenance"];
    let all = pending.as_array().cloned().unwrap_or_default();
    all.iter().map(|debt| debt["kind"].as_str().unwrap_or_default().to_string()).collect()
}

/// Members that are never ready keep no rollout waiting: it may be what they need.
#[test]
fn a_rollout_goes_through_members_that_take_no_clients() {
    let mut world = added();
    world.patch_spec(&json!({ "config": { "concurrent_reads": 16 } }));
    world.settle();
    assert!(wrote(&world, "restart") || wrote(&world, "delete"), "{}", world.last_words());
    assert_eq!((world.normal(), open(&world)), (2, 0), "{}", world.last_words());
    assert!(!world.condition("Progressing").contains("rollout"), "{}", world.last_words());
}

#[test]
fn a_machine_that_is_down_for_long_keeps_them_closed_and_is_rebuilt_when_it_is_back() {
    let mut world = added();
    name_here(&mut world, &SYSTEM);
    name_here(&mut world, &["shop"]);
    world.set_machine("n2", Machine::Down);
    world.pass(4 * 3600);
    assert_eq!(open(&world), 0, "{}", world.last_words());
    world.set_machine("n2", Machine::Up);
    becomes_open(&mut world);
}

/// The operator ends before and after each write from the naming to the opening.
#[test]
fn a_crash_at_any_write_of_a_rebuild_ends_alike() {
    let mut world = added();
    name_here(&mut world, &SYSTEM);
    name_here(&mut world, &["shop"]);
    let (worlds, end) = before_each_write(world);
    assert!(is_open(&end), "{}", end.last_words());
    for (number, before) in some(worlds, 2, 0).into_iter().enumerate() {
        for fault in [Some(Fault::DieBefore), Some(Fault::DieAfter), None] {
            let mut world = before.clone();
            match fault {
                Some(fault) => world.faults.plan(world.faults.writes(), fault),
                None => in_flight(&mut world),
            }
            world.settle();
            assert!(is_open(&world), "write {number}, {fault:?}: {}", world.last_words());
        }
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::MEMBER, NAMESPACE, name)
}

/// An order to open that nobody should have given is not followed.
#[test]
fn no_order_opens_a_member_that_lacks_a_keyspace() {
    let mut world = added();
    name_here(&mut world, &SYSTEM);
    name_here(&mut world, &["shop"]);
    world.ring.hanging.extend([MEMBER.to_string(), OTHER.to_string()]);
    world.settle();
    let volume = member(&world, MEMBER)["spec"]["volumeID"].clone();
    let order = json!({ "spec": { "opening": { "volumeID": volume } } });
    world.store.merge(&key(MEMBER), &order, Subresource::None).unwrap();
    while world.tick().unwrap() == Tick::GoesOn {}
    assert_eq!(open(&world), 0, "{}", world.last_words());
}
