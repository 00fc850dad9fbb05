//! Power cuts, lost volumes, lost records: what joined before comes back by
//! itself, and nothing ever founds a second ring.

use crate::every::a_ring;
use crate::sim::World;
use crate::sim::manifests::{CLUSTER, NAMESPACE, a_cluster, of_scylla, two_racks};
use crate::sim::rows::GC_GRACE;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::json;

#[test]
fn all_members_come_back_from_a_power_cut_with_api_server_and_operator_away() {
    let mut world = a_ring(2, 1);
    let before = world.end();
    world.power_cut();
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    world.api_returns();
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), before);
    insta::assert_snapshot!(world.story.join("\n"));
}

#[test]
fn a_leave_is_not_refused_because_nobody_is_there_to_name_the_keyspaces() {
    let mut world = a_ring(3, 1);
    world.delete_all_pods();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let mut said = Vec::new();
    for _ in 0..2000 {
        if said.len() > 20 && world.normal() == 4 {
            break;
        }
        world.tick().unwrap();
        said.push(world.condition("Degraded"));
    }
    assert!(said.len() > 3 && said.iter().all(|s| !s.contains("LeaveRefused")), "{said:?}");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn an_address_that_another_service_has_taken_stops_its_member_alone() {
    const FIRST: &str = "demo-dc1-a-0";
    let mut world = a_ring(2, 1);
    let member = ObjectKey::new(kinds::MEMBER, NAMESPACE, FIRST);
    let address = world.store.get(&member).unwrap()["spec"]["address"].clone();
    world.delete_cluster();
    world.settle();
    let stranger = ObjectKey::new(kinds::SERVICE, "elsewhere", "stranger");
    let service = json!({ "metadata": {}, "spec": { "clusterIP": address } });
    world.store.create(&stranger, &service).expect("it should be free by then");
    world.apply(&two_racks());
    world.pass(600);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True AddressTaken: another Service has"), "{told}");
    assert!(told.contains(FIRST) && told.contains(address.as_str().unwrap()), "{told}");
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    assert!(!world.ring.servers.values().any(|s| s.member == FIRST), "{}", world.last_words());
    world.store.remove(&stranger);
    world.settle();
    world.expect_ring(3);
    let member = world.store.get(&member).unwrap();
    assert_eq!(member["spec"]["address"], address);
}

/// Its sets are created when the old pods are gone: one that is refused a pod
/// pauses for minutes.
#[test]
fn a_cluster_that_is_made_again_at_once_is_back_within_two_minutes() {
    let mut world = a_ring(2, 1);
    let before = world.end();
    world.delete_cluster();
    world.until(|w| !w.exists(kinds::CLUSTER, CLUSTER) && w.names(kinds::STATEFUL_SET).is_empty());
    assert_eq!(world.names(kinds::POD).len(), 3, "the old pods are still there");
    world.apply(&two_racks());
    world.pass(120);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), before);
}

#[test]
fn all_pods_deleted_at_once_come_back_as_they_were() {
    let mut world = a_ring(2, 1);
    let before = world.end();
    world.delete_all_pods();
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), before);
}

#[test]
fn a_volume_that_is_emptied_while_all_are_down_never_founds_a_second_ring() {
    for member in ["demo-dc1-a-0", "demo-dc1-b-0", "demo-dc1-a-1"] {
        let mut world = a_ring(2, 1);
        world.power_cut();
        world.wipe_volume(member);
        world.api_returns();
        world.settle();
        assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
        world.expect_ring(3);
        if member == "demo-dc1-a-0" {
            insta::assert_snapshot!(world.story.join("\n"));
        }
    }
}

#[test]
fn a_volume_that_is_emptied_while_the_operator_is_away_too_starts_nothing() {
    let mut world = a_ring(2, 1);
    world.power_cut();
    world.wipe_volume("demo-dc1-a-0");
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    world.api_returns();
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_cluster_that_is_deleted_and_made_again_finds_its_data() {
    let mut world = a_ring(2, 1);
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    assert_eq!(world.names(kinds::CLAIM).len(), 3, "claims are kept");
    assert!(
        world.names(kinds::SERVICE).is_empty() && world.names(kinds::MEMBER).is_empty(),
        "{:?}",
        world.names(kinds::SERVICE)
    );
    world.tell("a person makes it again");
    world.apply(&two_racks());
    world.settle();
    world.expect_ring(3);
    insta::assert_snapshot!(world.story.join("\n"));
}

#[test]
fn a_cluster_that_is_deleted_and_made_again_at_once_finds_its_data() {
    for ticks in [1, 8, 25] {
        let mut world = a_ring(2, 1);
        world.delete_cluster();
        for _ in 0..ticks {
            if let Err(why) = world.tick() {
                panic!("{why}\n{}", world.last_words());
            }
        }
        world.apply(&two_racks());
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn a_deleted_cluster_takes_its_data_along_only_where_that_is_wanted() {
    let mut cluster = two_racks();
    cluster["spec"]["deletionPolicy"] = "Delete".into();
    let mut world = World::new().with(&cluster);
    world.settle();
    world.expect_ring(3);
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    assert!(world.names(kinds::CLAIM).is_empty(), "{:?}", world.names(kinds::CLAIM));
}

#[test]
fn a_deleted_cluster_leaves_claims_of_others_alone() {
    let mut world = a_ring(3, 1);
    world.set_racks(&two_racks());
    world.settle();
    let kept = ObjectKey::new(kinds::CLAIM, NAMESPACE, "data-demo-dc1-a-2");
    let another = json!({ "metadata": { "annotations": { labels::CLUSTER_UID: "another" } } });
    world.store.merge(&kept, &another, Subresource::None).expect("it is kept");
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.settle();
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    assert_eq!(world.names(kinds::CLAIM), ["data-demo-dc1-a-2"]);
}

/// It may run pods on our claims, and nobody but its owner ends it: it is named, and waited for.
#[test]
fn a_set_of_somebody_else_with_our_label_is_named_while_claims_wait_for_it() {
    let mut cluster = two_racks();
    cluster["spec"]["deletionPolicy"] = "Delete".into();
    let mut world = World::new().with(&cluster);
    world.settle();
    let key = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, "another");
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {
            "name": "another", "namespace": NAMESPACE,
            "labels": { labels::CLUSTER: "demo", labels::MANAGED_BY: labels::PALLADION },
        },
        "spec": { "replicas": 0, "selector": { "matchLabels": { "app": "another" } } },
    });
    world.store.create(&key, &set).expect("somebody creates it");
    world.delete_cluster();
    world.settle();
    assert!(!world.is_deleted() && world.names(kinds::CLAIM).len() == 3);
    let said = world.condition("Progressing");
    assert!(said.contains("StatefulSet another carries the label"), "{said}");
    world.delete(kinds::STATEFUL_SET, "another");
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    assert!(world.names(kinds::CLAIM).is_empty());
}

#[test]
fn a_policy_that_is_taken_back_in_the_last_moment_keeps_the_data() {
    let mut cluster = two_racks();
    cluster["spec"]["deletionPolicy"] = "Delete".into();
    let mut world = World::new().with(&cluster);
    world.settle();
    world.patch_spec(&json!({ "deletionPolicy": "Retain" }));
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    assert_eq!(world.names(kinds::CLAIM).len(), 3, "claims are kept");
}

#[test]
fn the_status_of_a_running_ring_may_be_erased() {
    let mut world = a_ring(2, 1);
    let before = world.end();
    world.erase_status();
    world.settle();
    world.expect_ring(3);
    assert_eq!(world.end(), before);
    insta::assert_snapshot!(world.story.join("\n"));
}

#[test]
fn a_deleted_record_of_a_member_is_made_again_from_the_world() {
    for member in ["demo-dc1-a-0", "demo-dc1-b-0", "demo-dc1-a-1"] {
        let mut world = a_ring(2, 1);
        world.delete(kinds::MEMBER, member);
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn all_records_of_members_may_be_deleted_at_once() {
    let mut world = a_ring(2, 1);
    for member in world.names(kinds::MEMBER) {
        world.delete(kinds::MEMBER, &member);
    }
    world.settle();
    world.expect_ring(3);
}

/// `VolumeForeign` says that nothing of them is touched: so it must stay when
/// the object that does not fit is deleted again.
#[test]
fn a_ring_that_does_not_fit_the_kept_claims_takes_none_of_them_with_it() {
    let mut world = a_ring(2, 1);
    world.delete_cluster();
    world.settle();
    let mut other = a_cluster(&[("a", 2), ("b", 1)]);
    other["spec"]["ringName"] = "another".into();
    other["spec"]["deletionPolicy"] = "Delete".into();
    world.apply(&other);
    world.settle();
    let told = world.condition("Degraded");
    assert!(told.starts_with("True"), "{told}");
    world.delete_cluster();
    world.settle();
    assert_eq!(world.names(kinds::CLAIM).len(), 3, "{}", world.last_words());
    world.apply(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.expect_ring(3);
}

/// Whoever is there when a ring is made again was there before: what the others
/// keep of the ranges that a joiner takes over comes back when it leaves.
#[test]
fn a_cluster_that_is_made_again_larger_is_cleaned_up_after_the_join() {
    for of_system in [|cluster| cluster, of_scylla] {
        let of = |a: i32| of_system(a_cluster(&[("a", a), ("b", 1)]));
        let mut world = World::new().with(&of(2));
        world.settle();
        assert_eq!(world.write(20), 20);
        world.delete_cluster();
        world.settle();
        assert!(world.is_deleted(), "{}", world.last_words());
        world.apply(&of(3));
        world.settle();
        world.expect_ring(4);
        let rows: Vec<u32> = (0..20).collect();
        assert_eq!(world.delete_rows(rows), 20);
        world.pass(GC_GRACE.as_secs() + 24 * 3600);
        world.set_racks(&of(2));
        world.settle();
        world.expect_ring(3);
    }
}

/// Members with pending maintenance, and claims that say so.
fn pending(world: &World) -> (usize, usize) {
    let of = |resource, has: &dyn Fn(&serde_json::Value) -> bool| {
        world.store.list(resource).filter(|(_, object)| has(object)).count()
    };
    let owes = |member: &serde_json::Value| {
        member["spec"]["pendingMaintenance"].as_array().is_some_and(|all| !all.is_empty())
    };
    let says = |claim: &serde_json::Value| {
        claim["metadata"]["annotations"]["palladion.dev/pending-maintenance"].is_string()
    };
    (of(kinds::MEMBER, &owes), of(kinds::CLAIM, &says))
}

#[test]
fn a_cleanup_that_is_pending_when_a_cluster_is_deleted_is_done_when_it_is_made_again() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| pending(w).0 == 3);
    world.until(|w| pending(w).1 == 3 || pending(w).0 < 3);
    assert_eq!(pending(&world).0, 3, "{}", world.last_words());
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    world.apply(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    world.expect_ring(4);
    assert_eq!(pending(&world), (0, 0), "{}", world.last_words());
    let rows: Vec<u32> = (0..20).collect();
    assert_eq!(world.delete_rows(rows), 20);
    world.pass(GC_GRACE.as_secs() + 24 * 3600);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_repair_that_is_pending_when_a_member_object_is_deleted_is_done_all_the_same() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    world.until(|w| pending(w).0 == 1);
    let begun = world.begun_by("demo-dc1-a-1");
    world.until(|w| pending(w).1 == 1 || pending(w).0 == 0);
    world.delete(kinds::MEMBER, "demo-dc1-a-1");
    world.settle();
    world.expect_ring(3);
    let repairs = world.begun_by("demo-dc1-a-1").split_off(begun.len());
    assert!(repairs.iter().any(|id| id.starts_with("pay-repair")), "{repairs:?}");
    assert_eq!(pending(&world), (0, 0), "{}", world.last_words());
}
