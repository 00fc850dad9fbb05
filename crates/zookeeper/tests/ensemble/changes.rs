//! Growth, shrinking and rollouts.

use super::acts::pod;
use super::volume::Part;
use super::world::{NAMESPACE, World};
use palladion_api::labels;
use palladion_plan::{ObjectKey, Subresource};
use palladion_zookeeper::resources as kinds;
use serde_json::json;

/// pravega/zookeeper-operator#94, #315, #448 and #513: who joins where a server has left
/// finds its old data, and does not take part by it.
#[test]
fn an_ensemble_grows_and_shrinks_and_grows_again_and_no_id_is_used_twice() {
    let mut world = World::settled(1);
    for (servers, voters) in
        [(3, vec![1, 2, 3]), (1, vec![1]), (3, vec![1, 4, 5]), (5, vec![1, 4, 5, 6, 7])]
    {
        world.patch_spec(&json!({ "servers": servers }));
        world.settle();
        world.expect(servers);
        assert_eq!(world.voters(), voters, "{}", world.last_words());
    }
}

/// The pod of a leaver ends before its agent has noted that it has left: the claim says so, and
/// where another joins in its place its volume is renewed.
#[test]
fn a_leaver_whose_agent_noted_nothing_joins_again_under_another_id() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "servers": 1 }));
    world.settle();
    world.expect(1);
    for ordinal in [1, 2] {
        let ledger = &mut world.disk(ordinal).content.ledger;
        assert_eq!(ledger.part, Part::Left, "its pod ends when that is noted");
        ledger.part = Part::Joined;
    }
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
    assert_eq!(world.voters(), [1, 4, 5], "{}", world.last_words());
}

/// Without that claim only a user gives the data up, and is asked to.
#[test]
fn an_old_volume_is_reported_and_joins_when_a_user_gives_it_up() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "servers": 1 }));
    world.settle();
    world.disk(1).content.ledger.part = Part::Joined;
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(1)));
    let forgotten = json!({ "metadata": { "annotations": { labels::GONE: null } } });
    world.store.merge(&claim, &forgotten, Subresource::None).unwrap();
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    assert_eq!(world.voters(), [1, 4], "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True VolumeForeign: member demo-zk-1"), "{said}");
    let volume = world.member(1)["status"]["volume"]["volumeID"].as_str().unwrap().to_string();
    assert!(said.contains(&format!("palladion.dev/replace={volume}")), "{said}");
    let replace =
        |volume: &str| json!({ "metadata": { "annotations": { labels::REPLACE: volume } } });
    world.patch_member(&pod(1), &replace("another"));
    world.settle();
    assert_eq!(world.voters(), [1, 4], "{}", world.last_words());
    world.patch_member(&pod(1), &replace(&volume));
    world.settle();
    world.expect(3);
    assert_eq!(world.member(1)["metadata"]["annotations"][labels::REPLACE], json!(null));
}

/// While the ensemble counts its server, giving it up would do nothing but lose the data.
#[test]
fn an_old_volume_whose_server_the_ensemble_counts_is_given_up_by_nobody() {
    let mut world = World::settled(5);
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.disk(3).content.ledger.part = Part::Joined;
    let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(3)));
    let forgotten = json!({ "metadata": { "annotations": { labels::GONE: null } } });
    world.store.merge(&claim, &forgotten, Subresource::None).unwrap();
    world.add_stranger(4);
    world.patch_spec(&json!({ "servers": 5 }));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.contains("the data of server 4, which is not on record"), "{said}");
    assert!(!said.contains(labels::REPLACE), "{said}");
}

#[test]
fn the_leader_may_be_among_the_leavers() {
    let mut world = World::settled(5);
    world.delete(kinds::POD, &pod(world.leader()));
    world.settle();
    assert_eq!(world.leader(), 4, "the highest ID is elected");
    let before = world.pods();
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
    assert!(world.pods().iter().all(|pod| before.contains(pod)), "nobody is restarted");
    for ordinal in [3, 4] {
        assert!(!world.exists(kinds::MEMBER, &pod(ordinal)));
        assert!(!world.exists(kinds::SERVICE, &pod(ordinal)));
        assert!(world.exists(kinds::CLAIM, &format!("data-{}", pod(ordinal))), "data is kept");
    }
}

#[test]
fn a_lost_answer_to_a_reconfiguration_changes_nothing() {
    let mut world = World::settled(1);
    world.ensemble.answers_lost = 2;
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
    assert_eq!(world.ensemble.answers_lost, 0);
    assert_eq!(world.voters(), [1, 2, 3]);
}

/// It may vote already, of two, and then nobody answers without it.
#[test]
fn a_joiner_whose_pod_ends_at_any_time_joins_all_the_same() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "servers": 3 }));
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(4) {
        if world.exists(kinds::POD, &pod(1)) {
            tried += 1;
            world.delete(kinds::POD, &pod(1));
        }
        world.settle();
        world.expect(3);
    }
    assert!(tried > 10, "{tried}");
}

#[test]
fn a_joiner_that_cannot_start_is_tried_three_times_and_holds_up_no_leave() {
    let mut world = World::settled(3);
    world.unlucky.insert(pod(3));
    world.patch_spec(&json!({ "servers": 5 }));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.starts_with("True JoinFailed: member demo-zk-3"), "{said}");
    assert!(said.contains(&format!("`kubectl delete pod -n {NAMESPACE} demo-zk-3`")), "{said}");
    assert_eq!(world.voters().len(), 4, "the other one has joined: {}", world.last_words());
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
}

#[test]
fn a_rollout_restarts_one_at_a_time_and_the_leader_last() {
    let mut world = World::settled(3);
    let leader = pod(world.leader());
    world.patch_spec(&json!({ "version": "3.9.3" }));
    world.settle();
    world.expect(3);
    let replaced: Vec<&String> =
        world.writes.iter().filter(|w| w.starts_with("replace the pod of")).collect();
    assert_eq!(replaced.len(), 3, "{replaced:?}\n{}", world.last_words());
    assert!(replaced[2].ends_with(&leader), "{leader}: {replaced:?}");
    assert_eq!(world.status()["highestReleaseLine"], json!("3.9"));
}

/// pravega/zookeeper-operator#547: there the pod of the bad image was never replaced.
#[test]
fn a_rollout_to_an_image_that_does_not_exist_stops_at_the_first_and_can_be_corrected() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "version": "3.9.missing" }));
    world.settle();
    assert!(world.condition("Available").starts_with("True"), "{}", world.last_words());
    assert_eq!(world.ensemble.servers.len(), 2);
    let said = world.condition("Degraded");
    assert!(said.contains("RolloutStuck") || said.contains("ImagePullFailed"), "{said}");
    assert!(said.contains("set the spec back"), "{said}");
    world.patch_spec(&json!({ "version": "3.9.3" }));
    world.settle();
    world.expect(3);
}

#[test]
fn a_restart_that_is_asked_for_restarts_each_server_once_in_its_pod() {
    let mut world = World::settled(3);
    let before = world.pods();
    world.patch_spec(&json!({ "restartToken": "now" }));
    world.settle();
    world.expect(3);
    assert_eq!(world.pods(), before);
    let restarts = world.writes.iter().filter(|w| w.starts_with("restart the server")).count();
    assert_eq!(restarts, 3);
}

#[test]
fn a_server_alone_is_restarted_too() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "version": "3.8.5" }));
    world.settle();
    world.expect(1);
}

#[test]
fn what_is_paused_is_left_alone() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "paused": true, "servers": 3 }));
    world.settle();
    assert_eq!(world.voters(), [1]);
    assert!(world.condition("Paused").starts_with("True"));
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    world.expect(3);
}

/// Dependents read it: it names members of record, not those that are ready now.
#[test]
fn a_restart_does_not_change_what_dependents_read() {
    let mut world = World::settled(3);
    let nodes = world.status()["service"]["nodes"].clone();
    world.delete(kinds::POD, &pod(1));
    let mut was_away = false;
    while world.tick().unwrap() {
        was_away |= world.status()["service"]["ready"] == json!(2);
        assert_eq!(world.status()["service"]["nodes"], nodes);
        assert_eq!(world.status()["service"]["active"], json!(true));
    }
    assert!(was_away);
}

/// Whatever was begun by then goes to its end, or is not begun.
#[test]
fn a_change_of_mind_at_any_time_ends_as_the_spec_says_last() {
    for (from, to) in [(3, 1), (1, 3)] {
        let mut world = World::settled(from);
        world.patch_spec(&json!({ "servers": to }));
        let mut worlds = Vec::new();
        while world.tick().unwrap() {
            worlds.push(world.clone());
        }
        for mut world in worlds.into_iter().step_by(5) {
            world.patch_spec(&json!({ "servers": from }));
            world.settle();
            world.expect(from);
        }
    }
}

/// An order that nobody has carried out ends with the turn that it was given in: made
/// later, it would add a server that does not run any more.
#[test]
fn an_order_does_not_outlive_its_turn() {
    let mut world = World::settled(3);
    world.slow.insert(pod(0));
    world.patch_spec(&json!({ "servers": 5 }));
    world.until(|w| w.member(0)["spec"]["operation"]["reconfig"]["add"][0]["serverID"] == json!(4));
    world.wipe(2);
    world.until(|w| w.status()["turn"]["step"] == json!("Replace"));
    assert_eq!(world.member(0)["spec"]["operation"], json!(null), "{}", world.last_words());
    world.slow.clear();
    world.settle();
    world.expect(5);
}

/// A container that somebody injected fails beside each server, which serves.
#[test]
fn a_rollout_restarts_one_server_at_a_time_where_a_sidecar_fails_in_every_pod() {
    let mut world = World::settled(3);
    for ordinal in 0..3 {
        let key = ObjectKey::new(kinds::POD, NAMESPACE, &pod(ordinal));
        let mut status = world.store.get(&key).expect("the pod should exist")["status"].clone();
        let statuses = status["containerStatuses"].as_array_mut().expect("it has containers");
        let waiting = json!({ "reason": "CrashLoopBackOff" });
        statuses.push(json!({ "name": "proxy", "state": { "waiting": waiting } }));
        world.store.put_status(&key, status).expect("the pod should exist");
    }
    world.patch_spec(&json!({ "version": "3.9.3" }));
    world.settle();
    world.expect(3);
    let begun = world.story.iter().filter(|line| line.contains("operator: begin the restart"));
    assert_eq!(begun.count(), 3, "{}", world.last_words());
}
