//! What a server says, read: its configuration, and how it is.

pub mod dynamic;
pub mod mntr;
mod reading;
pub mod srvr;

pub use dynamic::{Config, Server};
pub use reading::Reading;
