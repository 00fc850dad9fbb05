//! A decision in the making: what the deciders have found so far.

use palladion_api::reasons::Reason;
use palladion_plan::{Event, EventType, Precondition, Step, Wait};

/// A decision in the making.
#[derive(Debug, Default)]
pub struct Draft {
    /// Writes so far.
    pub steps: Vec<Step>,
    /// Waits so far, the most telling first.
    pub waits: Vec<Wait>,
    /// Events so far.
    pub events: Vec<Event>,
    /// What needs a person.
    pub troubles: Vec<(Reason, String)>,
}

impl Draft {
    /// Wait for something, looking again when it changes.
    pub fn wait(&mut self, reason: Reason, message: String) {
        self.waits.push(Wait { reason: reason.as_str(), message, until: None });
    }

    /// Wait, and look again at a time even if nothing changes.
    pub fn wait_until(&mut self, reason: Reason, message: String, until: jiff::Timestamp) {
        self.waits.push(Wait { reason: reason.as_str(), message, until: Some(until) });
    }

    /// Add what another draft has found.
    pub fn take(&mut self, other: Draft) {
        self.steps.extend(other.steps);
        self.waits.extend(other.waits);
        self.events.extend(other.events);
        self.troubles.extend(other.troubles);
    }

    /// Is anything being done besides stating what objects should be?
    pub fn has_work(&self) -> bool {
        !self.steps.iter().all(is_upkeep)
    }

    /// Note something that a person should look at.
    pub fn trouble(&mut self, reason: Reason, message: String) {
        self.troubles.push((reason, message));
    }
}

/// An apply of an object that exists is sent only where it differs; stating
/// it is no progress.
pub fn is_upkeep(step: &Step) -> bool {
    matches!(step, Step::Apply { precondition: Precondition::Uid(_), .. })
}

/// A normal event.
pub fn synced(message: String) -> Option<Event> {
    Some(Event { type_: EventType::Normal, reason: Reason::Synced.as_str(), message })
}
