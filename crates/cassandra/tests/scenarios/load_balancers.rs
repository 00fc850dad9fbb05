//! Addresses under which clients find members: load balancers that are late, have names alone,
//! change or go; pods' own addresses; and the way there and back, disturbed at writes.

use crate::every::{a_ring, all_end_alike, before_each_write, killed_at_every_write, some};
use crate::sim::World;
use crate::sim::balancers::Gives;
use crate::sim::compare::{Allowed, Differs};
use crate::sim::manifests::{NAMESPACE, a_cluster};
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FIRST: &str = "demo-dc1-a-0";
const SECOND: &str = "demo-dc1-a-1";
const THIRD: &str = "demo-dc1-b-0";
const ALL: [&str; 3] = [FIRST, SECOND, THIRD];

fn balanced() -> Value {
    json!({ "broadcast": { "clients": "LoadBalancer", "sourceRanges": ["198.51.100.0/24"] } })
}

/// A ring that is created with them, not begun yet.
fn created() -> World {
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["network"] = balanced();
    World::new().with(&cluster)
}

/// Members of a ring that runs get them.
fn a_balanced_ring() -> World {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "network": balanced() }));
    world.settle();
    world.expect_ring(3);
    world.story.clear();
    world.destructive.clear();
    world.writes.clear();
    world
}

fn pods(world: &World) -> BTreeMap<String, String> {
    let uid = |o: &Value| o["metadata"]["uid"].as_str().unwrap_or_default().to_string();
    world.store.list(kinds::POD).map(|(key, pod)| (key.name.clone(), uid(pod))).collect()
}

fn pod_address(world: &World, member: &str) -> String {
    let key = ObjectKey::new(kinds::POD, NAMESPACE, member);
    let pod = world.store.get(&key).expect("it has a pod");
    pod["status"]["podIP"].as_str().unwrap_or_default().to_string()
}

fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).map(|member| Value::clone(member)).unwrap_or_default()
}

fn static_address(world: &World, name: &str) -> String {
    member(world, name)["spec"]["address"].as_str().unwrap_or_default().to_string()
}

/// The address of its load balancer, which is on record and which its server announces.
fn expect_announced(world: &World, name: &str) -> String {
    let service = world.balancer(name).expect("it has a load balancer");
    let address = service["status"]["loadBalancer"]["ingress"][0]["ip"].as_str();
    let address = address.expect("it has an address").to_string();
    assert_eq!(member(world, name)["spec"]["clientAddress"], address.as_str());
    assert_eq!(world.announced(name).as_ref(), Some(&address), "{}", world.last_words());
    let reported = &member(world, name)["status"]["server"]["clientAddress"];
    assert_eq!(*reported, address.as_str());
    address
}

fn starts_of(world: &World, name: &str) -> usize {
    let words = format!("{name} starts its server");
    world.story.iter().filter(|line| line.contains(&words)).count()
}

#[test]
fn nobody_starts_before_its_load_balancer_has_an_address() {
    let mut world = created();
    world.balancers.gives = Gives::Nothing;
    world.pass(600);
    assert!(world.ring.servers.is_empty(), "{}", world.last_words());
    let progressing = world.condition("Progressing");
    assert!(progressing.starts_with("True WaitingForAddress"), "{progressing}");
    assert!(progressing.contains("Service demo-dc1-a-0-lb"), "{progressing}");
    assert!(
        progressing.contains("`kubectl describe -n default service demo-dc1-a-0-lb`"),
        "{progressing}"
    );
    for name in ALL {
        let server = &member(&world, name)["status"]["server"];
        assert_eq!(server["reason"], Reason::WaitingForAddress.as_str(), "{name}: {server}");
        let service = &world.balancer(name).expect("it is created at once")["spec"];
        assert_eq!(service["loadBalancerSourceRanges"], json!(["198.51.100.0/24"]));
        assert_eq!(service["ports"].as_array().map(Vec::len), Some(1));
        assert_eq!(service["ports"][0]["port"], 9042);
        assert_eq!(service["publishNotReadyAddresses"], true);
    }
    // Waiting is rest.
    let writes = world.faults.writes();
    world.pass(600);
    assert_eq!(world.faults.writes(), writes, "{}", world.last_words());
    world.balancers.gives = Gives::Addresses;
    world.settle();
    world.expect_ring(3);
    let all: Vec<String> = ALL.iter().map(|name| expect_announced(&world, name)).collect();
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    for name in ALL {
        assert_eq!(starts_of(&world, name), 1, "{}", world.last_words());
    }
    let points = &world.status()["contactPoints"];
    let points = points.as_array().cloned().unwrap_or_default();
    assert!(points.contains(&json!(format!("{}:9042", all[0]))), "{points:?}");
}

#[test]
fn one_that_waits_holds_up_no_other_joiner() {
    let mut world = created();
    world.until(|w| w.balancers_there().len() == 3);
    world.balance(SECOND, &Value::Null);
    world.balancers.gives = Gives::Nothing;
    world.pass(1200);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    assert!(!world.runs(SECOND) && world.runs(THIRD), "{}", world.last_words());
    assert!(world.waits().contains("Service demo-dc1-a-1-lb"), "{}", world.waits());
    world.balancers.gives = Gives::Addresses;
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_name_is_reported_and_nobody_starts_with_it_until_the_spec_asks_otherwise() {
    let mut world = created();
    world.balancers.gives = Gives::Names;
    world.pass(600);
    assert!(world.ring.servers.is_empty(), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True AddressIsAName"), "{degraded}");
    for words in
        ["member demo-dc1-a-0", "demo-dc1-a-0-lb.elb.example", "`network.broadcast.clients`"]
    {
        assert!(degraded.contains(words), "{degraded}");
    }
    let progressing = world.condition("Progressing");
    assert!(progressing.starts_with("True AddressIsAName"), "{progressing}");
    world.patch_spec(&json!({ "network": null }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.balancers_there(), Vec::<String>::new());
    for name in ALL {
        assert_eq!(world.announced(name), Some(static_address(&world, name)));
    }
}

#[test]
fn it_comes_by_a_rollout_and_goes_by_one() {
    let mut world = a_ring(2, 1);
    assert_eq!(world.balancers_there(), Vec::<String>::new(), "nobody has asked for it");
    let before = pods(&world);
    world.patch_spec(&json!({ "network": balanced() }));
    let mut end = killed_at_every_write("members announce load balancers", world, 4);
    end.expect_ring(3);
    let announced: Vec<String> = ALL.iter().map(|name| expect_announced(&end, name)).collect();
    let after = pods(&end);
    assert!(ALL.iter().all(|name| before[*name] != after[*name]), "each has another pod");
    assert!(end.unready_at_stop.is_empty(), "{:?}", end.unready_at_stop);

    // On the way back each load balancer stands as long as its member is found there.
    end.patch_spec(&json!({ "network": null }));
    let mut undisturbed = end.clone();
    for _ in 0..5_000 {
        if undisturbed.tick().unwrap() == crate::sim::world::Tick::Rest {
            break;
        }
        for (name, address) in ALL.iter().zip(&announced) {
            let is_found = undisturbed.announced(name).as_ref() == Some(address);
            let is_there = undisturbed.balancer(name).is_some();
            assert!(!is_found || is_there, "{name}: {}", undisturbed.last_words());
        }
    }
    let mut end = killed_at_every_write("members announce their ClusterIPs again", end, 4);
    end.expect_ring(3);
    assert_eq!(end.balancers_there(), Vec::<String>::new());
    for name in ALL {
        assert_eq!(end.announced(name), Some(static_address(&end, name)));
        assert_eq!(member(&end, name)["spec"]["clientAddress"], Value::Null);
        assert_eq!(member(&end, name)["status"]["server"]["clientAddress"], Value::Null);
    }
}

#[test]
fn a_ring_that_runs_is_not_restarted_for_an_address_that_is_not_there() {
    let mut world = a_ring(2, 1);
    let before = pods(&world);
    world.balancers.gives = Gives::Nothing;
    world.patch_spec(&json!({ "network": balanced() }));
    world.pass(3600);
    assert_eq!((pods(&world), world.normal()), (before.clone(), 3), "{}", world.last_words());
    assert!(world.waits().contains("WaitingForAddress"), "{}", world.waits());
    // One of them has an address: it restarts, and the others wait for theirs.
    world.balance(THIRD, &json!([{ "ip": "203.0.113.77" }]));
    world.pass(3600);
    assert_eq!(world.announced(THIRD).as_deref(), Some("203.0.113.77"), "{}", world.last_words());
    assert_eq!(pods(&world)[FIRST], before[FIRST]);
    world.patch_spec(&json!({ "network": null }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(pods(&world)[FIRST], before[FIRST]);
    assert_eq!(world.balancers_there(), Vec::<String>::new());
}

#[test]
fn an_address_that_changes_is_announced_by_a_restart_of_its_member_alone() {
    let mut world = a_balanced_ring();
    let before = pods(&world);
    world.balance(SECOND, &json!([{ "ip": "203.0.113.99" }]));
    let mut end = killed_at_every_write("the address of a load balancer changes", world, 2);
    end.expect_ring(3);
    assert_eq!(expect_announced(&end, SECOND), "203.0.113.99");
    assert_eq!(pods(&end), before, "in its pod");
    assert_eq!(starts_of(&end, SECOND), 1, "{}", end.last_words());
    assert_eq!((starts_of(&end, FIRST), starts_of(&end, THIRD)), (0, 0));
    // And back again.
    end.balance(SECOND, &json!([{ "ip": "203.0.113.98" }]));
    end.settle();
    end.balance(SECOND, &json!([{ "ip": "203.0.113.99" }]));
    end.settle();
    end.expect_ring(3);
    assert_eq!(expect_announced(&end, SECOND), "203.0.113.99");
}

#[test]
fn all_addresses_change_at_once_and_one_member_after_the_other_restarts() {
    let mut world = a_balanced_ring();
    for (name, last) in ALL.iter().zip(201..) {
        world.balance(name, &json!([{ "ip": format!("203.0.113.{last}") }]));
    }
    let mut least = world.normal();
    for _ in 0..6_000 {
        least = least.min(world.normal());
        if world.tick().unwrap() == crate::sim::world::Tick::Rest {
            break;
        }
    }
    assert_eq!(least, 2, "{}", world.last_words());
    world.expect_ring(3);
    for name in ALL {
        expect_announced(&world, name);
    }
}

/// While any other member is down nobody is restarted for an address.
#[test]
fn a_changed_address_waits_for_a_ring_that_is_well() {
    let mut world = a_balanced_ring();
    world.want(FIRST, &json!({ "run": "Stopped" }));
    world.until(|w| !w.runs(FIRST));
    world.balance(SECOND, &json!([{ "ip": "203.0.113.99" }]));
    world.pass(3600);
    assert_ne!(world.announced(SECOND).as_deref(), Some("203.0.113.99"));
    assert_eq!(starts_of(&world, SECOND), 0, "{}", world.last_words());
    world.want(FIRST, &json!({ "run": "Running" }));
    world.settle();
    assert_eq!(world.announced(SECOND).as_deref(), Some("203.0.113.99"), "{}", world.last_words());
}

#[test]
fn a_member_keeps_the_address_that_it_had_while_its_load_balancer_has_none() {
    let mut world = a_balanced_ring();
    let address = expect_announced(&world, SECOND);
    world.balancers.gives = Gives::Nothing;
    world.balance(SECOND, &Value::Null);
    world.pass(600);
    let progressing = world.condition("Progressing");
    assert!(progressing.starts_with("True WaitingForAddress"), "{progressing}");
    assert!(progressing.contains(&address), "{progressing}");
    assert_eq!(starts_of(&world, SECOND), 0);
    world.kill_server(SECOND);
    world.pass(600);
    assert_eq!(world.announced(SECOND).as_ref(), Some(&address), "{}", world.last_words());
    // Operator and API server are away, and power with them.
    world.power_cut();
    world.pass(600);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    assert_eq!(world.announced(SECOND).as_ref(), Some(&address), "{}", world.last_words());
    world.api_returns();
    world.balance(SECOND, &json!([{ "ip": address }]));
    world.settle();
    assert_eq!(expect_announced(&world, SECOND), address);
}

#[test]
fn what_others_change_in_a_load_balancer_is_put_back() {
    let mut world = a_balanced_ring();
    let spec = |world: &World| world.balancer(FIRST).expect("it is there")["spec"].clone();
    let right = spec(&world);
    let key = ObjectKey::new(kinds::SERVICE, NAMESPACE, "demo-dc1-a-0-lb");
    for patch in [
        json!({ "loadBalancerSourceRanges": ["0.0.0.0/0"] }),
        json!({ "loadBalancerSourceRanges": null }),
        json!({ "selector": { "statefulset.kubernetes.io/pod-name": THIRD } }),
        json!({ "externalTrafficPolicy": "Cluster" }),
    ] {
        world.store.merge(&key, &json!({ "spec": patch }), Subresource::None).unwrap();
        assert_ne!(spec(&world), right);
        world.settle();
        assert_eq!(spec(&world), right, "{patch}: {}", world.last_words());
    }
    assert_eq!(starts_of(&world, FIRST), 0, "{}", world.last_words());
    // The ranges of the spec change: no restart.
    let mut other = balanced();
    other["broadcast"]["sourceRanges"] = json!(["198.51.100.0/24", "192.0.2.0/24"]);
    world.patch_spec(&json!({ "network": other }));
    world.settle();
    assert_eq!(spec(&world)["loadBalancerSourceRanges"], other["broadcast"]["sourceRanges"]);
    assert_eq!(starts_of(&world, FIRST), 0, "{}", world.last_words());
    // One that is deleted is created again; it has another address then.
    let before = expect_announced(&world, FIRST);
    world.delete(kinds::SERVICE, "demo-dc1-a-0-lb");
    world.settle();
    world.expect_ring(3);
    assert_ne!(expect_announced(&world, FIRST), before);
}

#[test]
fn a_member_that_leaves_takes_its_load_balancer_along() {
    let mut world = a_ring(2, 2);
    world.patch_spec(&json!({ "network": balanced() }));
    world.settle();
    assert_eq!(world.balancers_there().len(), 4);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 2)]));
    let mut end = killed_at_every_write("a member with a load balancer leaves", world, 8);
    end.expect_ring(3);
    assert_eq!(end.balancer(SECOND), None, "{}", end.last_words());
    assert_eq!(end.balancers_there().len(), 3);
    // It comes back, with one of its own.
    end.set_racks(&a_cluster(&[("a", 2), ("b", 2)]));
    end.settle();
    end.expect_ring(4);
    expect_announced(&end, SECOND);
}

#[test]
fn a_member_that_is_replaced_keeps_its_load_balancer() {
    let mut world = a_balanced_ring();
    let before = expect_announced(&world, THIRD);
    let node = world.node_of(THIRD);
    world.register_node("n9", "z2");
    world.lose_node(&node);
    world.settle();
    world.expect_ring(3);
    assert_eq!(expect_announced(&world, THIRD), before, "{}", world.last_words());
}

#[test]
fn the_creation_of_a_ring_with_load_balancers_ends_wherever_the_operator_dies() {
    let mut end = killed_at_every_write("a ring with load balancers is created", created(), 4);
    end.expect_ring(3);
    for name in ALL {
        expect_announced(&end, name);
    }
}

/// A leader that comes late with a write of the way there changes nothing in the end.
#[test]
fn a_frozen_leader_that_wakes_up_harms_no_rollout_of_addresses() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "network": balanced() }));
    let (worlds, end) = before_each_write(world);
    let expected = end.end();
    let freeze = |world: &mut World| {
        world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
        world.until(|w| w.faults.is_over());
        world.start_operator();
        world.pass(40);
        world.wake_and_end_the_old_leader();
    };
    let once_more = [Allowed {
        what: Differs::More("Pod ", 1),
        why: "a pod that was ended late is created once more",
    }];
    let worlds = some(worlds, 4, 1);
    all_end_alike("a frozen leader on the way to addresses", worlds, &expected, freeze, |w, e| {
        w.end().is_like(e, &once_more)?;
        ALL.iter().for_each(|name| drop(expect_announced(w, name)));
        Ok(())
    });
}

#[test]
fn agents_that_know_no_other_address_are_named_and_nobody_is_restarted() {
    let mut world = a_ring(2, 1);
    world.set_protocol(15);
    let before = pods(&world);
    world.patch_spec(&json!({ "network": balanced() }));
    world.pass(1200);
    assert_eq!(pods(&world), before, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True AgentTooOld"), "{degraded}");
    assert!(degraded.contains("`sidecarImage`"), "{degraded}");
    // The image that is asked for now is of this release.
    let image = json!({ "repository": "palladion.dev/agent", "version": "0.2.0" });
    world.patch_spec(&json!({ "sidecarImage": image }));
    world.settle();
    world.expect_ring(3);
    for name in ALL {
        expect_announced(&world, name);
    }
}

fn by_operator() -> Value {
    let client = json!({ "mode": "Require", "certificates": { "operator": {} } });
    json!({ "client": client, "internode": { "mode": "Off" } })
}

fn named_by_certificate(world: &World, name: &str) -> Value {
    member(world, name)["spec"]["tls"]["client"]["clientAddresses"].clone()
}

/// The certificate that is on the volume of the member.
fn is_stored(world: &World, name: &str) -> bool {
    let member = member(world, name);
    let end = |of: &str| {
        let end = member[of]["tls"]["client"]["notAfter"].as_str();
        end.and_then(|end| end.parse::<jiff::Timestamp>().ok()).map(|end| end.as_second())
    };
    end("status").is_some() && end("status") == end("spec")
}

#[test]
fn no_member_is_restarted_to_announce_what_its_certificate_does_not_name() {
    let mut cluster = a_cluster(&[("a", 2), ("b", 1)]);
    cluster["spec"]["tls"] = by_operator();
    cluster["spec"]["network"] = balanced();
    let mut world = World::new().with(&cluster);
    world.balancers.gives = Gives::Nothing;
    world.pass(600);
    let signed = |world: &World| world.story.iter().any(|line| line.contains("sign the"));
    assert!(!signed(&world), "the first names the address: {}", world.last_words());
    world.balancers.gives = Gives::Addresses;
    world.settle();
    world.expect_ring(3);
    let before = expect_announced(&world, SECOND);
    assert_eq!(named_by_certificate(&world, SECOND), json!([before]));

    let start = world.now();
    world.balance(SECOND, &json!([{ "ip": "203.0.113.99" }]));
    world.until(|w| {
        w.waits().contains("does not name that address") || {
            w.announced(SECOND).as_deref() == Some("203.0.113.99")
        }
    });
    world.until(|w| {
        let announces = w.announced(SECOND).as_deref() == Some("203.0.113.99");
        let both = json!(["203.0.113.99", before]);
        assert!(!announces || is_stored(w, SECOND), "{}", w.last_words());
        if announces {
            assert_eq!(named_by_certificate(w, SECOND), both, "{}", w.last_words());
        }
        announces
    });
    // Flapping addresses restart nobody more often than certificates are signed.
    assert!(world.now().duration_since(start).as_secs() < 1200, "{}", world.last_words());
    world.settle();
    world.expect_ring(3);
    assert_eq!(named_by_certificate(&world, SECOND), json!(["203.0.113.99"]), "the old one goes");
    assert_eq!(named_by_certificate(&world, FIRST).as_array().map(Vec::len), Some(1));
}

#[test]
fn certificates_of_a_ring_that_runs_name_load_balancers_before_it_restarts() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "tls": by_operator() }));
    world.settle();
    world.pass(900);
    world.patch_spec(&json!({ "network": balanced() }));
    let restarted =
        |w: &World, name: &str| w.announced(name).as_deref() != Some(&static_address(w, name));
    for _ in 0..6_000 {
        for name in ALL.into_iter().filter(|name| world.runs(name)) {
            let named = named_by_certificate(&world, name).is_array();
            assert!(!restarted(&world, name) || named, "{name}: {}", world.last_words());
        }
        if world.tick().unwrap() == crate::sim::world::Tick::Rest {
            break;
        }
    }
    world.expect_ring(3);
    assert!(ALL.iter().all(|name| restarted(&world, name)), "{}", world.last_words());
}

#[test]
fn members_announce_their_pods_and_certificates_follow() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "tls": by_operator() }));
    world.settle();
    world.patch_spec(&json!({ "network": { "broadcast": { "clients": "PodIP" } } }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.balancers_there(), Vec::<String>::new());
    for name in ALL {
        assert_eq!(world.announced(name), Some(pod_address(&world, name)));
        assert_eq!(member(&world, name)["spec"]["clientAddress"], Value::Null);
    }
    // A pod that is created again starts its server at once, with the certificate that it has;
    // one that names the new address is signed at once, too.
    let before = pod_address(&world, SECOND);
    world.delete(kinds::POD, SECOND);
    world.until(|w| w.runs(SECOND) && w.announced(SECOND).as_ref() != Some(&before));
    let started = world.now();
    world.until(|w| named_by_certificate(w, SECOND)[0] == pod_address(w, SECOND).as_str());
    assert!(world.now().duration_since(started).as_secs() < 120, "{}", world.last_words());
    world.settle();
    world.expect_ring(3);
    assert_eq!(named_by_certificate(&world, SECOND), json!([pod_address(&world, SECOND)]));
    let points = world.status()["contactPoints"].to_string();
    assert!(points.contains(&format!("{}:9042", pod_address(&world, FIRST))), "{points}");
    // From there to load balancers, and nobody is lost on the way.
    world.patch_spec(&json!({ "network": balanced() }));
    world.settle();
    world.expect_ring(3);
    for name in ALL {
        expect_announced(&world, name);
    }
}
