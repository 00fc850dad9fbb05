//! A backup as it is stored.

use crate::decide::transfers::{self, Asked, Kind};
use crate::facts::Facts;
use crate::resources as kinds;
use jiff::{SignedDuration, Timestamp};
use palladion_api::backup::{
    BackupCoverage, BackupMember, BackupMemberState, BackupPhase, CassandraBackupSpec,
    CassandraBackupStatus,
};
use palladion_api::ids::Uid;
use palladion_plan::{Object, Resource};
use serde::Deserialize;
use serde_json::Value;

/// `CassandraBackup`.
pub struct Backups;

impl Kind for Backups {
    const RESOURCE: Resource = kinds::BACKUP;
    type Spec = CassandraBackupSpec;
    type Status = CassandraBackupStatus;

    fn is_final(phase: &Value) -> bool {
        BackupPhase::deserialize(phase).is_ok_and(BackupPhase::is_final)
    }
}

/// A backup as it is stored.
pub type Backup<'a> = Asked<'a, Backups>;

/// The object of the backup that is under way.
pub type Found<'a> = transfers::Found<'a, Backups>;

/// Has it ended?
pub fn is_over(object: &Object) -> bool {
    transfers::is_over::<Backups>(object)
}

/// The backups of this cluster that have not ended, in the order in which they come.
pub fn open<'a>(facts: &'a Facts<'_>) -> Vec<Backup<'a>> {
    transfers::open(facts)
}

/// The one with this uid.
pub fn of_uid<'a>(facts: &'a Facts<'_>, uid: &Uid) -> Found<'a> {
    transfers::of_uid(facts, uid)
}

/// Is this member in the backup, and not left out of it?
pub fn is_in(entry: &BackupMember) -> bool {
    match entry.state {
        BackupMemberState::Missing => false,
        BackupMemberState::Waiting
        | BackupMemberState::Running
        | BackupMemberState::Done
        | BackupMemberState::Failed => true,
    }
}

/// How many of them are.
pub fn count(entries: &[BackupMember]) -> usize {
    entries.iter().filter(|entry| is_in(entry)).count()
}

/// Is one of them not?
pub fn leaves_out(entries: &[BackupMember]) -> bool {
    count(entries) < entries.len()
}

/// A member that has not begun what comes next, if it is in it.
pub fn waiting(entry: &BackupMember) -> BackupMember {
    match is_in(entry) {
        false => entry.clone(),
        true => {
            let (state, message) = (BackupMemberState::Waiting, None);
            BackupMember { state, message, ..entry.clone() }
        }
    }
}

impl Backup<'_> {
    /// When its time is over.
    pub fn deadline(&self) -> Option<Timestamp> {
        let created = self.object.meta.creation_timestamp?;
        created.checked_add(SignedDuration::from_secs(self.spec.deadline_seconds.into())).ok()
    }

    /// The number of the attempt at its snapshots.
    pub fn attempt(&self) -> u32 {
        self.status.attempt.unwrap_or(1)
    }

    /// Are members left out that cannot be had?
    pub fn leaves_out(&self) -> bool {
        match self.spec.coverage {
            BackupCoverage::QuorumOfEachRange => true,
            // An unknown one is asked for before anything begins.
            BackupCoverage::AllMembers | BackupCoverage::Unknown(_) => false,
        }
    }
}
