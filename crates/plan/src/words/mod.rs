//! What the frame of every mind says to people, and what sentences are made of
//! (see [`palladion_api::words`]). What is said of pods, claims and sets stands
//! in [`crate::workload::words`].

pub mod exchange;
pub mod grounds;
pub mod initialize;
pub mod late;
pub mod left;
pub mod lost;
pub mod members;
pub mod question;
pub mod refusal;
pub mod revisions;
pub mod service;
pub mod status;
pub mod turn;
pub mod unread;
pub mod violation;

pub use palladion_api::words::*;

palladion_api::vocabulary![
    exchange, grounds, initialize, late, left, lost, members, question, refusal, revisions,
    service, status, turn, unread, violation
];
