//! The lock between regions (safety rule 3.7): what it holds up, what is asked of it, and the
//! answers to agents that ask back before they begin.

mod answer;
mod gate;
mod question;

pub use answer::answer;
pub use gate::{give_way, hold_turn};
pub use question::question;
