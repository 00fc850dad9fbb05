//! A backup as it is stored.

use crate::facts::Facts;
use crate::resources as kinds;
use jiff::{SignedDuration, Timestamp};
use palladion_api::backup::{
    BackupMember, BackupMemberState, BackupPhase, CassandraBackupSpec, CassandraBackupStatus,
};
use palladion_api::ids::Uid;
use palladion_plan::Object;
use serde::Deserialize;
use serde_json::Value;

/// Digits of a nonce, in the name of a backup.
const DIGITS: usize = 12;

/// A backup as it is stored.
pub struct Backup<'a> {
    /// The stored object.
    pub object: &'a Object,
    /// What is wanted.
    pub spec: CassandraBackupSpec,
    /// How it went so far.
    pub status: CassandraBackupStatus,
}

/// Has it ended?
pub fn is_over(object: &Object) -> bool {
    let phase = object.at("/status/phase").and_then(|phase| BackupPhase::deserialize(phase).ok());
    phase.is_some_and(BackupPhase::is_final)
}

/// The backups of this cluster that have not ended, in the order in which they come.
pub fn open<'a>(facts: &'a Facts<'_>) -> Vec<Backup<'a>> {
    let is_open = |object: &&'a Object| !is_over(object) && !object.meta.is_terminating();
    let mut all: Vec<Backup<'a>> =
        of_cluster(facts).filter(is_open).filter_map(Backup::read).collect();
    all.sort_by(|a, b| {
        let place = |backup: &Backup<'_>| backup.object.meta.creation_timestamp;
        (place(a), a.name()).cmp(&(place(b), b.name()))
    });
    all
}

/// The object of the backup that is under way.
pub enum Found<'a> {
    /// There is none any more.
    Deleted,
    /// It is of another version of this kind, and not ours to judge.
    Unreadable,
    /// What it says.
    Backup(Box<Backup<'a>>),
}

/// The one with this uid.
pub fn of_uid<'a>(facts: &'a Facts<'_>, uid: &Uid) -> Found<'a> {
    let mut all = of_cluster(facts).filter(|object| !object.meta.is_terminating());
    match all.find(|object| object.meta.uid == *uid).map(Backup::read) {
        None => Found::Deleted,
        Some(None) => Found::Unreadable,
        Some(Some(backup)) => Found::Backup(Box::new(backup)),
    }
}

fn of_cluster<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a Object> {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let all = facts.objects(kinds::BACKUP).iter().map(AsRef::as_ref);
    all.filter(move |object: &&Object| object.str_at("/spec/cluster") == Some(cluster))
}

impl<'a> Backup<'a> {
    /// Read it; `None` for one of another version of this kind.
    pub fn read(object: &'a Object) -> Option<Self> {
        let part = |field: &str| object.body.get(field).cloned().unwrap_or(Value::Null);
        let status: Option<CassandraBackupStatus> = serde_json::from_value(part("status")).ok()?;
        Some(Self {
            object,
            spec: serde_json::from_value(part("spec")).ok()?,
            status: status.unwrap_or_default(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.object.meta.name
    }

    /// Its uid: another backup of the same name is another one.
    pub fn uid(&self) -> &Uid {
        &self.object.meta.uid
    }

    /// Its name in the repository when it is taken up now: another one each time, so that no
    /// answer, snapshot or object of an earlier time is taken for one of this.
    pub fn new_id(&self, facts: &Facts<'_>) -> String {
        let nonce = facts.snapshot.nonce.as_str().to_ascii_lowercase();
        let digits: String =
            nonce.chars().filter(char::is_ascii_alphanumeric).take(DIGITS).collect();
        format!("{}-{digits}", facts.now().strftime("%Y%m%d-%H%M%S"))
    }

    /// When its time is over.
    pub fn deadline(&self) -> Option<Timestamp> {
        let created = self.object.meta.creation_timestamp?;
        created.checked_add(SignedDuration::from_secs(self.spec.deadline_seconds.into())).ok()
    }

    /// The number of the attempt at its snapshots.
    pub fn attempt(&self) -> u32 {
        self.status.attempt.unwrap_or(1)
    }

    /// Its members, none of which has begun what comes next.
    pub fn members_waiting(&self) -> Vec<BackupMember> {
        let waiting = |entry: &BackupMember| {
            let (state, message) = (BackupMemberState::Waiting, None);
            BackupMember { state, message, ..entry.clone() }
        };
        self.status.members.iter().map(waiting).collect()
    }
}
