//! What is known of the roles of the ring that this volume belongs to: noted beside the ledger,
//! which older agents read, too.

use serde::{Deserialize, Serialize};

/// Whether a server on this volume may be spoken to by others.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roles {
    /// Nothing is noted: a ring that asks nobody, or that an older agent has started.
    #[default]
    NotNoted,
    /// A sealed start was begun. Until ours are there and the default one is closed, every
    /// start is sealed.
    Sealing,
    /// Ours are there. No server on this volume makes the default one.
    Made,
}

/// The file.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Of the roles.
    pub roles: Roles,
}
