//! Rollouts of a version: a broken one, and an upgrade.

use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::fields::{HIGHEST_RELEASE_LINE, PENDING_MAINTENANCE};
use palladion_e2e::wanted::{OLDER_VERSION, VERSION};
use palladion_e2e::{Ring, Writes, bed, wait_for};
use serde_json::json;

use super::runtime::runtime_settings_come_and_go;
use super::server::well;
use super::{NAMESPACE, RESTARTS_IN, patch, times};

pub(super) fn broken(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    for round in 0..times(5) {
        let uids = ring.pod_uids().expect("uids");
        let setting = format!("no_such_setting_{round}");
        patch(&json!({ "config": { &setting: 1 } }));
        ring.wait_told("Degraded", Reason::RolloutStuck, &setting, RESTARTS_IN)
            .expect("told in the server's words");
        std::thread::sleep(Duration::from_secs(10));
        let now = ring.pod_uids().expect("uids");
        let touched = now.iter().filter(|pod| !uids.contains(pod)).count();
        assert_eq!(touched, 1, "only the canary: {uids:?} {now:?}");
        // An older broken rollout is overtaken by one that is broken otherwise.
        patch(&json!({ "config": { &setting: null }, "version": "4.1.404" }));
        ring.wait_told("Degraded", Reason::RolloutStuck, "4.1.404", RESTARTS_IN)
            .expect("told in the kubelet's words");
        let begin = Instant::now();
        patch(&json!({ "version": OLDER_VERSION }));
        well(ring, &ids);
        println!("cured by the spec in {:.1} s", begin.elapsed().as_secs_f64());
        let now = ring.pod_uids().expect("uids");
        let touched = now.iter().filter(|pod| !uids.contains(pod)).count();
        assert_eq!(touched, 1, "the others never ran another revision");
    }
}

pub(super) fn upgrade(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("uids");
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    let begin = Instant::now();
    patch(&json!({ "version": VERSION }));
    wait_for("all members to run the newer line", RESTARTS_IN, || {
        let members = ring.members()?;
        Ok(members.iter().all(|m| m["status"]["server"]["version"] == VERSION).then_some(()))
    })
    .expect("upgraded");
    println!("upgraded in {:.1} s", begin.elapsed().as_secs_f64());
    ring.wait_settled().expect("settled");
    writing.stop().expect("written");
    well(ring, &ids);
    let now = ring.pod_uids().expect("uids");
    assert!(now.iter().all(|pod| !uids.contains(pod)), "each pod is new");
    for member in ring.members().expect("members") {
        let pending = &member["spec"][PENDING_MAINTENANCE];
        assert!(pending.as_array().is_none_or(Vec::is_empty), "nothing is pending: {pending}");
    }
    assert_eq!(ring.cluster().expect("cluster")["status"][HIGHEST_RELEASE_LINE], "5.0");
    runtime_settings_come_and_go(ring);
    let error = bed()
        .patch(
            NAMESPACE,
            "cassandracluster",
            NAMESPACE,
            &json!({ "spec": { "version": OLDER_VERSION } }),
        )
        .expect_err("there is no way back");
    assert!(format!("{error:#}").contains("older release line"), "{error:#}");
}
