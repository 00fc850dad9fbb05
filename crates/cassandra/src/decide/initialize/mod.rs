//! The start of a new ring: given once, to one volume, and only if nothing that
//! exists could be an older ring. The turn goes on as a join does.

mod doubt;
mod next;
pub mod restored;
pub mod security;
mod survey;

pub use doubt::words as doubts_in_words;
pub use next::next;
pub use survey::{Survey, survey};
