//! The choices that bodies of tasks have, each between two ways.

use crate::word::Word;
use serde::{Deserialize, Serialize};

/// The two ways of something, and what a newer Palladion says of it.
macro_rules! either {
    ($(#[$doc:meta])* $name:ident { $(#[$first:meta])* $a:ident, $(#[$second:meta])* $b:ident }) => {
        $(#[$doc])*
        #[derive(
            Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
        )]
        pub enum $name {
            $(#[$first])*
            #[default]
            $a,
            $(#[$second])*
            $b,
            /// What a newer Palladion says and this build does not know.
            #[serde(untagged)]
            #[schemars(skip, !untagged)]
            Unknown(Word),
        }

        impl $name {
            /// The word that this build does not know, if it is one.
            pub fn unknown(self) -> Option<Word> {
                match self {
                    Self::$a | Self::$b => None,
                    Self::Unknown(word) => Some(word),
                }
            }
        }
    };
}

either! {
    /// Which ranges a repair is of.
    RepairScope {
        /// All primary ranges of each member.
        Everything,
        /// Those whose last repair is so long ago that they are due, the ones that were never repaired first. By the schedule that covers the ring; without one, all keyspaces within 60% of `gc_grace_seconds`.
        Due
    }
}
either! {
    /// What a compaction writes.
    CompactOutput {
        /// One SSTable.
        One,
        /// SSTables of falling size: half of the data, a quarter, and so on.
        Split
    }
}
either! {
    /// What a garbage collection drops.
    Granularity {
        /// Deleted rows and partitions.
        Row,
        /// Overwritten and deleted cells too.
        Cell
    }
}
either! {
    /// Whether a snapshot comes before a scrub.
    BeforeScrub {
        /// A snapshot first.
        First,
        /// None.
        Skip
    }
}
either! {
    /// What a scrub does with corrupted partitions of counter tables, which it cannot skip without loss.
    Corrupted {
        /// The scrub fails.
        Fail,
        /// They are left out.
        Skip
    }
}
either! {
    /// Whether a scrub looks at values.
    ScrubValues {
        /// They are compared with the types of their columns.
        Check,
        /// They are not looked at.
        Trust
    }
}
either! {
    /// What a scrub does with rows whose time to live has overflowed.
    OverflowedTtl {
        /// They stay as they are.
        Leave,
        /// They are inserted again, with the latest time that can be had.
        Reinsert
    }
}
either! {
    /// Which SSTables are rewritten.
    WhichSstables {
        /// Those of an older format.
        Older,
        /// All.
        All
    }
}
either! {
    /// What happens to a keyspace that would have fewer copies than before.
    FewerCopies {
        /// It stays as it is, and the task fails.
        Refuse,
        /// It has fewer copies from then on: confirmed.
        Allow
    }
}
either! {
    /// What happens to a keyspace with `SimpleStrategy`, which does not count copies by datacenter.
    SimpleReplication {
        /// It stays as it is, and the task fails.
        Refuse,
        /// It gets `NetworkTopologyStrategy` with as many copies as it has. Only while the ring has one datacenter, and `factor` is that number.
        Convert
    }
}
either! {
    /// Whether a flush comes before a snapshot.
    BeforeSnapshot {
        /// A flush first.
        First,
        /// None: what is in memory only is not in the snapshot.
        Skip
    }
}
