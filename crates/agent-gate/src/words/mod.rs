//! What people read of a gate: in the termination message of its container, and
//! in its log.

pub mod gate;
pub mod reload;

palladion_api::vocabulary![gate, reload];
