//! A member whose connections to the others are cut, while its pod is ready, its clients reach it
//! and its agent reaches the API server: the most dangerous of all to call dead.

use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::{Ring, Writes, bed, wait_for};
use palladion_testbed::faults::PodCut;

use super::requests::{ask_to_replace, wait_task};
use super::{NAMESPACE, SOON};

/// The port on which servers speak to each other.
const INTERNODE: u16 = 7000;
/// From the first report of it to the condition of the ring.
const NAMED_IN: Duration = Duration::from_secs(10);

pub(super) fn named(ring: &Ring<'_>) {
    let name = "heal-dc1-a-1";
    let (ids, uids) = (ring.host_ids().expect("host IDs"), ring.pod_uids().expect("uids"));
    let own = ring.member(name).expect("the member")["spec"]["hostID"].clone();
    let writing = ring.writing(Writes::Rows).expect("writing");
    bed().cluster.cut_pod(NAMESPACE, name, PodCut::Port(INTERNODE)).expect("cut");
    wait_for("another member to see it down", SOON, || {
        let members = ring.members()?;
        let others = members.iter().filter(|m| m["spec"]["hostID"] != own);
        let mut exceptions =
            others.flat_map(|m| m["status"]["ring"]["exceptions"].as_array()).flatten();
        let down = exceptions.any(|e| e["hostID"] == own && e["liveness"] == "Down");
        Ok(down.then_some(()))
    })
    .expect("it is seen down");
    let seen = Instant::now();
    let words = ring.wait_reason("Degraded", Reason::MembersDisagree, NAMED_IN).expect("named");
    println!("named {:.1} s after the first report: {words}", seen.elapsed().as_secs_f64());
    assert!(words.contains(name), "{words}");
    let cut_off = "is cut off from the ring: it is serving requests";
    ring.wait_told("Degraded", Reason::MembersDisagree, cut_off, SOON).expect("both sides count");
    // Kubernetes has nothing to say about it.
    ring.wait_ready(3).expect("all pods are ready");
    ask_to_replace("cut-off", name, None);
    let refused = wait_task("cut-off", "Refused", SOON);
    assert!(refused.contains("MemberIsLive"), "{refused}");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert_eq!(ring.pod_uids().expect("uids"), uids, "its pod and its claim stay");
    bed().cluster.heal_pod(NAMESPACE, name).expect("healed");
    ring.wait_alike(3).expect("one ring again");
    ring.wait_settled().expect("settled");
    wait_for("nothing to be wrong any more", SOON, || {
        let degraded = ring.condition("Degraded")?.unwrap_or_default();
        Ok((degraded["status"] == "False").then_some(()))
    })
    .expect("well again");
    writing.stop().expect("written");
    ring.check_data().expect("all rows");
}
