//! The protocol between a client and a server of ZooKeeper: its encoding, the
//! messages that we need, and a session over loopback.

pub mod error;
pub mod four_letter;
pub mod jute;
pub mod message;
pub mod session;
#[cfg(test)]
mod tests;

pub use error::{Error, Refusal};
pub use session::Session;
