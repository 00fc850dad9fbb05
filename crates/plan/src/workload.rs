//! What racks and zones have in common: pure helpers over pod templates, pods,
//! claims and sets, used by every mind that makes StatefulSets. ADR 104 says
//! what is shared and what is not.

pub mod agent_pod;
pub mod claims;
pub mod config;
pub mod environment;
pub mod former;
pub mod home;
pub mod mounts;
pub mod pod;
pub mod storage_class;
pub mod upsert;
pub mod words;
pub mod zone;

palladion_api::vocabulary![words];

use palladion_api::labels::SPEC_HASH;
use serde_json::Value;

/// Write on a pod template, or on a set, what it is made from, by hash.
pub fn stamp(object: &mut Value, hash: &str) {
    object["metadata"]["annotations"][SPEC_HASH] = Value::from(hash);
}
