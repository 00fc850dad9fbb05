//! The lock between regions: what it holds up, and why.

use super::turn::Work;
use jiff::Timestamp;
use palladion_api::ids::{LockToken, MemberName};

palladion_plan::sentences! {
    /// What waits for the lock.
    pub enum Waiting {
        Asking => WaitingForRegion, "taking the region lock of this ring";
        Held { region: String, since: Since, token: LockToken } => WaitingForRegion,
            "region {region} holds the lock of this ring{since}, by token {token}; no member joins, leaves, is replaced or restarted here until it is released";
        Unavailable { why: String } => RegionLockUnavailable,
            "no member joins, leaves, is replaced or restarted here, because the region lock of this ring cannot be taken: {why}";
        Lost { member: MemberName, work: Work } => LockLost,
            "the region lock of this ring was lost during the {work} of member {member}; its server goes on, and the next step is taken when this region has the lock again";
        LostTo { member: MemberName, work: Work, region: String, since: Since, token: LockToken } => LockLost,
            "the region lock of this ring was lost during the {work} of member {member}, and region {region} holds it{since} by token {token}; the server goes on, and the next step is taken when this region has the lock again";
        Recording => WaitingForRegion,
            "recording with the region lock which cluster initializes this ring";
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "member {member} cannot have its turn: its agent ({agent}) does not ask whether the region lock is still held before it begins";
    }

    /// Since when, where that is known.
    pub enum Since {
        At { since: Timestamp } => " since {since}";
        Unknown => "";
    }

    /// What needs a person.
    pub enum Problem {
        Choice => RegionLockMissing,
            "this ring has members elsewhere, and the spec does not say who manages them: set `ring.lock: Region` if another operator does, or `ring.lock: None` if nobody else does";
        Store => RegionLockMissing,
            "`ring.lock` is `Region`, and the OperatorConfig `default` has no `regionLock`: say there where the lock is kept";
        Region => RegionLockMissing,
            "`ring.lock` is `Region`, and this operator does not know the name of its region: set `region` of the chart";
    }

    /// Steps.
    pub enum Doing {
        GoOn { member: MemberName, work: Work } =>
            "go on with the {work} of member {member} under the region lock";
        RecordElsewhere { region: String } =>
            "record that region {region} initializes the ring";
        Answer { member: MemberName } => "answer the agent of member {member} that it may begin";
    }
}

impl From<Option<Timestamp>> for Since {
    fn from(since: Option<Timestamp>) -> Self {
        since.map_or(Since::Unknown, |since| Since::At { since })
    }
}
