//! The grammar that every mind speaks: a [`Snapshot`] of observed facts goes
//! in, a [`Plan`] of steps comes out. Pure data and pure functions: no I/O, no
//! clock, no randomness.

// `clippy.toml` lists them: clock, randomness, environment, files, network, output.
#![cfg_attr(
    not(test),
    forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]

pub mod conditions;
pub mod differ;
pub mod difference;
pub mod draft;
pub mod exchange;
pub mod figures;
pub mod hash;
pub mod hazard;
pub mod issue;
pub mod kinds;
pub mod lint;
pub mod lock;
pub mod members;
pub mod mind;
pub mod object;
pub mod parts;
pub mod plan;
pub mod probe;
pub mod proof;
#[cfg(feature = "sim")]
pub mod sim;
pub mod snapshot;
pub mod step;
pub mod turn;
pub mod wait;
pub mod words;
pub mod workload;

pub use conditions::{Conditions, Truth};
pub use draft::{Draft, Flow, Trouble};
pub use exchange::{Answer, Captured, Exchange, ExchangeKey, Scheme, SecretRef};
pub use figures::{Count, Figure, OfAll};
pub use hazard::{About, Act, Hazard};
pub use lock::{LockFact, LockFence, LockQuestion};
pub use mind::{Keep, Mind, Route, Watch};
pub use object::{Meta, Object, ObjectKey, OwnerReference, Resource, Scope};
pub use palladion_api::{Reason, sentences, vocabulary};
pub use plan::{
    Event, EventType, Fence, Generated, IfRefused, Loss, Plan, Precondition, Propagation,
    Regarding, Step, Subresource,
};
pub use probe::{ProbeAction, ProbeKey, ProbeRequest, ProbeResult, Tally, Verdict};
pub use proof::{Proof, ProofKind};
pub use snapshot::{Failure, FailureClass, NotWritten, Observed, Snapshot};
pub use wait::{Subject, Wait};
