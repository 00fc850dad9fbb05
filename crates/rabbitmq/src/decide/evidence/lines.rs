//! What an upgrade to another line needs: whether any node has run it yet, and the feature
//! flags that are not enabled.

use crate::facts::{Facts, Node};
use crate::validate::{Valid, line, rank};
use palladion_api::service_member::FeatureFlags;
use std::collections::BTreeSet;

/// Has no node run the line yet that the spec asks for? Its nodes start only where all
/// stable feature flags of the last one are enabled. What the first node of it knows besides
/// is enabled when all are of it.
pub fn is_new_line(facts: &Facts<'_>, valid: &Valid) -> bool {
    let wanted = line(&valid.server.version).map(rank);
    let ran = facts.status.highest_release_line.as_deref().map(rank);
    wanted.zip(ran).is_none_or(|(wanted, ran)| wanted > ran)
}

/// Stable feature flags that any node reports as not enabled.
pub fn disabled_flags(facts: &Facts<'_>) -> BTreeSet<String> {
    let flags = facts.members.values().filter_map(|m| m.view()?.flags.as_ref());
    flags.flat_map(|flags: &FeatureFlags| flags.stable_disabled.iter().cloned()).collect()
}
