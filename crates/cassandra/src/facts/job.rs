//! What a member is asked to do by `spec.operation`. It names who it is for, so
//! that one which is left over does not run on another volume (safety rule 1.3).

use super::{Facts, MemberFact};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::Nonce;
use palladion_api::member::Operation;
use serde_json::{Value, json};

/// Fields that the operation before may have had and this one lacks.
const MAY_LACK: [&str; 8] = [
    "hostID",
    "volumeID",
    "keyspaces",
    "replication",
    "ranges",
    "target",
    "sourceDatacenter",
    "triedSince",
];

/// What the IDs of removals begin with.
pub const REMOVAL: &str = "remove-";

/// ID of the job by which another member removes the one that has this turn.
pub fn removal(nonce: &Nonce) -> String {
    format!("{REMOVAL}{nonce}")
}

/// The merge patch of `spec.operation` that asks this member for it now.
pub fn patch_of(facts: &Facts<'_>, member: &MemberFact, operation: &Operation) -> Value {
    let mut named = operation.clone();
    let recorded = member.spec.as_ref().and_then(|s| s.volume_id.as_ref());
    named.host_id = member.recorded_host_id().cloned();
    named.volume_id = recorded.or(member.volume().map(|v| &v.volume_id)).cloned();
    named.requested_at = Some(Time(facts.now()));
    let mut patch = json!(named);
    for absent in MAY_LACK {
        if patch.get(absent).is_none() {
            patch[absent] = Value::Null;
        }
    }
    // A merge keeps the datacenters of the operation before, and their copies would be set again.
    let before = member.spec.as_ref().and_then(|spec| spec.operation.as_ref());
    for datacenter in before.iter().flat_map(|before| before.replication.keys()) {
        if !operation.replication.is_empty() && !operation.replication.contains_key(datacenter) {
            patch["replication"][datacenter] = Value::Null;
        }
    }
    patch
}
