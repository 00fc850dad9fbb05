//! A decision in the making, which the deciders of every mind write on: steps,
//! waits, events and what needs a person. [`Draft::plan`] ends it.

use crate::plan::{Event, Loss, Plan, Precondition, Step};
use crate::wait::Wait;
use jiff::Timestamp;
use palladion_api::reasons::Reason;
use palladion_api::words::{Message, Reasoned};
use serde_json::Value;

/// May the deciders that follow begin something?
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Something is under way, and nothing else may begin beside it.
    Busy,
    /// Nothing stands against it.
    Free,
}

impl Flow {
    /// Is something under way?
    pub fn is_busy(self) -> bool {
        self == Flow::Busy
    }

    /// The next decider's word, unless something is under way already.
    pub fn or(self, next: impl FnOnce() -> Flow) -> Flow {
        match self {
            Flow::Busy => Flow::Busy,
            Flow::Free => next(),
        }
    }
}

/// Something that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A documented reason.
    pub reason: Reason,
    /// What is wrong, and what to do.
    pub message: Message,
}

impl Trouble {
    /// The trouble that a sentence names.
    pub fn of(sentence: impl Reasoned) -> Self {
        Self { reason: sentence.reason(), message: sentence.into() }
    }
}

/// A decision in the making. `more` is what a mind's deciders note for their
/// status besides.
#[derive(Clone, Debug, Default)]
pub struct Draft<M = ()> {
    /// Writes so far.
    pub steps: Vec<Step>,
    /// Where the parts behind the first one begin.
    pub parts: Vec<usize>,
    /// Waits so far, the most telling first.
    pub waits: Vec<Wait>,
    /// Events without a step.
    pub events: Vec<Event>,
    /// What needs a person, the most telling first.
    pub troubles: Vec<Trouble>,
    /// When to look again although nothing is waited for.
    pub wake: Option<Timestamp>,
    /// What only this mind notes.
    pub more: M,
}

impl<M> Draft<M> {
    /// Wait for what the sentence says, until something changes; the answer can
    /// be given the object and a time: `.about(…).until(…)`.
    pub fn wait_for(&mut self, sentence: impl Reasoned) -> &mut Wait {
        self.waits.push(Wait::new(sentence.reason(), sentence));
        let last = self.waits.len() - 1;
        &mut self.waits[last]
    }

    /// Note something that a person should look at.
    pub fn report(&mut self, sentence: impl Reasoned) {
        self.troubles.push(Trouble::of(sentence));
    }

    /// Look again at this time. Nothing is waited for, and the status says nothing of it.
    pub fn wake_at(&mut self, time: Timestamp) {
        self.wake = self.wake.into_iter().chain([time]).min();
    }

    /// Add what another draft has found; of `more` and of parts this one's stay.
    pub fn take(&mut self, other: Draft<M>) {
        self.steps.extend(other.steps);
        self.waits.extend(other.waits);
        self.events.extend(other.events);
        self.troubles.extend(other.troubles);
        self.wake = self.wake.into_iter().chain(other.wake).min();
    }

    /// Is anything being done besides stating what objects should be?
    pub fn has_work(&self) -> bool {
        !self.steps.iter().all(is_upkeep)
    }

    /// Does a step stop a process or lose data? One such step at a time.
    pub fn is_disruptive(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Delete { loss, .. } => *loss != Loss::Nothing,
            Step::Apply { .. }
            | Step::Create { .. }
            | Step::Patch { .. }
            | Step::CompareAndSet { .. }
            | Step::Issue { .. } => false,
        })
    }

    /// The plan, with this status.
    pub fn plan(self, status: Value) -> Plan {
        let Draft { steps, parts, waits, events, wake, .. } = self;
        Plan { steps, parts, status, events, waits, wake, figures: Vec::new() }
    }
}

/// Does a step state what an object that exists should be? It is sent only
/// where it differs, and stating it is no progress.
pub fn is_upkeep(step: &Step) -> bool {
    let Step::Apply { precondition, .. } = step else {
        return false;
    };
    matches!(precondition, Precondition::Uid(_) | Precondition::Version { .. })
}
