//! `rollout: Partitioned`: in place, a canary first, then one pod after another
//! from the highest down, zone after zone. As the code of QuarksStatefulSet does.

use super::rollout::{self, Goal, Next};
use super::{Draft, claims, creation, normal, version};
use crate::build::set::{self, Config};
use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::RolloutState as State;

/// Every zone's set, in order.
pub fn decide(facts: &Facts<'_>, valid: &Valid, config: &Config, draft: &mut Draft) {
    let version = version::newest(facts, valid, config);
    let mut behind: Option<&str> = None;
    for zone in &valid.zones {
        let goal = Goal { zone, config, version, hash: set::hash(valid, zone, config) };
        let name = valid.set_name(zone, version);
        draft.wanted.insert(name.clone());
        let Some(set) = facts.sets.get(&name) else {
            creation::create(facts, valid, &goal, draft);
            continue;
        };
        if set.is_terminating() {
            draft.wait(
                Reason::CreatingObjects,
                format!("StatefulSet {name} is being deleted; it is made again after that"),
            );
            continue;
        }
        if claims::recreate(facts, valid, set, draft) {
            continue;
        }
        let next = match set.hash == goal.hash {
            true => rollout::advance(facts, valid, set, behind, draft),
            false => write(facts, valid, &goal, set, draft),
        };
        if next.state != State::Done && behind.is_none() {
            behind = Some(&set.name);
        }
        rollout::state(facts, valid, &goal, set, next, draft);
    }
}

/// Write the new template so that no pod gets it yet. Pods that are lost
/// meanwhile come back from the old one.
fn write(
    facts: &Facts<'_>,
    valid: &Valid,
    goal: &Goal<'_>,
    set: &SetFact,
    draft: &mut Draft,
) -> Next {
    draft.wait(
        Reason::RollingOut,
        format!("StatefulSet {} gets the template of version {}", set.name, goal.version),
    );
    Next {
        state: State::Pending,
        partition: valid.replicas,
        started: facts.seconds(),
        event: normal(
            Reason::RollingOut,
            format!("StatefulSet {}: version {} is written", set.name, goal.version),
        ),
    }
}
