//! The work that a member's agent can be given. A task and the job of a member
//! have it from here, so that one cannot say what the other does not.

use super::{
    CleanupTask, ClearSnapshotTask, CompactTask, FlushTask, GarbageCollectTask,
    RemoveDatacenterTask, RepairScope, RepairTask, ReplicationTask, ScrubTask, Selection,
    SetLogLevelTask, SnapshotTask, TaskKind, UpgradeSstablesTask,
};
use crate::word::Word;
use serde::{Deserialize, Serialize};

/// Work for the agent of a member: one of these.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    /// A full repair of the primary ranges of each member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairTask>,
    /// Drop data in ranges that a member no longer owns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<CleanupTask>,
    /// Compact all SSTables of each table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<CompactTask>,
    /// Drop deleted data of each SSTable by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub garbage_collect: Option<GarbageCollectTask>,
    /// Read all data and write it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubTask>,
    /// Rewrite SSTables in the format of the release that runs.
    #[serde(default, rename = "upgradeSSTables", skip_serializing_if = "Option::is_none")]
    pub upgrade_sstables: Option<UpgradeSstablesTask>,
    /// Write memtables to disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<FlushTask>,
    /// Take a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotTask>,
    /// Delete a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_snapshot: Option<ClearSnapshotTask>,
    /// Set levels of loggers for some time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_log_level: Option<SetLogLevelTask>,
    /// Set how many copies keyspaces have in one datacenter. Done by one member for the ring. Agents of protocol 13 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication: Option<ReplicationTask>,
    /// Remove the members of another datacenter, which is lost for good. Done by one member for the ring. Agents of protocol 15 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove_datacenter: Option<RemoveDatacenterTask>,
}

/// The one body of [`Work`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Body<'a> {
    Repair(&'a RepairTask),
    Cleanup(&'a CleanupTask),
    Compact(&'a CompactTask),
    GarbageCollect(&'a GarbageCollectTask),
    Scrub(&'a ScrubTask),
    UpgradeSstables(&'a UpgradeSstablesTask),
    Flush(&'a FlushTask),
    Snapshot(&'a SnapshotTask),
    ClearSnapshot(&'a ClearSnapshotTask),
    SetLogLevel(&'a SetLogLevelTask),
    Replication(&'a ReplicationTask),
    RemoveDatacenter(&'a RemoveDatacenterTask),
}

impl Work {
    /// The body; `None` where there is none that this build knows, or more than one.
    pub fn body(&self) -> Option<Body<'_>> {
        let all = [
            self.repair.as_ref().map(Body::Repair),
            self.cleanup.as_ref().map(Body::Cleanup),
            self.compact.as_ref().map(Body::Compact),
            self.garbage_collect.as_ref().map(Body::GarbageCollect),
            self.scrub.as_ref().map(Body::Scrub),
            self.upgrade_sstables.as_ref().map(Body::UpgradeSstables),
            self.flush.as_ref().map(Body::Flush),
            self.snapshot.as_ref().map(Body::Snapshot),
            self.clear_snapshot.as_ref().map(Body::ClearSnapshot),
            self.set_log_level.as_ref().map(Body::SetLogLevel),
            self.replication.as_ref().map(Body::Replication),
            self.remove_datacenter.as_ref().map(Body::RemoveDatacenter),
        ];
        let mut there = all.into_iter().flatten();
        match (there.next(), there.next()) {
            (Some(body), None) => Some(body),
            (None, _) | (_, Some(_)) => None,
        }
    }

    /// Words of the body that this build does not know, by field.
    pub fn unknown(&self) -> Vec<(&'static str, Word)> {
        let repair = self.repair.iter().map(|r| ("repair.scope", r.scope.unknown()));
        let compact = self.compact.iter().map(|c| ("compact.output", c.output.unknown()));
        let garbage = self
            .garbage_collect
            .iter()
            .map(|g| ("garbageCollect.granularity", g.granularity.unknown()));
        let scrub = self.scrub.iter().flat_map(|s| {
            [
                ("scrub.snapshot", s.snapshot.unknown()),
                ("scrub.corrupted", s.corrupted.unknown()),
                ("scrub.values", s.values.unknown()),
                ("scrub.overflowedTTL", s.overflowed_ttl.unknown()),
            ]
        });
        let upgrade =
            self.upgrade_sstables.iter().map(|u| ("upgradeSSTables.which", u.which.unknown()));
        let snapshot = self.snapshot.iter().map(|s| ("snapshot.flush", s.flush.unknown()));
        let levels = self
            .set_log_level
            .iter()
            .flat_map(|s| s.levels.values().map(|level| ("setLogLevel.levels", level.unknown())));
        let all = repair.chain(compact).chain(garbage).chain(scrub).chain(upgrade);
        let replication = self.replication.iter().flat_map(|r| {
            [
                ("replication.lowering", r.lowering.unknown()),
                ("replication.simpleStrategy", r.simple_strategy.unknown()),
            ]
        });
        let all = all.chain(snapshot).chain(levels).chain(replication);
        all.filter_map(|(field, word)| Some((field, word?))).collect()
    }
}

impl<'a> Body<'a> {
    /// Is it a repair of what is due?
    pub fn is_repair_of_due(self) -> bool {
        matches!(self, Body::Repair(body) if body.scope == RepairScope::Due)
    }

    /// Is it a repair that several members may be at, each with what it is granted?
    pub fn is_repair_by_grants(self) -> bool {
        let is_one = |body: &RepairTask| body.parallel == Some(1);
        matches!(self, Body::Repair(body) if body.scope == RepairScope::Due && !is_one(body))
    }

    /// Kind of the task that has such a body.
    pub fn kind(self) -> TaskKind {
        match self {
            Body::Repair(_) => TaskKind::Repair,
            Body::Cleanup(_) => TaskKind::Cleanup,
            Body::Compact(_) => TaskKind::Compact,
            Body::GarbageCollect(_) => TaskKind::GarbageCollect,
            Body::Scrub(_) => TaskKind::Scrub,
            Body::UpgradeSstables(_) => TaskKind::UpgradeSstables,
            Body::Flush(_) => TaskKind::Flush,
            Body::Snapshot(_) => TaskKind::Snapshot,
            Body::ClearSnapshot(_) => TaskKind::ClearSnapshot,
            Body::SetLogLevel(_) => TaskKind::SetLogLevel,
            Body::Replication(_) => TaskKind::Replication,
            Body::RemoveDatacenter(_) => TaskKind::RemoveDatacenter,
        }
    }

    /// Its keyspaces or tables, where it has such a choice.
    pub fn selection(self) -> Option<&'a Selection> {
        match self {
            Body::Repair(body) => Some(&body.of),
            Body::Cleanup(body) => Some(&body.of),
            Body::Compact(body) => Some(&body.of),
            Body::GarbageCollect(body) => Some(&body.of),
            Body::Scrub(body) => Some(&body.of),
            Body::UpgradeSstables(body) => Some(&body.of),
            Body::Flush(body) => Some(&body.of),
            Body::Snapshot(body) => Some(&body.of),
            Body::ClearSnapshot(_)
            | Body::SetLogLevel(_)
            | Body::Replication(_)
            | Body::RemoveDatacenter(_) => None,
        }
    }
}
