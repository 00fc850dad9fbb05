//! What people read of the agent: the messages of a member's status, as data
//! before they are words. What a server or the system said is quoted as it came;
//! logs are no part of this.

pub mod calls;
pub mod files;
pub mod job;
pub mod permit;
pub mod removal;
pub mod repair;
pub mod replication;
pub mod server;
pub mod start;
pub mod volume;
pub mod work;

palladion_api::vocabulary![
    calls,
    files,
    job,
    permit,
    removal,
    repair,
    replication,
    server,
    start,
    volume,
    work
];
