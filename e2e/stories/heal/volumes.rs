//! Volumes that are not in their place, and claims that somebody deletes.

use std::time::Duration;

use anyhow::Result;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::machines::sees_down;
use palladion_e2e::{Ring, Writes, bed, wait_for};
use serde_json::json;

use super::requests::{ask_to_replace, wait_task};
use super::{NAMESPACE, REPLACED_IN, SOON, wait_replaced};

pub(super) fn unmounted(ring: &Ring<'_>) {
    let name = ring.member_names().expect("names")[1].clone();
    let old = text(&ring.member(&name).expect("member"), "/spec/hostID").to_string();
    let claim = format!("data-{name}");
    let volume = bed().cluster.volume_of_claim(NAMESPACE, &claim).expect("its volume");
    let writing = ring.writing(Writes::Rows).expect("writing");
    bed().cluster.hide_volume(&volume).expect("hide");
    bed().kubectl(&format!("delete pod {name} -n {NAMESPACE} --wait=true")).expect("delete");
    ring.loses_a_volume();
    ring.wait_told("Degraded", Reason::VolumeNotMounted, &name, SOON).expect("told");
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
    writing.stop().expect("written");
    bed().cluster.unhide_volume(&volume).expect("unhide");
    ring.check_data().expect("all rows");
}

/// Take the volumes of these members away, and then their pods; the volumes.
fn without_volumes<'a>(members: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let volumes: Vec<String> = members
        .clone()
        .map(|name| bed().cluster.volume_of_claim(NAMESPACE, &format!("data-{name}")))
        .collect::<Result<_>>()
        .expect("their volumes");
    for volume in &volumes {
        bed().cluster.hide_volume(volume).expect("hide");
    }
    for name in members {
        bed().kubectl(&format!("delete pod {name} -n {NAMESPACE} --wait=true")).expect("delete");
    }
    volumes
}

/// Two of three volumes are lost: a majority can never speak again.
pub(super) fn two_of_three_lost(ring: &Ring<'_>) {
    let keyspace =
        "ALTER KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}";
    ring.cql(&[keyspace]).expect("three copies");
    let names = ring.member_names().expect("names");
    // Every member has a copy of every row, when this one has repaired them all.
    let repair = ["nodetool", "repair", "--full", KEYSPACE];
    bed().exec(NAMESPACE, &names[0], &repair).expect("repaired");
    ring.check_data().expect("all rows on every member");
    let lost: Vec<(String, String, String)> = names[1..]
        .iter()
        .map(|name| {
            let spec = ring.member(name).expect("member")["spec"].clone();
            let id = |field: &str| spec[field].as_str().unwrap_or_default().to_string();
            (name.clone(), id("hostID"), id("volumeID"))
        })
        .collect();
    let volumes = without_volumes(lost.iter().map(|(name, ..)| name.as_str()));
    ring.loses_a_volume();
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

pub(super) fn claims_deleted(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("pod uids");
    let refused = bed().kubectl(&format!("delete cassandramember --all -n {NAMESPACE}"));
    let words = format!("{:#}", refused.expect_err("members are the operator's"));
    assert!(words.contains("denied"), "{words}");
    bed()
        .kubectl(&format!("delete pvc --all -n {NAMESPACE} --wait=false"))
        .expect("claims are a person's to delete");
    ring.wait_reason("Degraded", Reason::ClaimTerminating, SOON).expect("told");
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
