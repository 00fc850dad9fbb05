//! A member that a task drains, and tasks that outlive their ring.

use palladion_e2e::{Ring, bed, wait_for};
use serde_json::json;

use super::{NAMESPACE, SOON, ask, in_server, read, wait_done, wait_phase};

pub(super) fn and_restart(ring: &Ring<'_>) {
    let members = ring.member_names().expect("names");
    let (member, other) = (&members[1], &members[0]);
    let (ids, uids) = (ring.host_ids().expect("host IDs"), ring.pod_uids().expect("uids"));
    ask("drain", json!({ "drain": {}, "members": [member] }));
    let ended = wait_done("drain");
    assert_eq!(ended["status"]["members"][0]["reason"], "Drained", "{}", ended["status"]);
    let said = in_server(member, "nodetool netstats");
    assert!(said.contains("Mode: DRAINED"), "{said}");
    let told = ring.member(member).expect("member");
    assert_eq!(told["status"]["server"]["mode"], "DRAINED", "{}", told["status"]["server"]);
    assert!(told["spec"]["drain"].is_null(), "{}", told["spec"]["drain"]);
    let reached = bed().palladion(&format!("status {NAMESPACE} -n {NAMESPACE}")).expect("typed");
    assert!(reached.code == 1 && reached.out.contains("DRAINED"), "{reached:?}");

    // Nobody else is drained while this one is down.
    ask("second", json!({ "drain": {}, "members": [other] }));
    wait_phase("second", "Waiting");
    std::thread::sleep(std::time::Duration::from_secs(20));
    let second = read("second").expect("the second");
    assert_eq!(second["status"]["phase"], "Waiting", "{}", second["status"]);
    let abort = json!({ "spec": { "abort": true } });
    bed().patch(NAMESPACE, "cassandratask", "second", &abort).expect("taken back");
    wait_phase("second", "Aborted");

    let restart = format!("restart {member} -n {NAMESPACE} --wait=5m");
    let typed = bed().palladion(&restart).expect("typed");
    assert_eq!(typed.code, 0, "{typed:?}");
    ring.wait_members(3).expect("all well");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert_eq!(ring.pod_uids().expect("uids"), uids, "its pod stayed");
    ring.check_data().expect("all rows");
}

pub(super) fn of_a_ring_that_is_gone(ring: &Ring<'_>) {
    ring.check_data().expect("all rows");
    // It waits while the ring is paused, so that it is open when the ring goes.
    let pause = format!("pause {NAMESPACE} -n {NAMESPACE} --wait=1m");
    let typed = bed().palladion(&pause).expect("typed");
    assert_eq!(typed.code, 0, "{typed:?}");
    ask("orphan", json!({ "flush": {} }));
    wait_phase("orphan", "Waiting");
    bed().scale_operator(0).expect("the operator goes");
    bed()
        .kubectl(&format!("delete cassandracluster {NAMESPACE} -n {NAMESPACE} --wait=false"))
        .expect("deleted");
    // No finalizer of ours holds it: its claims are kept.
    wait_for("the cluster to be gone", SOON, || {
        Ok(bed().get(NAMESPACE, "cassandracluster", NAMESPACE)?.is_none().then_some(()))
    })
    .expect("gone");
    bed().scale_operator(1).expect("the operator is back");
    let ended = wait_phase("orphan", "Failed");
    let message = ended["status"]["conditions"].to_string();
    assert!(message.contains("was deleted"), "{message}");
}
