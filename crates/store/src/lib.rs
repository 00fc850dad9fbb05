//! How repositories of backups are reached: a store in a [`directory`], or
//! [`objects`] of S3, Google Cloud Storage or Azure, as an [`address`] says; the
//! [`keys`] of a sealed one, and the [`target`] that a backup is fetched to. All
//! that may happen to a repository is decided in `palladion-backup`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail where it stands"))]

pub mod address;
mod answers;
mod clock;
pub mod connect;
pub mod credentials;
pub mod directory;
pub mod keys;
pub mod objects;
pub mod random;
pub mod settings;
pub mod target;
mod temporary;
