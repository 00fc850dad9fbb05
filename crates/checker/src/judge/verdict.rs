//! What can be wrong, and how it is told.

use serde::Serialize;

use super::observed::{Member, Table};

/// The kinds of wrong, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// What was acknowledged is not returned.
    Lost,
    /// What was deleted is returned.
    Resurrected,
    /// What is returned was never written so.
    WrongValue,
    /// No order of a register's changes explains what was answered.
    NotLinearizable,
    /// Acknowledged at QUORUM and held by so few replicas that a quorum of them lacks
    /// it: a read at QUORUM may miss it.
    HeldByTooFew,
    /// Acknowledged at ALL and missing from a replica.
    MissingFromReplica,
    /// A replica lacks more than may be on its way to it.
    ReplicaIncomplete,
}

impl Kind {
    /// In a word or two.
    pub fn title(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Resurrected => "resurrected",
            Self::WrongValue => "wrong value",
            Self::NotLinearizable => "not linearizable",
            Self::HeldByTooFew => "held by too few",
            Self::MissingFromReplica => "missing from a replica",
            Self::ReplicaIncomplete => "replica incomplete",
        }
    }

    /// Whether hints that are still under way would mend it.
    pub fn may_settle(self) -> bool {
        match self {
            Self::ReplicaIncomplete => true,
            Self::Lost
            | Self::Resurrected
            | Self::WrongValue
            | Self::NotLinearizable
            | Self::HeldByTooFew
            | Self::MissingFromReplica => false,
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// What kind.
    pub kind: Kind,
    /// In which table.
    pub table: Table,
    /// Of which row or register; none for a whole replica.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<i64>,
    /// On which replica, or through which coordinator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<Member>,
    /// A sentence with all that is known.
    pub message: String,
}

/// How much of what it should hold a replica holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// The replica.
    pub member: Member,
    /// Of which table.
    pub table: Table,
    /// Keys of which it must hold something: no deletion may have come last.
    pub expected: usize,
    /// Those of which it holds that state or a later one.
    pub held: usize,
}

impl Share {
    /// Whether more is missing than may have been in flight, and less is held than this share.
    pub fn is_below(&self, percent: u8, in_flight: usize) -> bool {
        self.expected - self.held > in_flight
            && self.held * 100 < self.expected * usize::from(percent)
    }
}
