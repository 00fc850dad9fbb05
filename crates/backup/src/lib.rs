//! Backups: what a repository holds, and what may happen to it. Pure: every
//! function works on a [`store::Store`] that it is given, with the time by the
//! store's clock and randomness that it is given.
//!
//! From the first byte to the last: [`prepare`] asks whether a backup may begin, [`take`] sends the files of one member and
//! ends with its manifest; [`finish`] checks the manifests of all and writes the
//! outcome, once; [`verify`] reads what was sent; [`fetch`] brings it back, and [`batch`] a part
//! of it that a ring loads;
//! [`expire`] lists what is to go, and [`sweep`] deletes it a day later. What is
//! listed may be named by no new manifest, so a process that slept between its
//! check and its deletion deletes nothing that anybody names ([`chain`]).
//!
//! Between backups the commit log of each member is sent ([`archive`]).

#![cfg_attr(
    not(test),
    forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail where it stands"))]

pub mod archive;
pub mod batch;
pub mod catalog;
pub mod chain;
pub mod coverage;
pub mod damaged;
pub mod document;
pub mod earlier;
pub mod expire;
pub mod fetch;
pub mod finish;
pub mod hash;
pub mod hold;
pub mod identity;
pub mod kept;
pub mod keyspaces;
pub mod manifest;
pub mod names;
pub mod pieces;
pub mod pins;
pub mod prepare;
pub mod rate;
pub mod repository;
pub mod schema;
pub mod seal;
pub mod store;
pub mod sweep;
pub mod take;
pub mod vault;
pub mod verify;
pub mod words;

pub use words::trouble::Trouble;

/// Seconds of an hour.
pub const HOUR: i64 = 3600;
/// Seconds of a day.
pub const DAY: i64 = 24 * HOUR;

/// Randomness, which is given: the core has none of its own.
pub trait Random {
    /// Bytes that were never given before.
    fn bytes(&self) -> [u8; 32];

    /// Part of a name: 16 hexadecimal digits that were never given before.
    fn nonce(&self) -> String {
        hash::hex(&self.bytes()[..8])
    }
}
