//! What people read of any agent: the messages of a member's status, as data
//! before they are words. What a server or the system said is quoted as it came;
//! logs are no part of this.

pub mod calls;
pub mod files;
pub mod server;
pub mod volume;

palladion_api::vocabulary![calls, files, server, volume];
