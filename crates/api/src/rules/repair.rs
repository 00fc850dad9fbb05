//! Rules of repair.

use kube_core::Rule;

use super::must;

/// Bytes of one call of a repair at the least. What was stored before that was a rule may
/// have less.
pub const LEAST_SEGMENT_BYTES: u64 = 67_108_864;

/// A table's name alone says too little.
pub fn left_out_tables_have_keyspaces() -> Rule {
    must(
        "self.all(t, t.matches('^[A-Za-z0-9_]+[.][A-Za-z0-9_]+$'))",
        "name each table in `excludeTables` together with its keyspace, for example `shop.sessions`",
    )
}

/// What is due says the schedule that covers the ring.
pub fn due_has_no_selection() -> Rule {
    must(
        "self.scope != 'Due' || (!has(self.keyspaces) && !has(self.tables))",
        "a repair with `scope: Due` repairs what is due by the schedule that covers the ring: remove `keyspaces` and `tables`",
    )
}

/// Each call of a server costs it a round of Merkle trees, and the agent a note on disk:
/// of tiny ones a table of some size needs more than come to an end in time.
pub fn segments_are_not_tiny() -> Rule {
    must(
        "self >= 67108864",
        "`segmentBytes` must be at least 67108864 (64 MiB): a repair in smaller segments takes more calls of a server than come to an end in time",
    )
}

/// What is repaired in one call has no pauses.
pub fn what_is_due_has_a_pace() -> Rule {
    must(
        "self.scope == 'Due' || !has(self.intensityPercent)",
        "`intensityPercent` applies to `scope: Due` only: a repair of everything has no segments to pause between",
    )
}

/// Only what is due is repaired in segments.
pub fn segments_are_of_what_is_due() -> Rule {
    must(
        "self.scope == 'Due' || !has(self.segmentBytes)",
        "`segmentBytes` applies to `scope: Due` only",
    )
}

/// Replicas of what is due are known.
pub fn members_repair_beside_others_what_is_due() -> Rule {
    must(
        "self.scope == 'Due' || !has(self.parallel)",
        "`parallel` applies to `scope: Due` only: a repair of everything goes through one member after the other",
    )
}
