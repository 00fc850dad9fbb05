//! What the engine's tests stand on: an API server in memory, a mind that makes
//! ConfigMaps, and an engine that can be crashed.
#![allow(dead_code, clippy::unwrap_used)]

pub mod answers;
pub mod fake;
pub mod harness;
pub mod merge;
pub mod path;
pub mod store;
pub mod toy;
pub mod watch;
