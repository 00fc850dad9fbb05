//! A seeded simulator: an API server, its controllers, nodes and disks, and an
//! operator process that carries plans out as the engine does, all in virtual
//! time and one thread. It runs the real minds; what a mind's system does
//! (servers, agents) is added by the tests of that mind.
//!
//! Everything here is `Clone`, so that a test can stop at any write, try a
//! fault there, and go on from the same moment with another.

mod addresses;
pub mod authority;
pub mod cache;
pub mod faults;
pub mod json;
pub use crate::kinds;
pub mod kubernetes;
pub mod lock;
pub mod operator;
pub mod planted;
pub mod random;
pub mod store;

pub use cache::{Cache, Feed};
pub use faults::{Fault, Faults};
pub use kubernetes::{Kubernetes, PodRun};
pub use lock::Locks;
pub use operator::{Done, Operator};
pub use planted::Planted;
pub use random::Random;
pub use store::{Change, Refusal, Store};

use jiff::Timestamp;

/// What an actor did when it had the chance, and when it wants the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Did anything change?
    pub acted: bool,
    /// When it wants to act again at the latest, if nothing happens before.
    pub next: Option<Timestamp>,
}

impl Activity {
    /// Something changed.
    pub const ACTED: Activity = Activity { acted: true, next: None };

    /// Both of two.
    pub fn and(self, other: Activity) -> Activity {
        Activity { acted: self.acted || other.acted, next: earliest(self.next, other.next) }
    }

    /// Want to act again at this time.
    pub fn at(self, time: Timestamp) -> Activity {
        Activity { next: earliest(self.next, Some(time)), ..self }
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
