//! An order, as far as it is decided on.

use crate::assign;
use crate::settings::Tag;
use crate::words::refusal::Refusal;
use palladion_api::backup::{NEVER_STARTED, Transfer, TransferTask};
use palladion_api::ids::{HostId, VolumeId};

/// What of an order is decided on. What is to be done stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The transfer.
    pub id: String,
    /// Of the leader that gave it.
    pub epoch: i64,
    /// Whose.
    pub host: HostId,
    /// On which volume.
    pub volume: VolumeId,
    /// Of which repository.
    pub repository: String,
    /// Whether that must be the ring's own.
    pub backups: Backups,
    /// Of which backup.
    pub backup: String,
    /// What becomes of the snapshot that is kept.
    pub snapshots: Snapshots,
    /// Why this agent cannot do it, whoever it is for.
    pub unfit: Option<Refusal>,
}

/// Whose backups an order is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backups {
    /// The ring's own: it writes them.
    OfRing,
    /// Any ring's: it reads one.
    OfAny,
}

impl Backups {
    fn of(transfer: &Transfer) -> Self {
        match transfer.work.task() {
            Some(
                TransferTask::Catalog(_)
                | TransferTask::Schema(_)
                | TransferTask::Load(_)
                | TransferTask::Settle(_)
                | TransferTask::Tokens(_)
                | TransferTask::Replay(_)
                | TransferTask::Open(_),
            ) => Self::OfAny,
            Some(
                TransferTask::Prepare(_)
                | TransferTask::Snapshot(_)
                | TransferTask::Describe(_)
                | TransferTask::Upload(_)
                | TransferTask::Finish(_)
                | TransferTask::Verify(_)
                | TransferTask::Discard(_)
                | TransferTask::Expire(_)
                | TransferTask::Sweep(_),
            )
            | None => Self::OfRing,
        }
    }
}

/// What becomes of the snapshot that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Snapshots {
    /// It stays.
    Stay,
    /// This one is kept from now on, and no other.
    Take(Tag),
    /// Those of this backup are kept no longer.
    Go,
}

/// Whose backups are taken of this ring, as it is noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repository {
    /// Nothing is noted: no backup was ever prepared on this volume.
    None,
    /// This one.
    Noted(String),
    /// The note cannot be read.
    Unread,
}

impl Order {
    /// Of what the operator has written.
    pub fn of(transfer: &Transfer) -> Self {
        let unfit = misplaced(transfer).or_else(|| assign::fit(transfer).err());
        Self {
            id: transfer.id.clone(),
            epoch: transfer.epoch,
            host: transfer.host_id.clone(),
            volume: transfer.volume_id.clone(),
            repository: transfer.repository.id.clone(),
            backup: transfer.backup.clone(),
            backups: Backups::of(transfer),
            snapshots: Snapshots::of(transfer),
            unfit,
        }
    }
}

/// Before its first start a member reads what backups have, and nothing else; tokens it notes
/// then alone.
fn misplaced(transfer: &Transfer) -> Option<Refusal> {
    let has_started = transfer.host_id.as_str() != NEVER_STARTED;
    match transfer.work.task()? {
        TransferTask::Catalog(work) if work.whole_ring => None,
        TransferTask::Tokens(_) if has_started => {
            Some(Refusal::HasStarted { host: transfer.host_id.clone() })
        }
        TransferTask::Tokens(_) => None,
        TransferTask::Catalog(_)
        | TransferTask::Schema(_)
        | TransferTask::Load(_)
        | TransferTask::Settle(_)
        | TransferTask::Replay(_)
        | TransferTask::Open(_)
        | TransferTask::Prepare(_)
        | TransferTask::Snapshot(_)
        | TransferTask::Describe(_)
        | TransferTask::Upload(_)
        | TransferTask::Finish(_)
        | TransferTask::Verify(_)
        | TransferTask::Discard(_)
        | TransferTask::Expire(_)
        | TransferTask::Sweep(_) => (!has_started).then_some(Refusal::NeverStarted),
    }
}

impl Snapshots {
    fn of(transfer: &Transfer) -> Self {
        let take = |tag: &String| Tag::try_from(tag.clone()).map_or(Self::Stay, Self::Take);
        match transfer.work.task() {
            Some(TransferTask::Snapshot(work)) => take(&work.tag),
            // As after a loss of the record: what is sent stays until it is.
            Some(TransferTask::Upload(work)) => take(&work.tag),
            Some(TransferTask::Discard(_)) => Self::Go,
            Some(
                TransferTask::Prepare(_)
                | TransferTask::Describe(_)
                | TransferTask::Finish(_)
                | TransferTask::Verify(_)
                | TransferTask::Catalog(_)
                | TransferTask::Schema(_)
                | TransferTask::Load(_)
                | TransferTask::Settle(_)
                | TransferTask::Tokens(_)
                | TransferTask::Replay(_)
                | TransferTask::Open(_)
                | TransferTask::Expire(_)
                | TransferTask::Sweep(_),
            )
            | None => Self::Stay,
        }
    }
}
