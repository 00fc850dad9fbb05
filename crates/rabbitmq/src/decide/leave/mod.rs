//! Leaves: replicas move to others first, the application of the node stops while its
//! virtual machine lives, the others forget it, and then it stops.

mod advance;
mod alarmed;
mod asked;
mod depart;
mod next;
mod unmoved;

pub use advance::{advance, is_begun};
pub use alarmed::waits_for_restart;
pub use next::{can_lost, next, of_lost, of_lost_comes_first};
pub use unmoved::{is_postponed, unmoved};
