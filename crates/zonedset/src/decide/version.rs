//! The number of the newest version: the first is 1, each update adds 1
//! (QuarksStatefulSet, "Extended Upgrade Support").

use crate::build::set::{self, Config};
use crate::facts::Facts;
use crate::validate::Valid;

/// The version that sets are to have now.
///
/// If every set of the newest version was made from what is wanted now, it is
/// still the newest: an update that was interrupted goes on under its number.
pub fn newest(facts: &Facts<'_>, valid: &Valid, config: &Config) -> i64 {
    let highest = facts.sets.values().map(|s| s.version).max();
    let Some(highest) = highest else {
        return facts.status.version.max(1);
    };
    let is_current = facts.sets.values().filter(|s| s.version == highest).all(|s| {
        valid.zones.get(s.zone_index).is_none_or(|zone| s.hash == set::hash(valid, zone, config))
    });
    if is_current { highest } else { highest + 1 }
}
