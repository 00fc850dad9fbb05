//! Making a set that does not exist.

use super::rollout::Goal;
use super::{Draft, normal};
use crate::build::set::{self, Wanted};
use crate::facts::Facts;
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::RolloutState as State;
use palladion_plan::workload::pod::PodFact;

/// Make a set that does not exist. Pods of its name may be there, if the set
/// was made anew around them: these are not touched by it.
pub fn create(facts: &Facts<'_>, valid: &Valid, goal: &Goal<'_>, draft: &mut Draft) {
    let name = valid.set_name(goal.zone, goal.version);
    let orphans = facts.orphans(&name);
    let made_from = |p: &PodFact| p.spec_hash() == Some(&goal.hash);
    let (state, partition) = match orphans.as_slice() {
        [] => (State::Rollout, 0),
        pods if pods.iter().all(made_from) => (State::Done, valid.replicas),
        _ => (State::Pending, valid.replicas),
    };
    let wanted = Wanted {
        zone: goal.zone,
        version: goal.version,
        config: goal.config,
        state,
        started: facts.seconds(),
        replicas: valid.replicas,
        partition,
        fixed: set::fixed(valid),
    };
    let event =
        normal(Reason::Synced, format!("StatefulSet {name} created in version {}", goal.version));
    draft.apply(facts, STATEFUL_SET, set::stateful_set(valid, &wanted), event);
    draft.wait(Reason::CreatingObjects, format!("StatefulSet {name} is being made"));
}
