//! A member whose Service has another ClusterIP comes back under it, with its data
//! and its host ID, in a turn of its own (safety rule 2.14).

mod advance;
mod given_up;
mod left_over;
mod moved;
mod next;
mod record;

pub use advance::advance;
pub use left_over::left_over;
pub use next::next;
pub use record::record;
