//! What people read of a transfer: why it has stopped, in the status of its member.

pub mod stopped;

palladion_api::vocabulary![stopped];
