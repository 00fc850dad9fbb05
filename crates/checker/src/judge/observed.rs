//! What was read from a ring.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

/// The tables that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Table {
    /// Rows that are put and deleted.
    Rows,
    /// Registers that are changed by compare-and-set.
    Registers,
}

impl Table {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Rows, Self::Registers];

    /// Its name in the keyspace.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Registers => "registers",
        }
    }

    /// What one of its partitions is called.
    pub fn one(self) -> &'static str {
        match self {
            Self::Rows => "row",
            Self::Registers => "register",
        }
    }
}

/// A member of the ring.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its address, as the others and clients know it.
    pub address: String,
    /// Its host ID.
    pub host_id: String,
    /// Its rack.
    pub rack: String,
}

impl fmt::Display for Member {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (rack {}, host ID {})", self.address, self.rack, self.host_id)
    }
}

/// What was found under each key; what was not found is not in it.
pub type Found = BTreeMap<i64, String>;

/// One table, read in every way.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The replicas of each key that the history knows.
    pub replicas: BTreeMap<i64, BTreeSet<Member>>,
    /// What each member holds by itself.
    pub alone: BTreeMap<Member, Found>,
    /// What is found at QUORUM through each member.
    pub quorum: BTreeMap<Member, Found>,
    /// What is found at ALL.
    pub all: Found,
}
