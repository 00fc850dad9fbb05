//! Fields that must not be forgotten and have a new name: a record that was
//! written under the former name is read as if it had the new one, and moved.
//! For one version; then this file goes, and the former fields with it.

use super::{Facts, MemberFact};
use palladion_api::cluster::CassandraClusterStatus;
use palladion_api::member::CassandraMemberSpec;
use palladion_plan::Object;
use serde_json::{Value, json};

/// Read what stands under former names of the status; the new name wins.
pub fn read_cluster(status: &mut CassandraClusterStatus) {
    let (initialization, line) = (status.founding.take(), status.newest_line.take());
    status.initialization = status.initialization.take().or(initialization);
    status.highest_release_line = status.highest_release_line.take().or(line);
}

/// Read what stands under the former name of a member's pending maintenance.
pub fn read_member(spec: &mut CassandraMemberSpec) {
    for entry in std::mem::take(&mut spec.owes) {
        if !spec.pending_maintenance.contains(&entry) {
            spec.pending_maintenance.push(entry);
        }
    }
}

/// The merge patch that moves the record of the initialization to its new name,
/// if it stands under the former one.
pub fn of_cluster_on_record(facts: &Facts<'_>) -> Option<Value> {
    facts.snapshot.owner.at("/status/founding")?;
    Some(json!({ "initialization": facts.status.initialization, "founding": null }))
}

/// With a new list of pending maintenance goes what stands under the former name.
pub fn clear_of_member(object: &Object, spec: &mut Value) {
    if object.at("/spec/owes").is_some() && spec.get("pendingMaintenance").is_some() {
        spec["owes"] = Value::Null;
    }
}

/// The merge patch of the spec that moves a member's pending maintenance to its
/// new name, if it stands under the former one.
pub fn of_member_on_record(member: &MemberFact) -> Option<Value> {
    member.object.as_ref()?.at("/spec/owes")?;
    let entries = &member.spec.as_ref()?.pending_maintenance;
    Some(json!({ "pendingMaintenance": entries, "owes": null }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    fn status(stored: Value) -> CassandraClusterStatus {
        let mut status = CassandraClusterStatus::deserialize(stored).unwrap();
        read_cluster(&mut status);
        status
    }

    #[test]
    fn a_status_is_read_under_both_names_and_the_new_one_wins() {
        let of = |member: &str| {
            let turn = "7d9f0f3e-1c52-4a52-9a39-8a3c4a1f0b11";
            json!({ "member": member, "volumeID": turn, "nonce": turn })
        };
        let former = status(json!({ "founding": of("a-0"), "newestLine": "5.1" }));
        assert_eq!(former.initialization.unwrap().member.as_str(), "a-0");
        assert_eq!(former.highest_release_line.as_deref(), Some("5.1"));
        let both = json!({
            "founding": of("a-0"), "initialization": of("a-1"),
            "newestLine": "5.0", "highestReleaseLine": "5.1",
        });
        let both = status(both);
        assert_eq!(both.initialization.unwrap().member.as_str(), "a-1");
        assert_eq!(both.highest_release_line.as_deref(), Some("5.1"));
        assert!(both.founding.is_none() && both.newest_line.is_none());
    }

    #[test]
    fn pending_maintenance_of_both_names_is_all_there_once() {
        let entry = |reason: &str| json!({ "kind": "Repair", "reason": reason });
        let stored = json!({
            "cluster": "c", "ring": "r", "datacenter": "dc1", "rack": "a",
            "pendingMaintenance": [entry("b")], "owes": [entry("a"), entry("b")],
        });
        let mut spec = CassandraMemberSpec::deserialize(stored).unwrap();
        read_member(&mut spec);
        let reasons: Vec<&str> =
            spec.pending_maintenance.iter().map(|e| e.reason.as_str()).collect();
        assert_eq!(reasons, ["b", "a"]);
        assert!(spec.owes.is_empty());
    }

    #[test]
    fn values_that_were_renamed_are_understood() {
        use palladion_api::cluster::TurnStep;
        use palladion_api::member::{PermitKind, ReplacementCause};
        assert_eq!(PermitKind::deserialize(json!("Found")).unwrap(), PermitKind::Initialize);
        assert_eq!(TurnStep::deserialize(json!("Found")).unwrap(), TurnStep::Initialize);
        let cause = ReplacementCause::deserialize(json!("Person")).unwrap();
        assert_eq!(cause, ReplacementCause::User);
    }
}
