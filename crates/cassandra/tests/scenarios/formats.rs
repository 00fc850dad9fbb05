//! SSTables of older versions: a server starts on those of the version before its own, and
//! they are written again before the next upgrade comes.

use crate::rolling::{a_ring_of_4_1, versions};
use crate::sim::World;
use crate::tasks::{ask, status};
use palladion_api::task::TaskPhase;
use serde_json::json;
use std::collections::BTreeSet;

/// What the volumes hold, by member.
fn formats(world: &World) -> Vec<BTreeSet<u32>> {
    let data = world.kube.disks.values().filter_map(|disk| disk.content.data.as_ref());
    data.map(|data| data.formats.clone()).collect()
}

fn all_in(format: u32) -> Vec<BTreeSet<u32>> {
    vec![[format].into(); 3]
}

/// The upgrade goes through, and nothing of the older version is left.
fn ends_in_5_0(world: &mut World) {
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(versions(world), ["5.0.5"; 3]);
    assert_eq!(formats(world), all_in(5), "{}", world.last_words());
}

/// The pending maintenance that goes on record with the first server of the newer line.
#[test]
fn an_upgrade_leaves_no_sstable_of_the_older_version() {
    let mut world = a_ring_of_4_1();
    assert_eq!(formats(&world), all_in(4));
    ends_in_5_0(&mut world);
}

/// A ring that came from 3.11 by other means, and was not rewritten since: with the second
/// upgrade its servers would not start. One member shows that, and the others go on.
#[test]
fn an_upgrade_over_two_formats_stops_at_its_first_member_and_ends_well_after_a_rewrite() {
    let mut world = a_ring_of_4_1();
    for disk in world.kube.disks.values_mut() {
        disk.content.data.as_mut().expect("a member's").formats.insert(3);
    }
    world.patch_spec(&json!({ "version": "5.0.5" }));
    world.pass(1800);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(told.contains("Detected unreadable sstables"), "{told}");
    world.patch_spec(&json!({ "version": "4.1.9" }));
    world.settle();
    world.expect_ring(3);
    assert_eq!(versions(&world), ["4.1.9"; 3]);
    ask(&mut world, "rewrite", &json!({ "cluster": "demo", "upgradeSSTables": {} }));
    world.settle();
    assert_eq!(status(&world, "rewrite").phase, Some(TaskPhase::Done), "{}", world.last_words());
    assert_eq!(formats(&world), all_in(4));
    ends_in_5_0(&mut world);
}
