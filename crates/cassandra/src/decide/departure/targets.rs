//! How many members the racks of a datacenter are to have that leaves its ring: none once its
//! members may go, and until then those that it has: nobody joins in the place of one that has
//! left, and nobody leaves by a smaller number in the spec, which is a leave of another kind.

use super::stage;
use crate::decide::evidence::absence::has_left;
use crate::facts::Facts;
use crate::validate::Valid;

/// The same spec, with as many members as are to be there now.
pub fn with_targets(facts: &Facts<'_>, valid: Valid) -> Valid {
    // One whose leave was taken back opens first: who joins meanwhile would be open alone.
    let is_held = facts.leaves() || !facts.is_added() && !facts.takes_clients();
    if !is_held {
        return valid;
    }
    let mut valid = valid;
    let goes = stage::goes(facts);
    for rack in &mut valid.racks {
        // Who has left without a turn is above the target, so that it is put on record.
        let joined = facts.joined().filter(|m| m.rack == rack.name && !has_left(facts, m));
        let present = joined.map(|m| m.ordinal + 1).max().unwrap_or_default();
        rack.members = if goes { 0 } else { present };
    }
    valid
}
