//! How repositories of backups are reached: a store in a [`directory`], the
//! [`keys`] of a sealed one, and the [`target`] that a backup is fetched to. All
//! that may happen to a repository is decided in `palladion-backup`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail where it stands"))]

pub mod directory;
pub mod keys;
pub mod random;
pub mod target;
mod temporary;
