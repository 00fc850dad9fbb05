//! A ring that is hurt: Nodes that go for good or for a while, volumes that
//! are not in their place, people who ask for a replacement or delete what
//! they should not. One small ring, walked through in the order of the names.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::Result;
use palladion_e2e::machines::sees_down;
use palladion_e2e::{Bed, Ring, ring, wait_for};
use serde_json::{Value, json};

const NAMESPACE: &str = "heal";
const SOON: Duration = Duration::from_secs(180);
/// A replacement sleeps for 60 s, by Cassandra's own rule, besides streaming.
const REPLACED_IN: Duration = Duration::from_secs(600);

fn bed() -> &'static Bed {
    static BED: OnceLock<Bed> = OnceLock::new();
    BED.get_or_init(Bed::attach)
}

/// Two racks, three members, a Node is given up at once.
fn the_ring() -> &'static Ring<'static> {
    static RING: OnceLock<Ring<'static>> = OnceLock::new();
    RING.get_or_init(|| {
        let ring =
            Ring::create(bed(), NAMESPACE, &[("a", 2), ("b", 1)]).expect("the ring should form");
        bed()
            .patch(
                NAMESPACE,
                "cassandracluster",
                NAMESPACE,
                &json!({ "spec": { "nodeGoneGraceSeconds": 0 } }),
            )
            .expect("patch");
        ring.write_data(2).expect("data should be written");
        ring.wait_settled().expect("the ring should settle");
        ring
    })
}

/// Long variants are for `cargo xtask soak`.
fn is_soak() -> bool {
    std::env::var_os("PALLADION_SOAK").is_some()
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Events of the ring that say this.
fn told(reason: &str) -> Result<Vec<String>> {
    let events = bed().list(NAMESPACE, "events.events.k8s.io")?;
    Ok(events
        .iter()
        .filter(|e| e["reason"] == reason)
        .map(|e| text(e, "/note").to_string())
        .collect())
}

fn wait_replaced(ring: &Ring<'_>, name: &str, old: &str) {
    wait_for("another host ID in its place", REPLACED_IN, || {
        let member = ring.member(name)?;
        let new = text(&member, "/spec/hostID");
        let done = !new.is_empty() && new != old && member["spec"]["replace"].is_null();
        Ok(done.then_some(()))
    })
    .expect("replaced");
    ring.wait_ready(3).expect("all ready");
    ring.wait_alike(3).expect("one ring of three, no ghost");
    ring.wait_settled().expect("settled");
}

#[test]
fn t01_a_node_that_is_unreachable_causes_nothing() {
    let ring = the_ring();
    let (name, node) = ring.a_victim().expect("a victim");
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("pod uids");
    bed().cluster.freeze_node(node).expect("freeze");
    // Node not ready after 40 s; five minutes in the soak.
    std::thread::sleep(Duration::from_secs(if is_soak() { 330 } else { 75 }));
    let member = ring.member(&name).expect("the member");
    assert!(member["spec"]["replace"].is_null(), "{}", member["spec"]);
    assert!(ring.cluster().expect("cluster")["status"]["turn"].is_null());
    bed().cluster.thaw_node(node).expect("thaw");
    ring.wait_ready(3).expect("all ready");
    ring.wait_alike(3).expect("one ring");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    if !is_soak() {
        assert_eq!(ring.pod_uids().expect("pod uids"), uids);
    }
    ring.check_data().expect("all rows");
}

#[test]
fn t02_a_living_member_is_not_replaced_by_label() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let name = ring.member_names().expect("names")[0].clone();
    for kind in ["cassandramember", "service"] {
        bed()
            .kubectl(&format!("label {kind} {name} -n {NAMESPACE} palladion.dev/replace="))
            .expect("label");
        wait_for("the label to be taken off", SOON, || {
            let object = bed().get(NAMESPACE, kind, &name)?.unwrap_or_default();
            let label = &object["metadata"]["labels"]["palladion.dev/replace"];
            Ok(label.is_null().then_some(()))
        })
        .expect("consumed");
    }
    let words = wait_for("the refusal to be told", SOON, || {
        let told = told("ReplaceRefused")?;
        Ok(told.into_iter().find(|t| t.contains("up and normal")))
    })
    .expect("told");
    assert!(words.contains(&name), "{words}");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert!(ring.member(&name).expect("member")["spec"]["replace"].is_null());
}

#[test]
fn t02b_a_member_whose_machine_is_lost_while_it_leaves_is_removed_by_the_others() {
    let ring = the_ring();
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
        let manifest = ring::manifest(NAMESPACE, &[("a", members), ("b", 1)]);
        bed().apply(NAMESPACE, &manifest).expect("apply");
    };
    ask(1);
    wait_for("it to leave", SOON, || {
        let mode = &ring.member(name)?["status"]["server"]["mode"];
        Ok((*mode == "LEAVING").then_some(()))
    })
    .expect("it leaves");
    bed().cluster.power_off(node).expect("power off");
    bed().cluster.delete_node_object(node).expect("delete");
    // A leave that was done a moment before the power went needs nobody's help.
    let mut removed = false;
    wait_for("two members", REPLACED_IN, || {
        let cluster = ring.cluster()?;
        removed |= cluster["status"]["turn"]["step"] == "Remove";
        Ok((cluster["status"]["members"] == "2/2").then_some(()))
    })
    .expect("out of the ring");
    println!("removed by the others: {removed}");
    ring.wait_alike(2).expect("one ring of two, no ghost");
    ring.wait_settled().expect("settled");
    bed().cluster.power_on(node).expect("power on");
    bed().wait_node_is_back(node).expect("back");
    ring.restart_client().expect("client");
    ring.check_data().expect("all rows");
    ask(2);
    ring.wait_members(3).expect("a new member joins");
    let new = text(&ring.member(name).expect("member"), "/spec/hostID").to_string();
    assert_ne!(new, old, "it is another member");
    ring.check_data().expect("all rows");
}

#[test]
fn t03_a_member_whose_node_is_gone_is_replaced_on_another() {
    let ring = the_ring();
    let (name, node) = ring.a_victim().expect("a victim");
    let old = text(&ring.member(&name).expect("member"), "/spec/hostID").to_string();
    let volume =
        bed().cluster.volume_of_claim(NAMESPACE, &format!("data-{name}")).expect("its volume");
    bed().cluster.power_off(node).expect("power off");
    wait_for("the others to see it down", SOON, || {
        Ok(ring.others_see_down(&name, &old)?.then_some(()))
    })
    .expect("down");
    // Dead is not gone: while its Node exists nobody touches it.
    assert!(ring.member(&name).expect("member")["spec"]["replace"].is_null());
    let deleted = Instant::now();
    bed().cluster.delete_node_object(node).expect("delete");
    let begun = wait_for("the replacement to begin", SOON, || {
        let turn = ring.cluster()?["status"]["turn"].clone();
        Ok((turn["step"] == "Replace" && turn["member"] == name.as_str())
            .then(|| deleted.elapsed()))
    })
    .expect("begun");
    let started = wait_for("its server to start", REPLACED_IN, || {
        let member = ring.member(&name)?;
        let starting = text(&member, "/spec/start/kind") == "Replace";
        Ok(starting.then(|| deleted.elapsed()))
    })
    .expect("permitted");
    println!(
        "figure: Node deleted to turn given {} ms, to permit {} ms",
        begun.as_millis(),
        started.as_millis()
    );
    wait_replaced(ring, &name, &old);
    println!("figure: Node deleted to replaced {} s", deleted.elapsed().as_secs());
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

#[test]
fn t04_an_unmounted_volume_is_told_and_replaced_only_on_request() {
    let ring = the_ring();
    let name = ring.member_names().expect("names")[1].clone();
    let old = text(&ring.member(&name).expect("member"), "/spec/hostID").to_string();
    let claim = format!("data-{name}");
    let volume = bed().cluster.volume_of_claim(NAMESPACE, &claim).expect("its volume");
    bed().cluster.hide_volume(&volume).expect("hide");
    bed().kubectl(&format!("delete pod {name} -n {NAMESPACE} --wait=true")).expect("delete");
    ring.wait_told("Degraded", "VolumeNotMounted", &name, SOON).expect("told");
    wait_for("the others to see it down", SOON, || {
        Ok(ring.others_see_down(&name, &old)?.then_some(()))
    })
    .expect("down");
    let claim_uid = |claim: &str| {
        let claim = bed().get(NAMESPACE, "pvc", claim).expect("get");
        text(&claim.unwrap_or_default(), "/metadata/uid").to_string()
    };
    let before = claim_uid(&claim);
    assert!(ring.member(&name).expect("member")["spec"]["replace"].is_null());
    bed()
        .kubectl(&format!("label service {name} -n {NAMESPACE} palladion.dev/replace="))
        .expect("label");
    wait_replaced(ring, &name, &old);
    assert_ne!(claim_uid(&claim), before, "on another claim");
    bed().cluster.unhide_volume(&volume).expect("unhide");
    ring.check_data().expect("all rows");
}

/// Make a task that replaces a member; with its volume named, if one is given.
fn ask_to_replace(task: &str, member: &str, volume_id: Option<&str>) {
    let mut replace = json!({ "member": member });
    if let Some(volume_id) = volume_id {
        replace["volumeID"] = json!(volume_id);
    }
    let manifest = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": task },
        "spec": { "cluster": NAMESPACE, "replace": replace },
    });
    bed().apply(NAMESPACE, &manifest.to_string()).expect("the task is accepted");
}

/// Wait until a task is in this phase, and return what its condition says.
fn wait_task(task: &str, phase: &str, patience: Duration) -> String {
    wait_for(&format!("the task {task} to be {phase}"), patience, || {
        let task = bed().get(NAMESPACE, "cassandratask", task)?;
        let status = &task.unwrap_or_default()["status"];
        let message = text(status, "/conditions/0/message").to_string();
        Ok((status["phase"] == phase).then_some(message))
    })
    .expect("the task should come to that")
}

#[test]
fn t04b_a_task_that_cannot_be_done_is_refused_with_the_reason() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let name = ring.member_names().expect("names")[0].clone();
    for (task, member, volume, why) in [
        ("alive", name.as_str(), None, "it is up and normal"),
        ("nobody", "heal-dc1-c-0", None, "its members are heal-dc1-a-0"),
        ("volume", name.as_str(), Some("another"), "not on another"),
    ] {
        ask_to_replace(task, member, volume);
        let words = wait_task(task, "Refused", SOON);
        assert!(words.contains(why), "{task}: {words}");
    }
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
}

/// Two of three volumes are lost: a majority can never speak again.
#[test]
fn t04c_the_last_member_speaks_for_the_ring_where_tasks_name_the_volumes() {
    let ring = the_ring();
    let keyspace =
        "ALTER KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}";
    ring.cql(&[keyspace]).expect("three copies");
    ring.write_data(3).expect("rows on every member");
    let names = ring.member_names().expect("names");
    let lost: Vec<(String, String, String)> = names[1..]
        .iter()
        .map(|name| {
            let spec = ring.member(name).expect("member")["spec"].clone();
            let id = |field: &str| spec[field].as_str().unwrap_or_default().to_string();
            (name.clone(), id("hostID"), id("volumeID"))
        })
        .collect();
    let volumes: Vec<String> = lost
        .iter()
        .map(|(name, ..)| {
            let claim = format!("data-{name}");
            bed().cluster.volume_of_claim(NAMESPACE, &claim)
        })
        .collect::<Result<_>>()
        .expect("their volumes");
    for volume in &volumes {
        bed().cluster.hide_volume(volume).expect("hide");
    }
    for (name, ..) in &lost {
        bed().kubectl(&format!("delete pod {name} -n {NAMESPACE} --wait=true")).expect("delete");
    }
    wait_for("the last one to see them down", SOON, || {
        let last = ring.member(&names[0])?;
        let all_down = lost.iter().all(|(_, id, _)| sees_down(&last, id));
        Ok(all_down.then_some(()))
    })
    .expect("down");
    // Without the volume named a task waits for a majority; it can be taken back.
    ask_to_replace("no-volume", &lost[0].0, None);
    wait_task("no-volume", "Running", SOON);
    std::thread::sleep(Duration::from_secs(10));
    assert!(ring.cluster().expect("cluster")["status"]["turn"].is_null());
    bed()
        .patch(NAMESPACE, "cassandratask", "no-volume", &json!({ "spec": { "abort": true } }))
        .expect("abort");
    wait_task("no-volume", "Aborted", SOON);
    assert!(ring.member(&lost[0].0).expect("member")["spec"]["replace"].is_null());
    for (name, _, volume) in &lost {
        ask_to_replace(&format!("replace-{name}"), name, Some(volume));
    }
    for (name, id, _) in &lost {
        wait_task(&format!("replace-{name}"), "Done", REPLACED_IN);
        let new = ring.member(name).expect("member")["spec"]["hostID"].clone();
        assert_ne!(new, id.as_str(), "{name} is another member");
    }
    ring.wait_ready(3).expect("all ready");
    ring.wait_alike(3).expect("one ring of three, no ghost");
    ring.wait_settled().expect("settled");
    ring.check_data().expect("all rows");
    for volume in &volumes {
        bed().cluster.unhide_volume(volume).expect("unhide");
    }
}

#[test]
fn t05_deleting_all_members_and_claims_by_hand_loses_nothing() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("pod uids");
    let refused = bed().kubectl(&format!("delete cassandramember --all -n {NAMESPACE}"));
    let words = format!("{:#}", refused.expect_err("members are the operator's"));
    assert!(words.contains("denied"), "{words}");
    bed()
        .kubectl(&format!("delete pvc --all -n {NAMESPACE} --wait=false"))
        .expect("claims are a person's to delete");
    ring.wait_reason("Degraded", "ClaimTerminating", SOON).expect("told");
    // Nothing that the operator does ends a pod, which is all that keeps the data.
    bed()
        .patch(
            NAMESPACE,
            "cassandracluster",
            NAMESPACE,
            &json!({ "spec": { "config": { "concurrent_reads": 8 } } }),
        )
        .expect("patch");
    std::thread::sleep(Duration::from_secs(20));
    assert_eq!(ring.pod_uids().expect("pod uids"), uids);
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.check_data().expect("all rows");
}

#[test]
fn t99_the_namespace_goes() {
    bed().remove_namespace(NAMESPACE).expect("clean up");
}
