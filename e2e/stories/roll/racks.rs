//! Racks that come, go and change.

use palladion_e2e::{Ring, Writes, bed, wait_for};
use serde_json::{Value, json};

use super::server::well;
use super::{NAMESPACE, RESTARTS_IN, rack, racks_of, set_racks};

pub(super) fn come_and_go(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let before = racks_of(ring);
    let with_two_more = |members: u32| {
        let mut wanted = before.as_array().cloned().expect("racks");
        wanted.extend(["c", "d"].map(|name| rack(name, members)));
        Value::from(wanted)
    };
    let writing = ring.writing(Writes::Rows).expect("writing");
    set_racks(&with_two_more(1));
    let mut joining = 0;
    wait_for("two more members", RESTARTS_IN, || {
        let members = ring.members()?;
        let joins = |m: &&Value| m["status"]["server"]["mode"] == "JOINING";
        joining = joining.max(members.iter().filter(joins).count());
        Ok((ring.cluster()?["status"]["members"] == "5/5").then_some(()))
    })
    .expect("a fourth and a fifth member join");
    assert!(joining <= 1, "{joining} members joined at once");
    ring.wait_alike(5).expect("one ring of five");
    ring.wait_settled().expect("settled");
    writing.stop().expect("written");
    ring.check_data().expect("all rows on five members");
    let writing = ring.writing(Writes::Rows).expect("writing");
    set_racks(&with_two_more(0));
    // Dropped while their members are still there.
    set_racks(&before);
    wait_for("the racks' sets to be removed", RESTARTS_IN, || {
        let mut sets = ["c", "d"]
            .into_iter()
            .map(|rack| bed().get(NAMESPACE, "statefulset", &format!("roll-dc1-{rack}")));
        let gone = sets.try_fold(true, |gone, set| anyhow::Ok(gone && set?.is_none()))?;
        Ok((gone && ring.member_names()?.len() == 3).then_some(()))
    })
    .expect("removed");
    ring.wait_settled().expect("settled");
    writing.stop().expect("written");
    well(ring, &ids);
    for rack in ["c", "d"] {
        let claim = format!("data-roll-dc1-{rack}-0");
        let claim = bed().get(NAMESPACE, "pvc", &claim).expect("get");
        assert!(claim.is_some(), "the volume of the member that left is kept");
    }
    let racks = ring.cluster().expect("cluster")["status"]["racks"].clone();
    assert!(racks["c"].is_null() && racks["d"].is_null(), "{racks}");
}

pub(super) fn restart_alone(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let mut wanted = racks_of(ring);
    let changes = [
        (
            "resources",
            json!({ "requests": { "cpu": "110m", "memory": "1Gi" }, "limits": { "memory": "1Gi" } }),
        ),
        ("annotations", json!({ "example.com/team": "orders" })),
        (
            "placement",
            json!({ "tolerations": [{ "key": "example.com/old", "operator": "Exists" }] }),
        ),
    ];
    for (field, value) in changes {
        let uids = ring.pod_uids().expect("uids");
        wanted[1][field] = value;
        set_racks(&wanted);
        wait_for("another pod", RESTARTS_IN, || {
            let now = ring.pod_uids()?;
            Ok((now.len() == uids.len() && now != uids).then_some(()))
        })
        .expect("another pod");
        well(ring, &ids);
        let now = ring.pod_uids().expect("uids");
        let new: Vec<_> = now.iter().filter(|pod| !uids.contains(pod)).collect();
        assert!(matches!(new[..], [(name, _)] if name == "roll-dc1-b-0"), "{field}: {new:?}");
    }
    let pod = bed().get(NAMESPACE, "pod", "roll-dc1-b-0").expect("get");
    let pod = pod.expect("a pod");
    assert_eq!(pod["metadata"]["annotations"]["example.com/team"], "orders");
    assert_eq!(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "110m");
    let tolerations = pod["spec"]["tolerations"].as_array().expect("tolerations");
    assert!(tolerations.iter().any(|t| t["key"] == "example.com/old"));
}
