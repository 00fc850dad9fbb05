//! An address that a user has abandoned is abandoned once: by the member that had it. Whoever
//! has it later, by chance, needs the views of others again.

use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::readdress::Doing;
use palladion_api::ids::StaticAddress;
use palladion_api::labels;
use palladion_plan::Step;
use serde_json::{Value, json};

/// Take it off the list, once its member is back under another one. Before the turn ends, which
/// is what brings it about; should an operator die in between, its successor tries once to hold
/// the address as any other that the ring has known.
pub fn use_up(facts: &Facts<'_>, address: &StaticAddress) -> Option<Step> {
    let meta = &facts.snapshot.owner.meta;
    let list = meta.annotations.get(labels::GIVE_UP_ADDRESSES)?;
    let all = list.split(',').map(str::trim);
    let left: Vec<&str> = all.clone().filter(|given_up| *given_up != address.as_str()).collect();
    if left.len() == all.count() {
        return None;
    }
    let left = if left.is_empty() { Value::Null } else { Value::from(left.join(", ")) };
    let patch = json!({ "metadata": { "annotations": { labels::GIVE_UP_ADDRESSES: left } } });
    let doing = Doing::UsedUp { address: address.clone() };
    // Another that a user adds meanwhile stays.
    Some(Step::patch_as_seen(kinds::CLUSTER, meta, patch, doing))
}
