//! What people read of backups: errors, what was found, and why something waits.

pub mod notice;
pub mod schema;
pub mod trouble;

palladion_api::vocabulary![notice, schema, trouble];
