//! Kinds of tasks.

use serde::{Deserialize, Serialize};

/// Kind of a task.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum TaskKind {
    /// `spec.repair`.
    Repair,
    /// `spec.cleanup`.
    Cleanup,
    /// `spec.compact`.
    Compact,
    /// `spec.garbageCollect`.
    GarbageCollect,
    /// `spec.scrub`.
    Scrub,
    /// `spec.upgradeSSTables`.
    #[serde(rename = "UpgradeSSTables")]
    UpgradeSstables,
    /// `spec.flush`.
    Flush,
    /// `spec.snapshot`.
    Snapshot,
    /// `spec.clearSnapshot`.
    ClearSnapshot,
    /// `spec.setLogLevel`.
    SetLogLevel,
    /// `spec.replication`.
    Replication,
    /// `spec.removeDatacenter`.
    RemoveDatacenter,
    /// `spec.restart`.
    Restart,
    /// `spec.drain`.
    Drain,
    /// `spec.replace`.
    Replace,
    /// `spec.rotateAuthority`.
    RotateAuthority,
}

/// By what a task of some kind is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// A job of each member's agent (`spec.job` of the member).
    Job,
    /// The turn of the ring.
    Turn,
    /// An authority of the ring (`status.authorities` of the cluster), beside all other work.
    Authority,
}

impl TaskKind {
    /// All kinds.
    pub const ALL: &'static [TaskKind] = &[
        TaskKind::Repair,
        TaskKind::Cleanup,
        TaskKind::Compact,
        TaskKind::GarbageCollect,
        TaskKind::Scrub,
        TaskKind::UpgradeSstables,
        TaskKind::Flush,
        TaskKind::Snapshot,
        TaskKind::ClearSnapshot,
        TaskKind::SetLogLevel,
        TaskKind::Replication,
        TaskKind::RemoveDatacenter,
        TaskKind::Restart,
        TaskKind::Drain,
        TaskKind::Replace,
        TaskKind::RotateAuthority,
    ];

    /// The field of the spec that asks for it.
    pub fn field(self) -> &'static str {
        match self {
            TaskKind::Repair => "repair",
            TaskKind::Cleanup => "cleanup",
            TaskKind::Compact => "compact",
            TaskKind::GarbageCollect => "garbageCollect",
            TaskKind::Scrub => "scrub",
            TaskKind::UpgradeSstables => "upgradeSSTables",
            TaskKind::Flush => "flush",
            TaskKind::Snapshot => "snapshot",
            TaskKind::ClearSnapshot => "clearSnapshot",
            TaskKind::SetLogLevel => "setLogLevel",
            TaskKind::Replication => "replication",
            TaskKind::RemoveDatacenter => "removeDatacenter",
            TaskKind::Restart => "restart",
            TaskKind::Drain => "drain",
            TaskKind::Replace => "replace",
            TaskKind::RotateAuthority => "rotateAuthority",
        }
    }

    /// Its name, as statuses show it.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskKind::Repair => "Repair",
            TaskKind::Cleanup => "Cleanup",
            TaskKind::Compact => "Compact",
            TaskKind::GarbageCollect => "GarbageCollect",
            TaskKind::Scrub => "Scrub",
            TaskKind::UpgradeSstables => "UpgradeSSTables",
            TaskKind::Flush => "Flush",
            TaskKind::Snapshot => "Snapshot",
            TaskKind::ClearSnapshot => "ClearSnapshot",
            TaskKind::SetLogLevel => "SetLogLevel",
            TaskKind::Replication => "Replication",
            TaskKind::RemoveDatacenter => "RemoveDatacenter",
            TaskKind::Restart => "Restart",
            TaskKind::Drain => "Drain",
            TaskKind::Replace => "Replace",
            TaskKind::RotateAuthority => "RotateAuthority",
        }
    }

    /// By what it is done.
    pub fn means(self) -> Means {
        match self {
            TaskKind::Repair
            | TaskKind::Cleanup
            | TaskKind::Compact
            | TaskKind::GarbageCollect
            | TaskKind::Scrub
            | TaskKind::UpgradeSstables
            | TaskKind::Flush
            | TaskKind::Snapshot
            | TaskKind::ClearSnapshot
            | TaskKind::SetLogLevel
            | TaskKind::Replication
            | TaskKind::RemoveDatacenter => Means::Job,
            TaskKind::Restart | TaskKind::Drain | TaskKind::Replace => Means::Turn,
            TaskKind::RotateAuthority => Means::Authority,
        }
    }

    /// Seconds that one member may take, where a task does not say so itself;
    /// `None` where a task has no such deadline.
    pub fn member_deadline(self) -> Option<u32> {
        match self {
            TaskKind::Repair => Some(604_800),
            TaskKind::Cleanup
            | TaskKind::Compact
            | TaskKind::GarbageCollect
            | TaskKind::Scrub
            | TaskKind::UpgradeSstables
            | TaskKind::RemoveDatacenter => Some(86_400),
            TaskKind::Flush
            | TaskKind::Snapshot
            | TaskKind::ClearSnapshot
            | TaskKind::Replication
            | TaskKind::Drain => Some(600),
            TaskKind::SetLogLevel => Some(60),
            TaskKind::Restart => Some(900),
            TaskKind::Replace | TaskKind::RotateAuthority => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TaskKind;

    #[test]
    fn a_kind_is_called_as_statuses_show_it() {
        for kind in TaskKind::ALL {
            assert_eq!(serde_json::json!(kind), kind.as_str());
        }
    }
}
