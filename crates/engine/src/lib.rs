//! All of Palladion's Kubernetes input and output. It knows no system: a
//! [`palladion_plan::Mind`] is handed in and asked, and its plan carried out.
//!
//! One reconcile goes through rooms, each a module of its name: [`watch`] keeps
//! projected stores and wakes keys in the [`queue`]; [`gather`] makes a
//! snapshot; [`decide`] asks the mind; [`apply`] carries out the plan;
//! [`report`] tells people. Around them: [`leader`] (who may write) and
//! [`serve`] (probes and metrics). The feature `door` is for people's tools:
//! requests in their own name, and a mind asked about what they may read.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod apply;
pub mod backoff;
pub mod client;
pub mod decide;
#[cfg(feature = "door")]
pub mod door;
pub mod error;
pub mod exchange;
pub mod expect;
pub mod faults;
pub mod gather;
pub mod ids;
pub mod leader;
pub mod lock;
pub mod memory;
pub mod metrics;
pub mod pace;
pub mod probe;
pub mod queue;
pub mod reconcile;
pub mod report;
pub mod request;
pub mod run;
pub mod serve;
pub mod watch;
pub mod words;

pub use error::ApiError;

palladion_api::vocabulary![words];

/// What the operator may do for the engine itself, whatever its minds are.
pub const RIGHTS: &[palladion_api::rights::Right] =
    &[report::events::RIGHT, leader::run::RIGHT, leader::holder::RIGHT, apply::issue::RIGHT];

pub use run::{Engine, EngineError, Leadership, Options};
