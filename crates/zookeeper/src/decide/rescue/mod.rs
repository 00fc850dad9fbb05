//! Rescue: so many volumes are lost that the rest is no majority, so no change of the
//! configuration is possible any more. Only with a user's word, which covers the volumes
//! that it lists, the server that knows most goes on alone, and the others join it anew.

mod advance;
mod next;
mod running;
mod survey;
mod unreported;

pub use advance::advance;
pub use next::{next, takes_over};
