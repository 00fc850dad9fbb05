//! What is made of a manifest, and what it answers.

use std::collections::BTreeSet;

use palladion_e2e::bed::{OPERATOR_USER, text};
use palladion_e2e::{Ring, a_ring, bed, wait_for};
use palladion_testbed::audit::{AuditEntry, AuditMark};
use serde_json::Value;

use super::{NAMESPACE, SOON};

pub(super) fn answers_at_quorum(ring: &Ring<'_>) {
    ring.check_data().expect("all rows should be there");
    // The shell that the demo tells people to try.
    let question = "SELECT cluster_name FROM system.local";
    let said =
        ring.in_client(&["cqlsh", "ring-client", "-e", question]).expect("an answer by cqlsh");
    assert!(said.contains("(1 rows)"), "{said}");
    let members = ring.members().expect("members");
    assert_eq!(members.len(), 3);
    for member in &members {
        assert_eq!(text(member, "/status/server/mode"), "NORMAL");
        assert_eq!(member["status"]["ring"]["members"], 3, "{}", member["status"]["ring"]);
        assert_eq!(text(member, "/status/hostID"), text(member, "/spec/hostID"));
        assert_eq!(text(member, "/status/address"), text(member, "/spec/address"));
    }
    is_well_by_every_check(ring);
}

/// Each agent has found its server healthy, and the ring is well by every check.
fn is_well_by_every_check(ring: &Ring<'_>) {
    ring.wait_well().expect("well");
    for member in ring.members().expect("members") {
        let newest = &member["status"]["health"][0];
        assert_eq!(newest["result"], "Healthy", "{newest}");
        assert_eq!((&newest["mode"], &newest["gossip"]), (&"NORMAL".into(), &true.into()));
        assert!(newest["until"].is_null(), "it holds: {newest}");
    }
    let status = ring.cluster().expect("the cluster")["status"].clone();
    let checks = status["health"]["checks"].as_array().cloned().unwrap_or_default();
    assert_eq!(checks.len(), 10);
    assert!(checks.iter().all(|c| c["result"] == "Pass"), "{checks:?}");
    assert_eq!(status["contactPoints"].as_array().map(Vec::len), Some(3), "{status}");
}

pub(super) fn sets_services_and_labels(ring: &Ring<'_>) {
    for (rack, replicas) in [("a", 2), ("b", 1)] {
        let set = bed()
            .get(NAMESPACE, "statefulset", &format!("ring-dc1-{rack}"))
            .expect("get")
            .expect("the set exists");
        assert_eq!(set["spec"]["replicas"], replicas);
        assert_eq!(set["spec"]["serviceName"], "ring-client");
        assert_eq!(text(&set, "/spec/persistentVolumeClaimRetentionPolicy/whenScaled"), "Retain");
    }
    let members = ring.member_names().expect("names");
    let nodes = members.iter().map(|m| bed().node_of(NAMESPACE, m).expect("its node"));
    let nodes: BTreeSet<String> = nodes.collect();
    assert_eq!(nodes.len(), members.len(), "each member has a node of its own: {nodes:?}");
    let client = bed()
        .get(NAMESPACE, "service", "ring-client")
        .expect("get")
        .expect("the client Service exists");
    assert_eq!(client["spec"]["clusterIP"], "None");
    for member in ring.member_names().expect("names") {
        let service = bed()
            .get(NAMESPACE, "service", &member)
            .expect("get")
            .expect("each member has a Service");
        assert_eq!(service["spec"]["publishNotReadyAddresses"], true);
        assert!(
            service["metadata"]["labels"]["palladion.dev/seed"].is_string(),
            "ordinals 0 and 1 are seeds"
        );
        let ports: Vec<i64> = service["spec"]["ports"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|p| p["port"].as_i64())
            .collect();
        assert_eq!(ports, [7000, 7001, 7199, 9042, 9160, 9142]);
    }
}

/// What the operator creates for a ring, besides members.
const KINDS: [&str; 6] = [
    "configmaps",
    "poddisruptionbudgets",
    "rolebindings",
    "serviceaccounts",
    "services",
    "statefulsets",
];

/// What people are told while a ring is made: that it serves, and little else.
const EVENTS: usize = 3;

/// None was looked for first, and none belongs to anything but an apply: a field
/// that an update owns as well would not go when an apply no longer names it.
pub(super) fn by_one_request(ring: &Ring<'_>) {
    let entries = bed().cluster.audit_entries(AuditMark::BEGINNING, OPERATOR_USER);
    let mut entries = entries.expect("the audit log");
    let told = |e: &&AuditEntry| e.namespace == NAMESPACE && e.resource == "events";
    let told = entries.iter().filter(told).count();
    assert!(told <= EVENTS, "{told} events to make a ring");
    entries.retain(|e| e.namespace == NAMESPACE && KINDS.contains(&e.resource.as_str()));
    let created = entries.iter().filter(|e| e.verb == "patch" && e.code == 201).count();
    assert!(created >= 9, "only {created} objects were created by an apply");
    let in_vain: Vec<_> = entries.iter().filter(|e| matches!(e.code, 404 | 409)).collect();
    assert!(in_vain.is_empty(), "asked for in vain: {in_vain:#?}");
    let words = format!("get services -n {} -o json --show-managed-fields", ring.namespace);
    let services = bed().kubectl(&words).expect("services");
    let services: Value = serde_json::from_str(&services).expect("JSON");
    for service in services["items"].as_array().into_iter().flatten() {
        let managers = service["metadata"]["managedFields"].as_array();
        let mut ours = managers.into_iter().flatten().filter(|m| m["manager"] == "palladion");
        assert!(ours.all(|m| m["operation"] == "Apply"), "{}", service["metadata"]);
    }
}

pub(super) fn system_keyspaces(ring: &Ring<'_>) {
    are_kept_in(ring, 3);
}

/// The operator has recorded so many copies of the system keyspaces, and the servers keep them.
fn are_kept_in(ring: &Ring<'_>, copies: u32) {
    wait_for("replication of the system keyspaces on record", SOON, || {
        Ok((ring.cluster()?["status"]["systemReplication"] == copies).then_some(()))
    })
    .unwrap_or_else(|why| panic!("{copies} copies: {why:#}"));
    for keyspace in ["system_auth", "system_distributed", "system_traces"] {
        let asked = format!(
            "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '{keyspace}'"
        );
        let said = ring.cql(&[&asked]).expect("an answer");
        assert!(
            said[0].contains("NetworkTopologyStrategy")
                && (said[0].contains(&format!("'dc1', '{copies}'"))
                    || said[0].contains(&format!("'dc1': '{copies}'"))),
            "{keyspace}: {said:?}"
        );
    }
}

/// They follow the number of members, up and down, as far as three.
pub(super) fn system_keyspaces_follow(ring: &Ring<'_>) {
    for a in [2, 1, 2, 1] {
        let wanted = a_ring().racks(&[("a", a), ("b", 1)]);
        bed().apply(NAMESPACE, &wanted.manifest(NAMESPACE)).expect("apply");
        ring.wait_members(a + 1).expect("as many as wanted");
        are_kept_in(ring, a + 1);
    }
}
