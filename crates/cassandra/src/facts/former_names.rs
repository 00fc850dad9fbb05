//! Fields that must not be forgotten and have a new name: a record that was
//! written under the former name is read as if it had the new one, and moved.
//! For one version; then this file goes, and the former fields with it.

use super::{Facts, MemberFact};
use palladion_api::cluster::CassandraClusterStatus;
use palladion_api::member::CassandraMemberSpec;
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

/// The merge patch of the spec that moves a member's pending maintenance to its
/// new name, if it stands under the former one.
pub fn of_member_on_record(member: &MemberFact) -> Option<Value> {
    member.object.as_ref()?.at("/spec/owes")?;
    let entries = &member.spec.as_ref()?.pending_maintenance;
    Some(json!({ "pendingMaintenance": entries, "owes": null }))
}
