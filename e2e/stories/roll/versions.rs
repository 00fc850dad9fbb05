//! Rollouts of a version: a broken one, and an upgrade.

use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::bed::OPERATOR_USER;
use palladion_e2e::fields::{HIGHEST_RELEASE_LINE, PENDING_MAINTENANCE};
use palladion_e2e::wanted::{OLDER_VERSION, VERSION};
use palladion_e2e::{Ring, Writes, bed, wait_for};
use palladion_testbed::audit::AuditMark;
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

/// Budgets have a say in a rollout: the operator evicts, and deletes no pod that serves.
fn all_were_evicted(since: AuditMark, pods: usize) {
    let mut asked = bed().cluster.audit_entries(since, OPERATOR_USER).expect("the audit log");
    asked.retain(|e| e.resource == "pods" && e.namespace == NAMESPACE);
    let evictions = |code| {
        let evictions = asked.iter().filter(|e| e.verb == "create" && e.subresource == "eviction");
        evictions.filter(|e| e.code == code).count()
    };
    assert_eq!(evictions(201), pods, "{asked:?}");
    assert!(asked.iter().all(|e| e.verb != "delete"), "{asked:?}");
    println!("{pods} pods were evicted; the budget said no {} times before", evictions(429));
}

pub(super) fn upgrade(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("uids");
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    let begin = Instant::now();
    let mark = bed().cluster.audit_mark().expect("a mark");
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
    all_were_evicted(mark, now.len());
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
