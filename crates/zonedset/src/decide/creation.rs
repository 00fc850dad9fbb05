//! Creating a set that does not exist.

use super::draft::{Draft, apply, wait_for_set};
use super::goal::Goal;
use crate::build::set::{self, Wanted};
use crate::facts::{Facts, SetFact};
use crate::resources::{POD, STATEFUL_SET};
use crate::validate::Valid;
use crate::words::objects::{Happened, Waiting};
use palladion_api::zoned_stateful_set::RolloutState as State;
use palladion_plan::workload::former;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Event, ObjectKey};

/// The set of a goal, if it exists and stays. If not, it is created, now or when
/// the one that is being deleted is gone.
pub fn existing<'a>(
    facts: &'a Facts<'_>,
    valid: &Valid,
    goal: &Goal<'_>,
    draft: &mut Draft,
) -> Option<&'a SetFact> {
    let name = valid.set_name(goal.zone, goal.version);
    draft.more.wanted.insert(name.clone());
    match facts.sets.get(&name) {
        None => create(facts, valid, goal, draft),
        Some(set) if set.is_terminating() => {
            wait_for_set(draft, &name, Waiting::BeingDeleted { set: name.clone() });
        }
        Some(set) => return Some(set),
    }
    None
}

/// Create a set that does not exist. Pods of its name may be there, if the set
/// is being recreated around them: these are not touched by it.
fn create(facts: &Facts<'_>, valid: &Valid, goal: &Goal<'_>, draft: &mut Draft) {
    let name = valid.set_name(goal.zone, goal.version);
    let pods = facts.objects(POD);
    if let Some(former) = former::in_the_way(pods, &name, facts.now()) {
        let what = ObjectKey::new(STATEFUL_SET, &facts.snapshot.owner.meta.namespace, &name);
        wait_for_set(draft, &name, former.blocks(what)).until = former.until;
        return;
    }
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
    let created = Happened::Created { set: name.clone(), version: goal.version };
    let object = set::stateful_set(valid, &wanted);
    apply(facts, STATEFUL_SET, object, (None, Some(Event::normal(created))), draft);
    wait_for_set(draft, &name, Waiting::Created { set: name.clone() });
}
