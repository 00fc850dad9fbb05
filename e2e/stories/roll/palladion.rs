//! Palladion itself is upgraded under a running ring.

use std::time::Duration;

use palladion_e2e::{Ring, bed, wait_for};
use palladion_testbed::images::AGENT;
use serde_json::json;

use super::server::{starts, well};
use super::{NAMESPACE, RESTARTS_IN, racks_of, set_racks};

/// The agent of another release. It is the same program: what is seen here is
/// which pods take it.
const NEWER: &str = "palladion.dev/palladion-agent:newer";
/// The rack with one member, and that member.
const RACK: usize = 1;
const MEMBER: &str = "roll-dc1-b-0";

pub(super) fn upgrade(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let (uids, before) = (ring.pod_uids().expect("uids"), starts(ring));
    bed().cluster.tag(AGENT, NEWER).expect("another name for the agent's image");
    bed().upgrade_palladion(NEWER).expect("upgraded");
    wait_decided();
    assert_eq!(ring.pod_uids().expect("uids"), uids, "no pod is replaced");
    assert_eq!(starts(ring), before, "no server is restarted");
    ring.wait_settled().expect("settled");

    let mut wanted = racks_of(ring);
    wanted[RACK]["annotations"]["example.com/agent"] = json!("newest");
    set_racks(&wanted);
    wait_for("the rack's pod to be replaced", RESTARTS_IN, || {
        let now = ring.pod_uids()?;
        Ok((now.len() == uids.len() && now != uids).then_some(()))
    })
    .expect("replaced");
    well(ring, &ids);
    let now = ring.pod_uids().expect("uids");
    let new: Vec<_> = now.iter().filter(|pod| !uids.contains(pod)).collect();
    assert!(matches!(new[..], [(name, _)] if name == MEMBER), "{new:?}");
    for (name, _) in &now {
        let expected = if name == MEMBER { NEWER } else { AGENT };
        assert_eq!(agent_of(name), expected, "{name}");
    }
    // And back: the older release leaves the newer agent where it is.
    bed().upgrade_palladion(AGENT).expect("taken back");
    wait_decided();
    assert_eq!(ring.pod_uids().expect("uids"), now, "no pod is replaced");
    assert_eq!(agent_of(MEMBER), NEWER);
}

/// The operator that has just started leads and has decided: it would have
/// begun within a second, and a member's pod takes seconds to end.
fn wait_decided() {
    std::thread::sleep(Duration::from_secs(25));
}

fn agent_of(pod: &str) -> String {
    let pod = bed().get(NAMESPACE, "pod", pod).expect("get").expect("a pod");
    let image = &pod["spec"]["initContainers"][0]["image"];
    image.as_str().unwrap_or_default().to_string()
}
