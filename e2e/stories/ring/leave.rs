//! A member that leaves, and comes again.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::{Ring, a_ring, bed, wait_for};

use super::{NAMESPACE, SOON};

/// The condition `MemberLeaving` of rack a.
fn wait_rack(ring: &Ring<'_>, status: &str, message: &str) {
    wait_for(&format!("rack a: {message}"), Duration::from_secs(120), || {
        let cluster = ring.cluster()?;
        let conditions = cluster["status"]["racks"]["a"]["conditions"].as_array().cloned();
        let leaving = conditions.into_iter().flatten().find(|c| c["type"] == "MemberLeaving");
        Ok(leaving.filter(|c| c["status"] == status && c["message"] == message).map(|_| ()))
    })
    .expect("the rack says who leaves");
}

/// The operator is killed in the middle, and the agent of the member that leaves.
fn killed_meanwhile() {
    let agent = "for p in /proc/[0-9]*; do n=$(basename $p); [ $n != 1 ] && tr '\\0' ' ' < $p/cmdline | grep -q 'palladion-agen[t] agent' && kill -9 $n && echo killed; done; true";
    bed().kill_operator().expect("kill");
    let said = bed().exec(NAMESPACE, "ring-dc1-a-1", &["bash", "-c", agent]).expect("kill");
    assert!(said.contains("killed"), "the agent was not found: {said:?}");
    std::thread::sleep(Duration::from_secs(3));
    bed().kill_operator().expect("kill");
}

pub(super) fn by_recorded_intent(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    let set_members = |members: u32| {
        let wanted = a_ring().racks(&[("a", members), ("b", 1)]);
        bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
    };
    // Three copies cannot be kept by two members: refused with the keyspace named.
    set_members(1);
    let message = ring.wait_reason("Degraded", Reason::LeaveRefused, SOON).expect("refused");
    assert!(message.contains("kept"), "{message}");
    assert_eq!(ring.members().expect("members").len(), 3);
    ring.cql(&[
        "ALTER KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
    ])
    .expect("alter");
    wait_rack(ring, "True", "member ring-dc1-a-1 is leaving the ring");
    killed_meanwhile();
    wait_for("the member to have left", Duration::from_secs(240), || {
        let members = ring.members()?;
        let two = members.iter().all(|m| m["status"]["ring"]["members"] == 2);
        Ok((members.len() == 2 && two).then_some(()))
    })
    .expect("it leaves");
    ring.wait_ready(2).expect("two are ready");
    ring.wait_settled().expect("settled");
    wait_rack(ring, "False", "no member of this rack is leaving the ring");
    ring.check_data().expect("all rows");
    let claim = bed()
        .get(NAMESPACE, "persistentvolumeclaim", "data-ring-dc1-a-1")
        .expect("get")
        .expect("the claim of the member that left is kept");
    assert!(
        claim["metadata"]["annotations"]["palladion.dev/gone"].is_string(),
        "and says whose data it holds"
    );
    // Wanted again, it joins as a new member; its old data is set aside, not used.
    set_members(2);
    ring.wait_ready(3).expect("three are ready again");
    ring.wait_settled().expect("settled");
    ring.check_data().expect("all rows");
}
