//! What people want of members (`spec.wanted`): who may be stopped or started
//! next, the way of such a turn to its end, and what is not carried out yet.

mod drain;
mod instead;
mod next;
mod now;
mod order;
mod seed;
mod start;
mod stop;
mod terminated;
pub mod unmet;

pub use instead::of_restart as instead_of_restart;
pub use next::next;
pub use now::forget as forget_now;
pub use start::advance as start;
pub use stop::advance as stop;
