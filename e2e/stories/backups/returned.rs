//! A whole ring comes back beside the one that was backed up: with the same tokens, every row,
//! and no client before all of it is there.

use anyhow::Result;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::Value;
use std::collections::BTreeSet;

use super::restored::{BACKUP, backed_up};
use super::{NAMESPACE, SOON, every, whole_ring, with_place};

const RETURNED: &str = "returned";

fn now() -> Result<Value> {
    Ok(bed().get(RETURNED, "cassandrarestore", "back")?.unwrap_or_default())
}

/// The phases of a restore that does not fail, in their order; before the first it has none.
const PHASES: [&str; 11] = [
    "",
    "Pending",
    "Starting",
    "Comparing",
    "Creating",
    "Loading",
    "Finishing",
    "LoadingRoles",
    "Opening",
    "Repairing",
    "Complete",
];

/// What the members of a ring say of their tokens: a hash each.
fn tokens(ring: &Ring<'_>) -> BTreeSet<String> {
    let of = |member: &Value| text(member, "/status/server/tokensHash").to_string();
    let all: BTreeSet<String> = ring.members().expect("the members").iter().map(of).collect();
    assert!(all.len() == 3 && !all.contains(""), "each has its own: {all:?}");
    all
}

/// The members whose address for clients answers on the port for clients.
fn answering(ring: &Ring<'_>) -> Vec<String> {
    let addresses: Vec<String> = ring
        .members()
        .expect("the members")
        .iter()
        .map(|member| text(member, "/spec/address").to_string())
        .filter(|address| !address.is_empty())
        .collect();
    if addresses.is_empty() {
        return Vec::new();
    }
    let mut command = vec!["python3", "-c", CONNECT];
    command.extend(addresses.iter().map(String::as_str));
    let said = ring.in_client(&command).expect("the client runs");
    said.lines().filter(|line| !line.is_empty()).map(str::to_string).collect()
}

/// Says which of these addresses accept a connection.
const CONNECT: &str = r"
import socket, sys
for address in sys.argv[1:]:
    try:
        socket.create_connection((address, 9042), timeout=1).close()
        print(address)
    except OSError:
        pass
";

pub fn beside_itself() {
    let there = backed_up();
    let backup = bed().get(NAMESPACE, "cassandrabackup", BACKUP).expect("get").expect("it");
    let ring = Ring::with_client(bed(), RETURNED).expect("a client");
    bed().apply(RETURNED, &with_place(RETURNED, "demo", "restore: back")).expect("apply");
    // Nobody starts before the restore is there.
    ring.wait_reason("Progressing", Reason::WaitingForRestore, SOON).expect("it waits");
    assert!(ring.host_ids().expect("IDs").iter().all(|(_, id)| id.is_empty()));
    bed()
        .apply(RETURNED, &whole_ring(RETURNED, "demo", &backup, ""))
        .expect("the restore is accepted");
    let mut seen: Vec<String> = Vec::new();
    let mut last = Value::Null;
    wait_for("the restore to end", SOON * 2, || {
        let open = answering(&ring);
        last = now()?;
        let phase = text(&last, "/status/phase").to_string();
        let is_open = ["Opening", "Repairing", "Complete"].contains(&phase.as_str());
        assert!(is_open || open.is_empty(), "{open:?} take clients in phase {phase}");
        if seen.last() != Some(&phase) {
            seen.push(phase);
        }
        Ok(last["status"]["endedAt"].is_string().then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(text(&last, "/status/phase"), "Complete", "{}", last["status"]);
    assert_eq!(condition(&last, "Complete")["reason"], Reason::RestoreComplete.as_str());
    // A phase of a few seconds may fall between two looks; what is seen comes in this order.
    let at = |phase: &String| {
        PHASES.iter().position(|one| one == phase).unwrap_or_else(|| panic!("{phase}: {seen:?}"))
    };
    assert!(seen.iter().map(at).is_sorted(), "{seen:?}");
    assert!(seen.iter().any(|one| one == "Starting"), "{seen:?}");
    // What was loaded, and by whom, stays on record.
    let shares = last["status"]["shares"].as_array().cloned().unwrap_or_default();
    let by: BTreeSet<&str> = shares
        .iter()
        .filter(|share| share["loaded"] == true)
        .map(|share| text(share, "/member/name"))
        .collect();
    assert_eq!((shares.len(), by.len()), (3, 3), "each member loads its own: {shares:?}");
    assert!(last["status"]["totals"]["sstables"].as_u64() > Some(0), "{}", last["status"]);
    ring.wait_ready(3).expect("all are ready");
    ring.wait_settled().expect("settled");
    // Each row, on each replica: a read at ALL compares them.
    assert_eq!(every::rows(&ring, every::KEYSPACE), every::rows(&there, every::KEYSPACE));
    for table in ["rows", "registers"] {
        let all = format!("SELECT * FROM {}.{table}", super::taken::TABLES);
        let sorted = |ring: &Ring<'_>| {
            let mut rows = ring.cql(&[&all]).expect("rows");
            rows.sort();
            rows
        };
        let rows = sorted(&there);
        assert!(!rows.is_empty());
        assert_eq!(sorted(&ring), rows, "{table}");
    }
    assert_eq!(tokens(&ring), tokens(&there), "the tokens are those of the backup");
    let ids = |ring: &Ring<'_>| -> BTreeSet<String> {
        ring.host_ids().expect("IDs").into_iter().map(|(_, id)| id).collect()
    };
    assert!(ids(&ring).is_disjoint(&ids(&there)), "and the members are others");
    // It is a ring like any other: counts go on, and nothing is left of the restore.
    let more = format!("UPDATE {}.visits SET times = times + 1 WHERE page = 'p'", every::KEYSPACE);
    let read = format!("SELECT times FROM {}.visits", every::KEYSPACE);
    assert_eq!(ring.cql(&[&more, &read]).expect("a number"), ["43"]);
    assert!(ring.cluster().expect("it")["status"]["restore"].is_null());
    bed().remove_namespace(RETURNED).expect("removed");
}
