//! Nodes that go for good or for a while.

use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::fields::{STEP_REMOVE, STEP_REPLACE};
use palladion_e2e::{Ring, Writes, bed, wait_for};
use serde_json::json;

use super::{NAMESPACE, REPLACED_IN, SOON, racks, wait_replaced};

pub(super) fn unreachable(ring: &Ring<'_>) {
    let (name, node) = ring.a_victim().expect("a victim");
    let ids = ring.host_ids().expect("host IDs");
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    bed().cluster.freeze_node(node).expect("freeze");
    // Kubernetes finds a Node not ready after 40 s, and ends its pods after five minutes.
    std::thread::sleep(Duration::from_secs(330));
    let member = ring.member(&name).expect("the member");
    assert!(member["spec"]["replace"].is_null(), "{}", member["spec"]);
    assert!(ring.cluster().expect("cluster")["status"]["turn"].is_null());
    bed().cluster.thaw_node(node).expect("thaw");
    ring.wait_ready(3).expect("all ready");
    ring.wait_alike(3).expect("one ring");
    ring.wait_settled().expect("settled");
    writing.stop().expect("written");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.check_data().expect("all rows");
}

pub(super) fn lost_while_leaving(ring: &Ring<'_>) {
    let name = "heal-dc1-a-1";
    let node = bed().node_of(NAMESPACE, name).expect("its node");
    let node = bed().cluster.node(&node).expect("a node");
    let members = ring.member_names().expect("names");
    let others = members.iter().filter(|m| *m != name);
    for other in others {
        let its = bed().node_of(NAMESPACE, other).expect("its node");
        assert_ne!(its, node.name(), "two members lost are another story");
    }
    bed().move_operator_from(node).expect("moved");
    let old = text(&ring.member(name).expect("member"), "/spec/hostID").to_string();
    let ask = |members: u32| {
        bed().apply(NAMESPACE, &racks(members).manifest(NAMESPACE)).expect("apply");
    };
    let writing = ring.writing(Writes::Rows).expect("writing");
    ask(1);
    wait_for("it to leave", SOON, || {
        let mode = &ring.member(name)?["status"]["server"]["mode"];
        Ok((*mode == "LEAVING").then_some(()))
    })
    .expect("it leaves");
    bed().cluster.power_off(node).expect("power off");
    let intent = ring.member(name).expect("member")["status"]["intent"]["state"].clone();
    bed().cluster.delete_node_object(node).expect("delete");
    ring.loses_a_volume();
    // A leave that was done a moment before the power went needs nobody's help. Two
    // of two are ready as soon as its pod is not.
    let mut removed = false;
    wait_for("two members", REPLACED_IN, || {
        removed |= ring.cluster()?["status"]["turn"]["step"] == STEP_REMOVE;
        Ok((!ring.member_names()?.iter().any(|member| member == name)).then_some(()))
    })
    .expect("out of the ring");
    let had_left = intent == "Done";
    assert!(removed != had_left, "removed by the others: {removed}; its own leave was {intent}");
    ring.wait_alike(2).expect("one ring of two, no ghost");
    ring.wait_settled().expect("settled");
    writing.stop().expect("written");
    bed().cluster.power_on(node).expect("power on");
    bed().wait_node_is_back(node).expect("back");
    ring.restart_client().expect("client");
    ring.check_data().expect("all rows");
    let writing = ring.writing(Writes::Rows).expect("writing");
    ask(2);
    ring.wait_members(3).expect("a new member joins");
    writing.stop().expect("written");
    let new = text(&ring.member(name).expect("member"), "/spec/hostID").to_string();
    assert_ne!(new, old, "it is another member");
    ring.check_data().expect("all rows");
}

pub(super) fn gone(ring: &Ring<'_>) {
    let (name, node) = ring.a_victim().expect("a victim");
    let old = text(&ring.member(&name).expect("member"), "/spec/hostID").to_string();
    let volume =
        bed().cluster.volume_of_claim(NAMESPACE, &format!("data-{name}")).expect("its volume");
    let grace = |seconds: u32| {
        let spec = json!({ "spec": { "nodeGoneGraceSeconds": seconds } });
        bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &spec).expect("patch");
    };
    grace(3600);
    let writing = ring.writing(Writes::Rows).expect("writing");
    bed().cluster.power_off(node).expect("power off");
    ring.loses_a_volume();
    wait_for("the others to see it down", SOON, || {
        Ok(ring.others_see_down(&name, &old)?.then_some(()))
    })
    .expect("down");
    // Dead is not gone: while its Node exists nobody touches it.
    assert!(ring.member(&name).expect("member")["spec"]["replace"].is_null());
    bed().cluster.delete_node_object(node).expect("delete");
    ring.wait_told("Degraded", Reason::NodeGone, &name, SOON).expect("told");
    std::thread::sleep(Duration::from_secs(5));
    let member = ring.member(&name).expect("member");
    assert!(member["spec"]["replace"].is_null(), "its Node has an hour to come back");
    // The ring runs and has lost a member, and the change holds at once.
    let ended = Instant::now();
    grace(0);
    let begun = wait_for("the replacement to begin", SOON, || {
        let turn = ring.cluster()?["status"]["turn"].clone();
        Ok((turn["step"] == STEP_REPLACE && turn["member"] == name.as_str())
            .then(|| ended.elapsed()))
    })
    .expect("begun");
    let started = wait_for("its server to start", REPLACED_IN, || {
        let member = ring.member(&name)?;
        let starting = text(&member, "/spec/start/kind") == STEP_REPLACE;
        Ok(starting.then(|| ended.elapsed()))
    })
    .expect("permitted");
    println!(
        "figure: grace time ended to turn given {} ms, to permit {} ms",
        begun.as_millis(),
        started.as_millis()
    );
    wait_replaced(ring, &name, &old);
    println!("figure: grace time ended to replaced {} s", ended.elapsed().as_secs());
    writing.stop().expect("written");
    events_tell_of_it(&name, &old);
    assert_ne!(bed().node_of(NAMESPACE, &name).expect("node"), node.name());
    let pv = bed().get("", "pv", &volume).expect("get").expect("kept");
    assert_eq!(text(&pv, "/status/phase"), "Released", "its disk is not touched");
    // The machine comes back with the old data: nobody takes notice.
    bed().cluster.power_on(node).expect("power on");
    bed().wait_node_is_back(node).expect("back");
    ring.restart_client().expect("client");
    ring.wait_alike(3).expect("one ring of three");
    ring.check_data().expect("all rows");
}

/// Whoever looks at the cluster alone learns that a member was replaced, and which.
fn events_tell_of_it(name: &str, old: &str) {
    let marked = format!("The volume of member {name} is marked for replacement");
    let permitted =
        format!("Member {name} is permitted to start as the replacement of host ID {old}");
    let joined = format!("Member {name} is now a full member of the ring with host ID");
    for told in [marked, permitted, joined] {
        wait_for(&format!("an event: {told}"), SOON, || {
            let events = bed().list(NAMESPACE, "events")?;
            let mut of_cluster =
                events.iter().filter(|e| e["involvedObject"]["kind"] == "CassandraCluster");
            Ok(of_cluster.any(|e| text(e, "/message").starts_with(&told)).then_some(()))
        })
        .expect("told");
    }
}
