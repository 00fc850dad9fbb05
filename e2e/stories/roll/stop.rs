//! A ring that is stopped, servers that are restarted, writes that pause.

use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::bed::{OPERATOR_NAMESPACE, OPERATOR_USER};
use palladion_e2e::{Ring, Writes, bed};
use serde_json::json;

use super::server::{restarted, starts, wait_answered, wait_restarted, well};
use super::{NAMESPACE, RESTARTS_IN, SOON, patch, racks_of, set_racks, times};

pub(super) fn and_start(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    for _ in 0..times(10) {
        let begin = Instant::now();
        patch(&json!({ "run": "Stopped" }));
        ring.wait_reason("Progressing", Reason::Stopped, RESTARTS_IN).expect("stopped");
        let stopped = begin.elapsed();
        assert!(ring.pod_uids().expect("pods").is_empty(), "no pods");
        let claims = bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims");
        assert_eq!(claims.len(), 3, "volumes are kept");
        let begin = Instant::now();
        patch(&json!({ "run": "Running" }));
        well(ring, &ids);
        println!(
            "stopped in {:.1} s, started with all data in {:.1} s",
            stopped.as_secs_f64(),
            begin.elapsed().as_secs_f64()
        );
    }
}

pub(super) fn a_rack_and_a_member(ring: &Ring<'_>) {
    let (ids, uids) = (ring.host_ids().expect("host IDs"), ring.pod_uids().expect("uids"));
    let before = starts(ring);
    let mut wanted = racks_of(ring);
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    wanted[1]["restartToken"] = json!("once");
    set_racks(&wanted);
    wait_restarted(ring, &before, 1);
    assert_eq!(restarted(&before, &starts(ring)), ["roll-dc1-b-0"]);
    let before = starts(ring);
    bed()
        .kubectl(&format!(
            "annotate cassandramember roll-dc1-a-1 -n {NAMESPACE} palladion.dev/restart=now"
        ))
        .expect("annotate");
    wait_restarted(ring, &before, 1);
    assert_eq!(restarted(&before, &starts(ring)), ["roll-dc1-a-1"]);
    writing.stop().expect("written");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "pods stay");
    well(ring, &ids);
}

pub(super) fn paused(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let before = starts(ring);
    let pauses = |on: bool| {
        patch(&json!({ "paused": on }));
    };
    let global = |on: bool| {
        bed()
            .apply(
                OPERATOR_NAMESPACE,
                &format!("apiVersion: palladion.dev/v1alpha1\nkind: OperatorConfig\nmetadata: {{name: default}}\nspec: {{paused: {on}}}\n"),
            )
            .expect("OperatorConfig");
    };
    let writes = |what: &str| {
        let mark = bed().cluster.audit_mark().expect("a mark");
        std::thread::sleep(Duration::from_secs(15));
        let entries = bed().cluster.audit_entries(mark, OPERATOR_USER).expect("the audit log");
        let written: Vec<String> = entries
            .iter()
            .filter(|e| !matches!(e.verb.as_str(), "get" | "list" | "watch"))
            .filter(|e| e.resource != "leases" && e.resource != "events")
            .filter(|e| e.subresource != "status")
            .map(|e| format!("{} {} {}", e.verb, e.resource, e.name))
            .collect();
        assert!(written.is_empty(), "{what}: {written:?}");
    };
    pauses(true);
    ring.wait_reason("Progressing", Reason::Paused, SOON).expect("paused");
    patch(&json!({ "config": { "concurrent_reads": 24 } }));
    writes("the object is paused");
    global(true);
    pauses(false);
    wait_answered(ring);
    writes("the operator is paused");
    assert_eq!(restarted(&before, &starts(ring)), Vec::<String>::new());
    global(false);
    wait_restarted(ring, &before, 3);
    bed()
        .kubectl("delete operatorconfig default --ignore-not-found")
        .expect("OperatorConfig deleted");
    well(ring, &ids);
}

/// Of the server itself; a shell in its container has the pod's in any case.
const ENVIRONMENT_OF_THE_SERVER: &str = "for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = java ] && tr '\\0' '\\n' < $p/environ | grep ^TEAM=; done; true";

pub(super) fn every_server_once(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let (uids, before) = (ring.pod_uids().expect("uids"), starts(ring));
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    // Both in one edit: each member is restarted once, not twice.
    patch(&json!({ "env": [{ "name": "TEAM", "value": "orders" }], "restartToken": "both" }));
    wait_restarted(ring, &before, 3);
    writing.stop().expect("written");
    well(ring, &ids);
    let now = ring.pod_uids().expect("uids");
    assert!(now.iter().all(|pod| !uids.contains(pod)), "each pod is new");
    for member in ring.members().expect("members") {
        let name = member["metadata"]["name"].as_str().unwrap_or_default();
        let one_before = &member["status"]["startHistory"][1]["startedAt"];
        assert_eq!(before[name], *one_before, "{name} was started once");
    }
    for member in ring.member_names().expect("names") {
        let said = bed().exec(NAMESPACE, &member, &["bash", "-c", ENVIRONMENT_OF_THE_SERVER]);
        assert_eq!(said.expect("the environment of the server").trim(), "TEAM=orders");
    }
    let (uids, before) = (ring.pod_uids().expect("uids"), starts(ring));
    patch(&json!({ "restartToken": "the whole ring" }));
    wait_restarted(ring, &before, 3);
    well(ring, &ids);
    assert_eq!(ring.pod_uids().expect("uids"), uids, "pods stay");
}
