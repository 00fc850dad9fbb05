//! Servers that no member accounts for, added by somebody else or left behind by what
//! nobody remembers: taken out of the configuration as a user allows, and never else.

mod advance;
mod next;

pub use advance::advance;
pub use next::next;
