//! The start of a new ensemble: once, on one volume, and only if nothing that exists
//! could be an older one.

mod advance;
mod next;
mod survey;

pub use advance::{advance, complete};
pub use next::next;
