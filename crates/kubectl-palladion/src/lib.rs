//! `kubectl palladion`: what people who run rings type all day. Each verb is a
//! file of [`verbs`]; it reads and writes through the door of the engine, in the
//! name of whoever runs it, and says how it ended by its exit code ([`exit`]).
//! It keeps nothing and decides nothing: `plan` asks the operator's own mind.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail where it stands"))]

pub mod amount;
pub mod arguments;
pub mod ask;
pub mod backoff;
pub mod candidates;
pub mod clean;
pub mod complete;
pub mod exit;
pub mod follow;
pub mod format;
pub mod paint;
pub mod place;
pub mod read;
pub mod reference;
pub mod run;
pub mod session;
pub mod showing;
pub mod table;
pub mod terminal;
pub mod time;
pub mod until;
pub mod verbs;
pub mod words;
pub mod writing;
