//! The ring's one turn: its lock, the permit that goes with it, and what keeps
//! it from being given.

pub mod asked_in_vain;
pub mod epoch;
pub mod failed_start;
pub mod grace;
pub mod lock;
pub mod permit;
pub mod region;
pub mod seeds;
pub mod silent;
pub mod stopping;
