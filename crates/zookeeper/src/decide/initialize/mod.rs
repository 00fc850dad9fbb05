//! The start of a new ensemble: once, on one volume, and only if nothing that exists
//! could be an older one.

mod advance;
mod next;

pub use advance::advance;
pub use next::next;
