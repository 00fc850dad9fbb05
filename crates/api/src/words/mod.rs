//! What people read, as data before it is words.
//!
//! A mind, the engine and the agent declare their sentences in files of their
//! folder `words/`, with [`sentences!`](crate::sentences): an enum per subject, a variant per
//! sentence, a field per thing that varies. Deciders say `Waiting::ForEvidence
//! { member, from }`; the words stand in one place, and tests match variants.
//!
//! ```
//! mod words {
//!     pub mod join {
//!         use palladion_api::words::{Count, Names};
//!
//!         palladion_api::sentences! {
//!             /// Why a member does not join yet. Every variant names a reason.
//!             pub enum Waiting {
//!                 ForEvidence { member: String, from: Names } => WaitingForEvidence,
//!                     "member {member} waits to join: waiting for {from} to report their view of the ring";
//!                 ForStart { members: Count } => WaitingForRing, "waiting for {members} to start";
//!             }
//!
//!             /// Steps have no reason: their words are for logs and errors.
//!             pub enum Doing {
//!                 Permit { member: String } => "permit member {member} to join";
//!             }
//!
//!             /// A sentence may contain another.
//!             pub enum Refused {
//!                 Because { member: String, obstacle: Obstacle } => ReplaceRefused,
//!                     "member {member} is not replaced: {obstacle}";
//!             }
//!
//!             /// Part of a sentence.
//!             pub enum Obstacle {
//!                 Alive { seen_by: Names } => "it is alive according to {seen_by}";
//!                 NoMajority => "most members have not reported their view of the ring";
//!             }
//!         }
//!     }
//!
//!     // Every file of the folder; the compiler warns about one that is left out.
//!     palladion_api::vocabulary![join];
//! }
//!
//! use palladion_api::words::{Message, Names};
//! use words::join::{Obstacle, Refused, Waiting};
//!
//! let from = Names::of(["a-0", "b-0"]);
//! let message = Message::from(Waiting::ForEvidence { member: "a-1".into(), from });
//! assert!(matches!(message.get(), Some(Waiting::ForEvidence { member, .. }) if member == "a-1"));
//! assert_eq!(
//!     message.to_string(),
//!     "member a-1 waits to join: waiting for a-0 and b-0 to report their view of the ring"
//! );
//!
//! // Every sentence of the crate, with samples in place of what varies:
//! let samples = words::samples();
//! assert!(samples.iter().any(|s| s.text == "waiting for 3 members to start"));
//! assert!(samples.iter().any(|s| s.name == "Refused::Because" && s.text.ends_with("of the ring")));
//! ```
//!
//! Field types print themselves and give samples ([`Example`]): text, numbers
//! and times; [`Count`] for `1 member` and `3 members`, [`Names`] for `a-0 and
//! b-0`, [`Several`] for
//! sentences in a row, [`Span`] for `5 min`, [`Quoted`] for what a user wrote.

mod example;
mod grammar;
mod macros;
mod message;

pub use example::{Example, Sample, samples_of};
pub use grammar::{Count, Names, Quoted, Several, Span};
pub use message::Message;

use crate::reasons::Reason;
use std::any::Any;
use std::fmt::{Debug, Display};

/// A sentence, or a part of one, that people read. Made by
/// [`sentences!`](crate::sentences) only.
pub trait Sentence: Any + Debug + Display + Send + Sync {
    /// The enum and its variant: `Waiting::ForEvidence`.
    fn name(&self) -> &'static str;

    /// The documented reason, where the sentence has one.
    fn category(&self) -> Option<Reason>;
}

/// A sentence of a condition, a wait or an event: it has a documented reason.
pub trait Reasoned: Sentence {
    /// The reason.
    fn reason(&self) -> Reason;
}
