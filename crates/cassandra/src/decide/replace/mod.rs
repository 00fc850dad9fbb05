//! Replacements: volumes that are lost or marked for it, who marks them, and the
//! way to another volume under another address.

mod advance;
pub mod by_hand;
mod new_address;
mod next;
pub mod node_gone;
pub mod quarantine;
pub mod room;

pub use advance::advance;
pub use next::next;
