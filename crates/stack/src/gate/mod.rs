//! The gate of a pod: what the kubelet and the pod's labels say of it, and the
//! patches that give or empty a ticket. A ticket is for one start of the init
//! container: one that is left from before opens nothing.

#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use palladion_api::component::names::RELOADED;
use palladion_api::gate::{CONFIG, CONTAINER, GIVEN, INIT, READY, STATUS, TICKET, Ticket};
use palladion_plan::workload::pod::{InitContainer, InitState, PodFact};
use serde_json::{Value, json};

/// A ticket that was not used for so long is followed by another: the clock of
/// the node may have been set, or the container's start was reported late.
pub const UNUSED: SignedDuration = SignedDuration::from_secs(60);

/// How the gate of a pod stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stand<'a> {
    /// The gate is not there: its container was not started, or has failed and will be started again.
    Absent,
    /// It waits for a ticket.
    Waiting {
        /// The start that a ticket would be for.
        start: Start<'a>,
        /// What an earlier start has left.
        label: Label,
    },
    /// It has a ticket that it has not used yet.
    Open {
        /// The start that the ticket is for.
        start: Start<'a>,
        /// When it was given.
        given: Timestamp,
    },
    /// It has let the pod through.
    Passed,
}

/// One start of the init container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start<'a> {
    /// ID of the container.
    pub id: &'a str,
    /// When it started, by the clock of its node.
    pub since: Timestamp,
}

/// What the label `status` of a pod says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Nothing.
    Empty,
    /// That an earlier start was let through.
    LeftOver,
}

/// Where among the init containers the gate is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// Where it should be.
    First,
    /// Behind this one, which somebody has put before it.
    Behind(&'a str),
    /// It is none of them: somebody has removed it.
    Nowhere,
}

/// How the gate of a pod stands.
pub fn stand(pod: &PodFact) -> Stand<'_> {
    let Some(init) = init(pod) else {
        return Stand::Absent;
    };
    let since = match init.state {
        InitState::Running { since } => since,
        InitState::Ended { code: 0 } => return Stand::Passed,
        InitState::Ended { .. } | InitState::Waiting => return Stand::Absent,
    };
    let Some(id) = init.id.as_deref() else {
        return Stand::Absent;
    };
    let start = Start { id, since };
    let is_labelled = pod.labels.get(STATUS).is_some_and(|status| status == READY);
    let is_for_it = pod.annotations.get(CONTAINER).is_some_and(|container| container == id);
    let given = pod.annotations.get(GIVEN).and_then(|time| time.parse().ok());
    match given {
        Some(given) if is_labelled && is_for_it => Stand::Open { start, given },
        Some(_) | None => {
            let label = if is_labelled { Label::LeftOver } else { Label::Empty };
            Stand::Waiting { start, label }
        }
    }
}

fn init(pod: &PodFact) -> Option<&InitContainer> {
    pod.init.iter().find(|container| container.name == INIT)
}

/// Where among the init containers the gate is. One behind another may be
/// skipped when the pod's sandbox is made again (kubernetes/kubernetes#124002).
pub fn place(pod: &PodFact) -> Place<'_> {
    match pod.init.first() {
        Some(first) if first.name == INIT => Place::First,
        Some(first) if init(pod).is_some() => Place::Behind(&first.name),
        Some(_) | None => Place::Nowhere,
    }
}

/// The ticket that a pod was given last.
pub fn last_ticket(pod: &PodFact) -> Option<Ticket> {
    pod.labels.get(TICKET).and_then(|ticket| ticket.parse().ok())
}

/// Hash of the files that the process of a pod has: those that its gate says it has let
/// through, or those that it was asked to read since. A gate may use one ticket while the
/// next, for other files, is on its way to it, so that the label says less than the gate.
pub fn runs_with(pod: &PodFact) -> Option<&str> {
    // A ticket takes it back. Times are not compared: they are of the clocks of two leaders.
    let is_asked = pod.annotations.get(RELOADED).is_some_and(|asked| !asked.is_empty());
    let said = init(pod).filter(|gate| gate.state == InitState::Ended { code: 0 });
    let said = said.and_then(|gate| gate.said.as_deref()).filter(|_| !is_asked);
    // Gates of older releases say nothing.
    said.or_else(|| config_of(pod))
}

/// Hash of the files that the pod's ticket is for, or that it was asked to read since.
pub fn config_of(pod: &PodFact) -> Option<&str> {
    pod.labels.get(CONFIG).map(String::as_str).filter(|hash| !hash.is_empty())
}

/// The patch that gives a ticket for a start.
pub fn give(pod: &PodFact, start: Start<'_>, config: &str, now: Timestamp) -> Value {
    let number = last_ticket(pod).map_or(1, |last| last.number.saturating_add(1));
    let ticket = Ticket { number, start: start.since.as_second() };
    json!({ "metadata": {
        "labels": { STATUS: READY, TICKET: ticket.to_string(), CONFIG: config },
        "annotations": { CONTAINER: start.id, GIVEN: now.to_string(), RELOADED: null },
    } })
}

/// The patch that takes back what an earlier start has left.
pub fn empty() -> Value {
    json!({ "metadata": { "labels": { STATUS: "" } } })
}
