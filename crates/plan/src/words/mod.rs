//! What the frame of every mind says to people, and what sentences are made of
//! (see [`palladion_api::words`]). What is said of pods, claims and sets stands
//! in [`crate::workload::words`].

pub mod exchange;
pub mod unread;
pub mod violation;

pub use palladion_api::words::*;

palladion_api::vocabulary![exchange, unread, violation];
