//! Nothing is asked and nothing is written while nothing happens.

use std::collections::BTreeSet;
use std::time::Duration;

use palladion_e2e::bed::{OPERATOR_USER, wait_for};
use palladion_e2e::{Ring, audits, bed};
use serde_json::Value;

use super::NAMESPACE;

pub(super) fn nothing_is_asked(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    ring.wait_well().expect("well");
    // A table that was made a moment ago is seen at the next look at the schema, within a minute.
    wait_for(
        "each member knows for how long tables keep tombstones",
        Duration::from_secs(120),
        || {
            let members = ring.members()?;
            let know = |m: &Value| m["status"]["volume"]["gcGraceSeconds"].is_u64();
            Ok(members.iter().all(know).then_some(()))
        },
    )
    .expect("the schema is seen");
    // What the last change still causes has come to its end: a list of waits is written ten
    // seconds after the write before it.
    std::thread::sleep(Duration::from_secs(12));
    let before = statuses(ring);
    let mark = bed().cluster.audit_mark().expect("a mark");
    std::thread::sleep(Duration::from_secs(60));
    let entries = bed().cluster.audit_entries(mark, OPERATOR_USER).expect("the audit log");
    let requests: Vec<String> = entries
        .iter()
        .filter(|e| e.resource != "leases" && e.verb != "watch")
        .map(|e| format!("{} {} {}", e.verb, e.resource, e.name))
        .collect();
    assert!(requests.is_empty(), "the operator asked for {requests:?} at rest");
    assert!(!entries.is_empty(), "the lease at least was renewed, or the log is not being read");
    let agents = format!("system:serviceaccount:{NAMESPACE}:ring-member");
    // They have asked for something before, so their requests are in the log.
    audits::asked(std::slice::from_ref(bed()), &agents, |_| true).expect("requests of agents");
    let members = bed().cluster.audit_entries(mark, &agents).expect("the audit log");
    let writes: Vec<String> = members
        .iter()
        .filter(|e| e.verb != "watch")
        .map(|e| format!("{} {} {}", e.verb, e.resource, e.name))
        .collect();
    let after = statuses(ring);
    let changed = changed(&before, &after);
    assert!(
        writes.is_empty(),
        "the agents asked for {writes:?} at rest, which changed {changed:?}"
    );
}

/// What the members say, a line for each value.
fn statuses(ring: &Ring<'_>) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for member in ring.members().expect("the members") {
        let name = member["metadata"]["name"].as_str().expect("a name");
        flat(name, &member["status"], &mut lines);
    }
    lines
}

fn flat(path: &str, value: &Value, lines: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| flat(&format!("{path}/{k}"), v, lines)),
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(n, v)| flat(&format!("{path}/{n}"), v, lines));
        }
        one => drop(lines.insert(format!("{path}: {one}"))),
    }
}

fn changed<'a>(before: &'a BTreeSet<String>, after: &'a BTreeSet<String>) -> Vec<&'a String> {
    before.symmetric_difference(after).collect()
}
