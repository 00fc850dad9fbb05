//! Leaves: replicas move to others first, the application of the node stops while its
//! virtual machine lives, the others forget it, and then it stops.

mod advance;
mod asked;
mod depart;
mod next;

pub use advance::{advance, is_begun};
pub use next::{can_lost, next, of_lost};
