//! One set in place: what its rollout does next. Shared by all ways of rolling.

use super::draft::{Draft, apply, wait_for_set, wait_in_set};
use super::evidence::{self, Written, first_unproven};
use super::goal::Goal;
use super::readiness::{culprit, limit, unready};
use super::{claims, obstacles};
use crate::build::set::{self, Wanted};
use crate::facts::{Facts, SetFact};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use crate::words::rollout::{Happened, Problem, Waiting};
use jiff::Timestamp;
use palladion_api::zoned_stateful_set::{RolloutState as State, names};
use palladion_plan::Event;
use palladion_plan::hash;

/// Where a set goes next.
#[derive(Debug)]
pub struct Next {
    /// State.
    pub state: State,
    /// Partition.
    pub partition: i32,
    /// Beginning of the rollout, or of its canary.
    pub started: Timestamp,
    /// Event for the change.
    pub event: Option<Event>,
}

/// State the set as it should be now. Its template is written again only if it
/// was made from something else, or where pods are not touched by that.
pub fn state(
    facts: &Facts<'_>,
    valid: &Valid,
    goal: &Goal<'_>,
    set: &SetFact,
    next: Next,
    draft: &mut Draft,
) {
    let version = if set.hash == goal.hash { set.version } else { goal.version };
    let mut wanted = Wanted {
        zone: goal.zone,
        version,
        config: goal.config,
        state: next.state,
        started: next.started,
        replicas: valid.replicas,
        partition: next.partition.min(valid.replicas).max(0),
        fixed: claims::fixed(valid, set),
    };
    let mut object = set::stateful_set(valid, &wanted);
    let is_silent = set.hash == goal.hash && set.template != hash::of(&object["spec"]["template"]);
    if is_silent && next.state == State::Done {
        // Only the number of replicas or the list of zones in it has changed:
        // pods that run keep what they have, pods that are made get the new one.
        wanted.partition = set.replicas.min(valid.replicas);
        object = set::stateful_set(valid, &wanted);
    }
    let Wanted { replicas, partition, .. } = wanted;
    let written = Written { hash: &goal.hash, replicas, partition };
    let proof = evidence::may_be_written(facts, valid, set, written);
    apply(facts, STATEFUL_SET, object, (proof, next.event), draft);
}

/// The next step of a set whose template is the wanted one.
pub fn advance(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    behind: Option<&str>,
    draft: &mut Draft,
) -> Next {
    let stay = |state, partition| Next {
        state,
        partition,
        started: set.started.unwrap_or(facts.seconds()),
        event: None,
    };
    obstacles::clear(facts, set, draft);
    match set.state {
        State::Done => {
            if let Some(pod) = unready(set) {
                wait_in_set(draft, &set.name, Waiting::PodNotReady { pod });
            }
            stay(State::Done, set.partition)
        }
        State::Pending => begin(facts, valid, set, behind, draft),
        State::Stopping => {
            Next { state: State::Rollout, partition: 0, started: facts.seconds(), event: None }
        }
        State::Canary if valid.replicas != set.replicas => stay(State::Pending, valid.replicas),
        State::Canary | State::Rollout => step(facts, valid, set, draft),
        State::Failed => {
            if first_unproven(facts, valid, set, 0).is_none() {
                let event = Event::normal(Happened::Recovered { set: set.name.clone() });
                return Next { event: Some(event), ..stay(State::Done, 0) };
            }
            let failed = Problem::Failed { set: set.name.clone(), culprit: culprit(set) };
            draft.more.messages.insert(set.name.clone(), failed.clone().into());
            draft.report(failed);
            let scaled_up = valid.replicas > set.replicas;
            stay(State::Failed, if scaled_up { valid.replicas } else { set.partition })
        }
    }
}

/// The template is written; give it to the first pod when it is this zone's turn.
fn begin(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    behind: Option<&str>,
    draft: &mut Draft,
) -> Next {
    let (name, version, started) = (set.name.clone(), set.version, facts.seconds());
    if let Some(other) = behind {
        wait_in_set(draft, &set.name, Waiting::OtherZone { set: name, other: other.to_string() });
        let started = set.started.unwrap_or(started);
        return Next { state: State::Pending, partition: valid.replicas, started, event: None };
    }
    let ordered = set.object.str_at("/spec/podManagementPolicy") == Some("OrderedReady");
    if valid.replicas == 0 || (ordered && set.ready() == 0) {
        // Nothing serves that a canary could protect, and under OrderedReady
        // broken pods of lower numbers would keep it from being created.
        wait_for_set(draft, &set.name, Waiting::Written { set: name, version });
        return Next { state: State::Rollout, partition: 0, started, event: None };
    }
    wait_for_set(draft, &set.name, Waiting::Canary { set: name.clone(), version });
    let ordinal = valid.replicas - 1;
    let event = Some(Event::normal(Happened::Canary { set: name, ordinal, version }));
    Next { state: State::Canary, partition: ordinal, started, event }
}

/// One more pod, when those that have the template are available.
fn step(facts: &Facts<'_>, valid: &Valid, set: &SetFact, draft: &mut Draft) -> Next {
    let (name, version) = (set.name.clone(), set.version);
    let started = set.started.unwrap_or(facts.seconds());
    let partition = set.partition.min(valid.replicas);
    let Some((unproven, again)) = first_unproven(facts, valid, set, partition) else {
        if partition == 0 {
            let event = Some(Event::normal(Happened::Done { set: name, version }));
            return Next { state: State::Done, partition: 0, started, event };
        }
        let ordinal = partition - 1;
        wait_for_set(draft, &set.name, Waiting::NextPod { set: name, ordinal, version });
        return Next { state: State::Rollout, partition: ordinal, started, event: None };
    };
    let deadline = started + limit(valid, set);
    if facts.now() >= deadline {
        draft.report(Problem::TimedOut { set: name.clone(), unproven: unproven.clone() });
        let event = Some(Event::warning(Happened::TimedOut { set: name, version, unproven }));
        return Next { state: State::Failed, partition, started, event };
    }
    draft.more.messages.insert(name.clone(), unproven.clone().into());
    wait_for_set(draft, &set.name, Waiting::Unproven { set: name, version, started, unproven })
        .until(again.map_or(deadline, |a| a.min(deadline)));
    Next { state: set.state, partition, started, event: None }
}

/// The annotation of a set's state, for a patch that leaves its template alone.
pub fn state_annotations(state: State, started: Timestamp) -> serde_json::Value {
    serde_json::json!({ names::STATE: state.as_str(), names::STARTED: started.to_string() })
}
