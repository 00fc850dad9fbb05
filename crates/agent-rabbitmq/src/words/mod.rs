//! What people read of a node of RabbitMQ: the messages of a member's status, as data
//! before they are words.

pub mod agent;
pub mod calls;
pub mod files;
pub mod job;
pub mod permit;
pub mod server;
pub mod start;
pub mod volume;

palladion_api::vocabulary![agent, calls, files, job, permit, server, start, volume];
