//! What is noted of security beside the ledger, which older agents read, too: the roles of the
//! ring, and what no server on this volume is started without.

use palladion_api::member::Guard;
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
    /// The note cannot be read, or was written by a newer agent. Whoever has its data starts as
    /// usual, and makes no role.
    #[serde(other)]
    Unreadable,
}

/// The file.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Of the roles.
    #[serde(default)]
    pub roles: Roles,
    /// What no server is started without; nothing where no operator has ever said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Vec<Guard>>,
}
