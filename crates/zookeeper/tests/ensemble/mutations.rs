//! Rules that are broken on purpose: each must be seen, or the model proves nothing.

use super::acts::pod;
use super::world::World;

#[test]
fn that_history_is_harmless_as_it_is() {
    let mut world = World::settled(3);
    world.wipe_the_only_other_one_that_knows();
    assert_eq!(world.try_settle(), Ok(()));
    assert!(world.ensemble.leader().is_none(), "{}", world.last_words());
}

#[test]
fn a_forgotten_volume_that_votes_is_seen() {
    let mut world = World::settled(3);
    world.ensemble.autocreate = true;
    world.faithless.forgets = true;
    world.wipe_the_only_other_one_that_knows();
    let why = world.try_settle().expect_err("the loss should be seen");
    assert!(why.contains("leads without acknowledged writes"), "{why}");
}

#[test]
fn an_agent_that_starts_a_server_on_an_old_disk_is_seen() {
    let mut world = World::settled(3);
    world.faithless.starts_unasked = true;
    let old = world.disk(1).content.clone();
    world.wipe(1);
    world.settle();
    world.disk(1).content = old;
    let uid = world.uid(1).unwrap();
    world.ensemble.stop(&uid);
    let why = world.try_settle().expect_err("the ghost should be seen");
    assert!(why.contains("serves outside the configuration"), "{why}");
}

#[test]
fn an_end_of_a_pod_that_leaves_no_majority_is_seen() {
    let mut world = World::settled(3);
    world.spared(&pod(0));
    assert_eq!(world.broken, Vec::<String>::new(), "two of three are left");
    world.stop_process(1);
    world.pass(1);
    world.spared(&pod(0));
    assert_eq!(world.broken.len(), 1, "{:?}", world.broken);
}

#[test]
fn a_server_id_on_a_second_volume_is_seen() {
    let mut world = World::settled(3);
    let of_another = world.disk(0).content.ledger.server_id;
    world.disk(1).content.ledger.server_id = of_another;
    let uid = world.uid(1).unwrap();
    world.ensemble.stop(&uid);
    let why = world.try_settle().expect_err("it should be seen");
    assert!(why.contains("server ID 1 was used on volumes"), "{why}");
}
