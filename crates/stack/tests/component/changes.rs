//! What reaches pods that run: only what concerns them, in the way that the spec
//! says, and not while a dependency comes or goes.

use crate::world::{World, a_spec, recreated, signalled, with};
use palladion_api::Reason;
use serde_json::json;

#[test]
fn a_parameter_that_one_text_uses_touches_one_pod() {
    let mut world = World::settled(a_spec());
    let (uids, texts) = (world.uids(), world.texts());
    world.set_spec(with(a_spec(), "/config/parameters/second", json!("b")));
    world.pass(20);
    let (now, new) = (world.uids(), world.texts());
    assert_eq!(now["web-0"], uids["web-0"]);
    assert_ne!(now["web-1"], uids["web-1"]);
    assert_eq!(new["web-0.conf"], texts["web-0.conf"]);
    assert!(new["web-1.conf"].ends_with("level info b\n"));
    assert!(world.is_at_rest(), "{}", world.status());
    // The pod that was left alone has the newest words, so that a signal is enough next time.
    let words = |pod: &str| {
        world.pod(pod)["metadata"]["annotations"]["palladion.dev/config-inputs"].clone()
    };
    assert_eq!(words("web-0"), words("web-1"));
}

#[test]
fn a_ring_that_grows_restarts_its_dependents_once_and_one_by_one() {
    let mut world = World::settled(a_spec());
    let uids = world.uids();
    world.ring_of(4, 3, 3);
    world.pass(60);
    assert_eq!(world.uids(), uids, "the fourth has not joined");
    world.ring_of(4, 4, 3);
    world.pass(30);
    assert!(world.uids().iter().all(|(pod, uid)| uids[pod] != *uid), "both were restarted");
    assert_eq!(world.fewest_ready, 1, "one after the other");
    assert_eq!(world.kubelet.starts.len(), 4);
    assert!(world.texts().values().all(|text| text.contains("10.96.1.3")));
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn each_member_of_a_ring_that_grows_by_many_is_no_change_of_its_own() {
    let mut world = World::settled(a_spec());
    for members in [4, 5, 6] {
        world.ring_of(6, members, 4);
        world.pass(100);
    }
    assert_eq!(world.kubelet.starts.len(), 4, "one restart of each pod");
}

#[test]
fn a_dependency_that_stays_incomplete_is_not_waited_for_for_ever() {
    let mut world = World::settled(a_spec());
    world.ring_of(6, 4, 4);
    world.pass(599);
    assert!(world.shows(Reason::WaitingForDependency));
    assert!(world.status()["pendingChange"]["since"].is_string());
    assert_eq!(world.kubelet.starts.len(), 2);
    world.pass(30);
    assert_eq!(world.kubelet.starts.len(), 4);
    assert!(world.status()["pendingChange"].is_null());
}

#[test]
fn a_pod_that_starts_anyway_gets_the_newest_text() {
    let mut world = World::settled(a_spec());
    world.ring_of(6, 4, 4);
    world.restart_sandbox("web-0");
    world.pass(5);
    assert!(world.texts()["web-0.conf"].contains("10.96.1.3"));
    assert!(!world.texts()["web-1.conf"].contains("10.96.1.3"), "it runs");
}

#[test]
fn a_ring_without_a_member_on_record_empties_no_text() {
    let mut world = World::settled(a_spec());
    let texts = world.texts();
    world.ring_of(0, 0, 0);
    world.pass(700);
    assert_eq!(world.texts(), texts);
}

#[test]
fn a_signal_restarts_nobody() {
    let mut world = World::settled(signalled(a_spec()));
    let uids = world.uids();
    world.ring(4, 4);
    world.pass(5);
    assert_eq!(world.uids(), uids);
    assert_eq!(world.kubelet.starts.len(), 2);
    let mut pods: Vec<&str> = world.kubelet.signals.iter().map(|(pod, _)| pod.as_str()).collect();
    pods.sort_unstable();
    assert_eq!(pods, ["web-0", "web-1"], "one signal each");
    assert!(world.is_at_rest(), "{}", world.status());
    world.pass(600);
    assert_eq!(world.kubelet.signals.len(), 2);
}

#[test]
fn a_signal_waits_for_the_files_in_the_pod() {
    let mut world = World::settled(signalled(a_spec()));
    world.kubelet.map_delay = jiff::SignedDuration::from_secs(90);
    world.ring(4, 4);
    world.pass(60);
    assert!(world.kubelet.signals.is_empty());
    world.pass(60);
    assert_eq!(world.kubelet.signals.len(), 2);
    assert!(!world.shows(Reason::ReloadUnconfirmed));
}

#[test]
fn a_signal_that_is_not_taken_is_reported() {
    let mut world = World::settled(signalled(a_spec()));
    world.kubelet.frozen.insert("web-1".into());
    world.ring(4, 4);
    world.pass(170);
    assert!(!world.shows(Reason::ReloadUnconfirmed));
    world.pass(20);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ReloadUnconfirmed));
    assert!(!world.is_ready("web-1"));
    world.kubelet.frozen.clear();
    world.pass(10);
    assert_eq!(world.says("Degraded"), "False UpToDate");
}

#[test]
fn what_the_spec_itself_says_is_a_restart_where_others_are_signals() {
    let mut world = World::settled(signalled(a_spec()));
    world.set_spec(with(signalled(a_spec()), "/config/parameters/level", json!("debug")));
    world.pass(30);
    assert_eq!(world.kubelet.starts.len(), 4, "a process may read such a thing at its start alone");
    assert!(world.kubelet.signals.is_empty());
}

#[test]
fn recreated_pods_all_stop_before_the_first_starts_with_the_final_text() {
    let mut world = World::settled(recreated(a_spec()));
    world.ring(4, 4);
    world.pass(30);
    assert_eq!(world.fewest_ready, 0);
    assert_eq!(world.kubelet.starts.len(), 4);
    let texts = world.texts();
    assert!(texts.values().all(|text| text.contains("10.96.1.3")));
    assert!(world.is_at_rest(), "{}", world.status());
    assert!(world.set()["metadata"]["annotations"].get("palladion.dev/recreating").is_none());
    world.pass(600);
    assert_eq!(world.kubelet.starts.len(), 4, "and that is all");
}

#[test]
fn pods_with_addresses_that_move_are_recreated_once() {
    let spec = with(recreated(a_spec()), "/network", json!({ "addresses": "PodIP" }));
    let spec = with(spec, "/config/key", json!("PodIP"));
    let spec = with(
        spec,
        "/config/files/0/template",
        json!(
            "{% for node in nodes %}{{ node.ip }} {% endfor %}{{ dependencies.ring.addresses[0] }}"
        ),
    );
    let mut world = World::new(spec);
    world.ring(3, 3);
    world.pass(20);
    assert_eq!(world.kubelet.starts.len(), 2, "{}", world.status());
    world.delete_pod("web-0");
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.texts().len(), 2, "keys of addresses that are gone are gone");
    let starts = world.kubelet.starts.len();
    world.pass(600);
    assert_eq!(world.kubelet.starts.len(), starts);
}

#[test]
fn no_pod_is_restarted_into_a_closed_gate() {
    for spec in [a_spec(), recreated(a_spec())] {
        let mut world = World::settled(spec.clone());
        world.ring(3, 1);
        let image = "/template/spec/containers/0/image";
        world.set_spec(with(spec, image, json!("good:2")));
        world.pass(60);
        assert_eq!(world.kubelet.starts.len(), 2, "they run on");
        assert_eq!(world.fewest_ready, 2);
        world.ring(3, 3);
        world.pass(30);
        assert_eq!(world.kubelet.starts.len(), 4);
    }
}

#[test]
fn a_bad_image_stops_at_the_first_pod_and_its_fix_waits_for_nobody() {
    let mut world = World::settled(a_spec());
    let image = "/template/spec/containers/0/image";
    world.set_spec(with(a_spec(), image, json!("bad:2")));
    world.pass(120);
    assert!(world.is_ready("web-0") && !world.is_ready("web-1"));
    assert!(world.shows(Reason::RollingOut));
    world.set_spec(with(a_spec(), image, json!("good:3")));
    world.pass(30);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.fewest_ready, 1);
}

#[test]
fn a_pod_must_be_ready_for_a_while_before_the_next_is_restarted() {
    let spec = with(a_spec(), "/minReadySeconds", json!(20));
    let mut world = World::settled(spec.clone());
    world.pass(30);
    world.set_spec(with(spec, "/template/spec/containers/0/image", json!("good:2")));
    world.pass(15);
    assert_eq!(world.kubelet.starts.len(), 3);
    world.pass(30);
    assert_eq!(world.kubelet.starts.len(), 4);
}

#[test]
fn a_new_pod_of_its_own_is_in_the_texts_of_all() {
    let mut world = World::settled(signalled(a_spec()));
    let uids = world.uids();
    world.set_spec(with(signalled(a_spec()), "/replicas", json!(3)));
    world.pass(20);
    assert_eq!(world.kubelet.starts.len(), 3);
    assert_eq!(world.kubelet.signals.len(), 2, "the two others");
    let same = world.uids();
    assert!(uids.iter().all(|(pod, uid)| same[pod] == *uid));
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn many_pods_are_signalled_in_passes() {
    let many = || with(signalled(a_spec()), "/replicas", json!(60));
    let mut world = World::settled(many());
    assert_eq!(world.kubelet.starts.len(), 60);
    world.ring(4, 4);
    world.pass(5);
    assert_eq!(world.kubelet.signals.len(), 60);
    assert!(world.is_at_rest(), "{}", world.status());
}

#[test]
fn a_newer_operator_restarts_nobody() {
    let mut world = World::settled(a_spec());
    let (uids, writes) = (world.uids(), world.writes());
    world.upgrade("agent:2");
    world.pass(60);
    assert_eq!((world.uids(), world.writes()), (uids, writes));
    world.set_spec(with(a_spec(), "/template/spec/containers/0/image", json!("good:2")));
    world.pass(30);
    let image = world.pod("web-0")["spec"]["initContainers"][0]["image"].clone();
    assert_eq!(image, "agent:2", "it comes along with the next change");
}

#[test]
fn at_rest_nothing_is_written() {
    for spec in [a_spec(), signalled(a_spec()), recreated(a_spec())] {
        let mut world = World::settled(spec);
        let writes = world.writes();
        world.pass(1200);
        assert_eq!(world.writes(), writes);
        assert_eq!(world.operator.past_wakes, 0);
    }
}
