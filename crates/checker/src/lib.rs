//! A client that knows what a ring should hold. `load` writes values that
//! follow from their keys and notes every attempt and its answer; `verify`
//! reads every replica by itself, and the ring at QUORUM and ALL, and judges.
//!
//! `history` and `judge` are pure; `ring`, `load` and `verify` talk to servers.
//! What is claimed, and what is not, is in `docs/concepts/data-checks.md`.

pub mod dice;
pub mod history;
pub mod judge;
pub mod level;
pub mod load;
pub mod report;
pub mod ring;
pub mod verify;
