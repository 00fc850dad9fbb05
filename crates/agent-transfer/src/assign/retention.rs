//! From an order about backups that expire to what the child is told.

use crate::orders::retention::{Expire, Sweep};
use crate::words::refusal::Refusal;
use palladion_api::backup::{ExpireWork, SweepWork};
use palladion_backup::names::BackupId;
use std::collections::BTreeSet;

/// Backups that are to be condemned.
///
/// # Errors
/// A name that is none.
pub fn expire(work: &ExpireWork) -> Result<Expire, Refusal> {
    Ok(Expire { backups: ids(&work.backups)?, keep: work.keep.max(1) })
}

/// What is to be deleted.
///
/// # Errors
/// A name that is none.
pub fn sweep(work: &SweepWork) -> Result<Sweep, Refusal> {
    Ok(Sweep { backups: ids(&work.backups)? })
}

fn ids(all: &[String]) -> Result<BTreeSet<BackupId>, Refusal> {
    let id = |text: &String| BackupId::parse(text).ok_or_else(|| Refusal::word("backup", text));
    all.iter().map(id).collect()
}
