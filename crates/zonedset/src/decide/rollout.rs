//! One set in place: what its rollout does next. Shared by all ways of rolling.

use super::proof::{culprit, first_unproven, limit, missing};
use super::{Draft, claims, normal, obstacles, warning};
use crate::build::set::{self, Config, Wanted};
use crate::facts::{Facts, SetFact};
use crate::resources::STATEFUL_SET;
use crate::validate::{Valid, Zone};
use jiff::Timestamp;
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::{RolloutState as State, names};
use palladion_plan::Event;
use palladion_plan::hash;
use palladion_plan::workload::pod::PodFact;

/// What a zone's set should be made from.
#[derive(Debug, Clone)]
pub struct Goal<'a> {
    /// The zone.
    pub zone: &'a Zone,
    /// Configuration.
    pub config: &'a Config,
    /// Version for a template that is written now.
    pub version: i64,
    /// Hash of what pods are made from.
    pub hash: String,
}

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
    draft.apply(facts, STATEFUL_SET, object, next.event);
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
    obstacles::clear(set, draft);
    match set.state {
        State::Done => {
            let words = set.pods.iter().find(|p| !p.is_ready()).map(PodFact::words);
            if let Some(words) = words.or_else(|| missing(set)) {
                draft.messages.insert(set.name.clone(), words.clone());
                draft.wait(Reason::PodsNotReady, words);
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
                let event = normal(
                    Reason::Synced,
                    format!("StatefulSet {}: all pods are ready after all", set.name),
                );
                return Next { event, ..stay(State::Done, 0) };
            }
            let words = format!("the rollout of StatefulSet {} failed: {}", set.name, culprit(set));
            draft.messages.insert(set.name.clone(), words.clone());
            draft.trouble(Reason::RolloutFailed, words);
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
    let started = facts.seconds();
    if let Some(other) = behind {
        let words =
            format!("StatefulSet {} waits for {other}: zones roll one after another", set.name);
        draft.messages.insert(set.name.clone(), words.clone());
        draft.wait(Reason::RollingOut, words);
        let started = set.started.unwrap_or(started);
        return Next { state: State::Pending, partition: valid.replicas, started, event: None };
    }
    draft.wait(
        Reason::RollingOut,
        format!("the canary of StatefulSet {} gets version {}", set.name, set.version),
    );
    let ordered = set.object.str_at("/spec/podManagementPolicy") == Some("OrderedReady");
    if valid.replicas == 0 || (ordered && set.ready() == 0) {
        // Nothing serves that a canary could protect, and under OrderedReady
        // broken pods of lower numbers would keep it from being made.
        return Next { state: State::Rollout, partition: 0, started, event: None };
    }
    let event = normal(
        Reason::RollingOut,
        format!(
            "StatefulSet {}: pod {} is the canary of version {}",
            set.name,
            valid.replicas - 1,
            set.version
        ),
    );
    Next { state: State::Canary, partition: valid.replicas - 1, started, event }
}

/// One more pod, when those that have the template are available.
fn step(facts: &Facts<'_>, valid: &Valid, set: &SetFact, draft: &mut Draft) -> Next {
    let started = set.started.unwrap_or(facts.seconds());
    let partition = set.partition.min(valid.replicas);
    let Some((words, again)) = first_unproven(facts, valid, set, partition) else {
        if partition == 0 {
            let event = normal(
                Reason::Synced,
                format!("StatefulSet {}: version {} runs in all pods", set.name, set.version),
            );
            return Next { state: State::Done, partition: 0, started, event };
        }
        draft.wait(
            Reason::RollingOut,
            format!("StatefulSet {}: pod {} gets version {}", set.name, partition - 1, set.version),
        );
        return Next { state: State::Rollout, partition: partition - 1, started, event: None };
    };
    let deadline = started + limit(valid, set);
    if facts.now() >= deadline {
        let event = warning(
            Reason::RolloutFailed,
            format!(
                "StatefulSet {}: version {} was not ready in time: {words}",
                set.name, set.version
            ),
        );
        draft.trouble(
            Reason::RolloutFailed,
            format!("the rollout of StatefulSet {} failed: {words}", set.name),
        );
        return Next { state: State::Failed, partition, started, event };
    }
    draft.messages.insert(set.name.clone(), words.clone());
    let since =
        format!("StatefulSet {} rolls version {} since {started}: {words}", set.name, set.version);
    draft.wait_until(Reason::RollingOut, since, again.map_or(deadline, |a| a.min(deadline)));
    Next { state: set.state, partition, started, event: None }
}

/// The annotation of a set's state, for a patch that leaves its template alone.
pub fn state_annotations(state: State, started: Timestamp) -> serde_json::Value {
    serde_json::json!({ names::STATE: state.as_str(), names::STARTED: started.to_string() })
}
