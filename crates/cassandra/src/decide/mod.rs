//! The order of decisions for one cluster: a table of contents. Each decider
//! lives in the file named for what it decides.

pub mod broken;
pub mod claims;
pub mod debts;
pub mod departed;
pub mod epoch;
pub mod evidence;
pub mod failed_start;
pub mod founding;
pub mod garbage;
pub mod given_up;
pub mod going_without;
pub mod gone;
pub mod grant;
pub mod joining;
pub mod leave_refused;
pub mod leaving;
pub mod leaving_steps;
pub mod lost;
pub mod members;
pub mod new_address;
pub mod next_join;
pub mod next_leave;
pub mod node_gone;
pub mod objects;
pub mod quarantine;
pub mod racks;
pub mod recreating;
pub mod removing;
pub mod replace_by_hand;
pub mod replacing;
pub mod replicas;
pub mod restart_steps;
pub mod restarting;
pub mod resuming;
pub mod returning;
pub mod revisions;
pub mod rollout;
pub mod runtime_settings;
pub mod seeds;
pub mod stopping;
pub mod system_keyspaces;
pub mod task;
pub mod tasks;
pub mod teardown;
pub mod turn;
pub mod upgraded;
pub mod versions;
pub mod volumes;

use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::reasons::Reason;
use palladion_plan::{Event, EventType, Step, Wait};

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
        !self.steps.iter().all(crate::status::is_upkeep)
    }

    /// Note something that a person should look at.
    pub fn trouble(&mut self, reason: Reason, message: String) {
        self.troubles.push((reason, message));
    }
}

/// A normal event.
pub fn synced(message: String) -> Option<Event> {
    Some(Event { type_: EventType::Normal, reason: Reason::Synced.as_str(), message })
}

/// All deciders, in order. Objects first, so that every member has its
/// address and its record before anything starts; then who may start.
pub fn decide(facts: &Facts<'_>, valid: &Valid) -> Draft {
    let mut draft = Draft::default();
    epoch::decide(facts, &mut draft);
    objects::decide(facts, valid, &mut draft);
    members::decide(facts, valid, &mut draft);
    runtime_settings::decide(facts, valid, &mut draft);
    claims::decide(facts, valid, &mut draft);
    going_without::decide(facts, valid, &mut draft);
    node_gone::decide(facts, valid, &mut draft);
    replace_by_hand::decide(facts, valid, &mut draft);
    tasks::decide(facts, valid, &mut draft);
    volumes::decide(facts, valid, &mut draft);
    revisions::decide(facts, valid, &mut draft);
    upgraded::decide(facts, valid, &mut draft);
    turn::decide(facts, valid, &mut draft);
    departed::decide(facts, valid, &mut draft);
    racks::decide(facts, valid, &mut draft);
    garbage::decide(facts, valid, &mut draft);
    draft
}
