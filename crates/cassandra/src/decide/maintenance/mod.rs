//! What a ring needs from time to time: pending repairs and cleanups,
//! copies of the system keyspaces, seed lists, settings of running servers.

pub mod debts;
pub mod runtime_settings;
pub mod seed_lists;
pub mod system_keyspaces;
