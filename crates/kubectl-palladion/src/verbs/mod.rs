//! The verbs, a file each.

pub mod backup;
pub mod completion;
pub mod contact;
pub mod cqlsh;
pub mod events;
pub mod explain;
pub mod logs;
pub mod members;
pub mod pause;
pub mod plan;
pub mod repair;
pub mod replace;
pub mod restart;
pub mod ring;
pub mod schedule;
pub mod seed;
pub mod status;
pub mod stop;
pub mod task;
pub mod terminate;
pub mod version;
