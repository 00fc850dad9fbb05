//! What people read of any agent: the messages of a member's status, as data
//! before they are words. What a server or the system said is quoted as it came;
//! logs are no part of this.

pub mod calls;
pub mod files;
pub mod health;
pub mod operation;
pub mod permit;
pub mod server;
pub mod service_volume;
pub mod volume;

palladion_api::vocabulary![calls, files, health, operation, permit, server, service_volume, volume];
