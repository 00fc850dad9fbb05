//! Processes, pods and machines that end without a word, and a disk with them.

use std::process::Stdio;
use std::time::Duration;

use palladion_e2e::machines::is_ready;
use palladion_e2e::{Ring, Writes, bed, wait_for};
use palladion_testbed::faults::Victim;

use super::{NAMESPACE, SOON};

pub(super) fn agent(ring: &Ring<'_>) {
    let name = &ring.member_names().expect("names")[0];
    let pid = || {
        bed()
            .exec(
                NAMESPACE,
                name,
                &[
                    "bash",
                    "-c",
                    "for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = java ] && basename $p; done",
                ],
            )
            .map(|p| p.trim().to_string())
    };
    let before = pid().expect("the server's process");
    assert!(!before.is_empty());
    // Process 1 is the init; the agent is the other process of that program.
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    let kill = "for p in /proc/[0-9]*; do n=$(basename $p); [ $n != 1 ] && tr '\\0' ' ' < $p/cmdline | grep -q 'palladion-agen[t] agent' && kill -9 $n && echo killed; done; true";
    let said = bed().exec(NAMESPACE, name, &["bash", "-c", kill]).expect("kill");
    assert!(said.contains("killed"), "the agent was not found: {said:?}");
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(pid().expect("the server's process"), before);
    ring.wait_ready(3).expect("all ready again");
    writing.stop().expect("written");
    ring.check_data().expect("all rows");
    let looked = wait_for("the new agent to look for itself", SOON, || {
        let health = ring.member(name)?["status"]["health"].clone();
        let is_over = health[1]["until"].is_string()
            && health[1]["message"].as_str().is_some_and(|m| m.contains("was restarted"));
        let holds = health[0]["result"] == "Healthy" && health[0]["until"].is_null();
        Ok((holds && is_over).then_some(()))
    });
    looked.expect("a result of its own, and the earlier one closed");
    ring.wait_well().expect("well again");
}

pub(super) fn pid_one(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let name = &ring.member_names().expect("names")[2];
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    let killed = bed().cluster.kill(NAMESPACE, name, "cassandra", &Victim::Init).expect("kill");
    assert_eq!(killed, 1);
    wait_for("the member to notice", SOON, || {
        let member = ring.member(name)?;
        Ok((member["status"]["startHistory"].as_array().map_or(0, Vec::len) >= 2).then_some(()))
    })
    .expect("started again");
    ring.wait_ready(3).expect("all ready");
    writing.stop().expect("written");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.check_data().expect("all rows");
}

pub(super) fn pod(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let name = ring.member_names().expect("names")[1].clone();
    let before = ring.pod_uids().expect("uids");
    let log = bed().follow_log(NAMESPACE, &name, 1, Stdio::piped()).expect("its log");
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    bed().delete(NAMESPACE, "pod", &name).expect("delete");
    // It ends by itself with the container.
    let log = log.wait_with_output().expect("the log to end");
    let log = String::from_utf8_lossy(&log.stdout);
    assert!(log.contains("DRAINED"), "what was accepted is flushed before the server ends: {log}");
    wait_for("a new pod", SOON, || {
        Ok((ring.pod_uids()? != before && ring.pod_uids()?.len() == 3).then_some(()))
    })
    .expect("a new pod");
    ring.wait_ready(3).expect("all ready");
    writing.stop().expect("written");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.check_data().expect("all rows");
}

pub(super) fn everything_at_once(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    // Up to the moment at which everything ends. The machines go one after another, and hints
    // for the first would go with the others: a repair's to mend, and not what this step is about.
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    bed().scale_operator(0).expect("operator away");
    writing.kill().expect("killed");
    ring.ends_at_once();
    for node in bed().cluster.nodes() {
        bed().cluster.power_off(node).expect("power off");
    }
    for node in bed().cluster.nodes() {
        bed().cluster.power_on(node).expect("power on");
    }
    wait_for("all members to be NORMAL without an operator", Duration::from_secs(240), || {
        let members = ring.members()?;
        let pods = bed().list(NAMESPACE, "pods")?;
        let ready = pods
            .iter()
            .filter(|p| p["metadata"]["labels"]["palladion.dev/cluster"] == "ring")
            .filter(|p| is_ready(p));
        Ok((members.len() == 3 && ready.count() == 3).then_some(()))
    })
    .expect("the ring is back by itself");
    bed().scale_operator(1).expect("operator back");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.restart_client().expect("client");
    ring.check_data().expect("all rows");
}

pub(super) fn volume_emptied(ring: &Ring<'_>) {
    let before = ring.host_ids().expect("host IDs");
    let names = ring.member_names().expect("names");
    let founder = &names[0];
    let volume =
        bed().cluster.volume_of_claim(NAMESPACE, &format!("data-{founder}")).expect("its volume");
    for node in bed().cluster.nodes() {
        bed().cluster.power_off(node).expect("power off");
    }
    bed().cluster.wipe_volume(&volume).expect("wipe");
    ring.loses_a_volume();
    for node in bed().cluster.nodes() {
        bed().cluster.power_on(node).expect("power on");
    }
    // The wiped member was the founder and a seed: it must not start a ring of its own.
    wait_for("the member to be replaced", Duration::from_secs(420), || {
        let ids = ring.host_ids()?;
        let all_normal = ring.members()?.iter().all(|m| m["status"]["server"]["mode"] == "NORMAL");
        let three = ring.members()?.iter().all(|m| m["status"]["ring"]["members"] == 3);
        Ok((ids != before && all_normal && three).then_some(()))
    })
    .expect("replaced into the ring that exists");
    ring.wait_settled().expect("settled");
    let after = ring.host_ids().expect("host IDs");
    assert_eq!(after.len(), 3);
    assert_eq!(after[1..], before[1..], "the others are the same");
    ring.restart_client().expect("client");
    ring.check_data().expect("all rows");
}
