//! What people read of a transfer: why it is not begun, or has stopped, in the status of its member.

pub mod refusal;
pub mod replay;
pub mod stopped;

palladion_api::vocabulary![refusal, replay, stopped];
