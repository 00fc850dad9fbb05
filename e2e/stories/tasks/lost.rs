//! A machine that goes for good while its member has a part in a repair: the repair makes way for
//! the replacement, and is brought to its end with the member that comes instead.

use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::fields::STEP_REPLACE;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::json;

use super::abort::{cleared, wait_streams};
use super::due::BYTES;
use super::much::{ROWS, bytes, end_of_much, let_go_once_up, much_that_one_lacks, rows};
use super::{NAMESPACE, SOON, ask, read, wait_phase};
use crate::heal::wait_replaced;

/// Each of three members compares 48 MiB with the two others, as fast as they can.
const REPAIRED_IN: Duration = Duration::from_secs(900);

pub(super) fn in_a_repair(ring: &Ring<'_>) {
    let grace = |seconds: u32| {
        let spec = json!({ "spec": { "nodeGoneGraceSeconds": seconds } });
        bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &spec).expect("patch");
    };
    grace(0);
    let names = ring.member_names().expect("names");
    let [first, lacks, lost] = names.as_slice() else { panic!("three members: {names:?}") };
    let node = bed().node_of(NAMESPACE, lost).expect("its node");
    let node = bed().cluster.node(&node).expect("a node");
    for other in [first, lacks] {
        let its = bed().node_of(NAMESPACE, other).expect("its node");
        assert_ne!(its, node.name(), "two members lost are another story");
    }
    bed().move_operator_from(node).expect("the operator is elsewhere");
    let old = text(&ring.member(lost).expect("member"), "/spec/hostID").to_string();
    much_that_one_lacks(ring, lacks);
    ask("lost", json!({ "repair": { "keyspaces": ["much"] } }));
    let at_work = wait_streams("lost");
    assert_ne!(
        at_work, *lost,
        "what a member that is lost was at has failed, which is another story"
    );
    bed().cluster.power_off(node).expect("power off");
    bed().cluster.delete_node_object(node).expect("delete");
    ring.loses_a_volume();
    wait_for("the replacement to have the turn", SOON * 2, || {
        let turn = ring.cluster()?["status"]["turn"].clone();
        Ok((turn["step"] == STEP_REPLACE && turn["member"] == lost.as_str()).then_some(()))
    })
    .expect("its turn");
    let waits = read("lost").expect("the task");
    println!("{at_work} was at work, {lost} was lost: {}", waits["status"]["members"]);
    assert!(waits["status"]["endedAt"].is_null(), "it goes on afterwards: {}", waits["status"]);
    for other in [first, lacks] {
        let_go_once_up(other).unwrap_or_else(|error| panic!("{other}: {error:#}"));
    }
    wait_replaced(ring, lost, &old);
    wait_for("the repair to end", REPAIRED_IN, || {
        Ok(read("lost")?["status"]["endedAt"].is_string().then_some(()))
    })
    .expect("ended");
    let ended = wait_phase("lost", "Done");
    println!("the task ended with {}", ended["status"]["members"]);
    for name in &names {
        let bytes = bytes(name);
        assert!(bytes >= BYTES, "{name} has {bytes} bytes");
    }
    bed().cluster.power_on(node).expect("power on");
    bed().wait_node_is_back(node).expect("back");
    ring.restart_client().expect("client");
    assert_eq!(rows(ring), 2 * ROWS);
    end_of_much(ring);
    cleared(&["lost"]);
    grace(600);
    ring.check_data().expect("all rows");
}
