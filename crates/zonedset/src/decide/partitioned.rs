//! `rollout: Partitioned`: in place, a canary first, then one pod after another
//! from the highest down, zone after zone. As the code of QuarksStatefulSet does.

use super::draft::{Draft, wait_for_set};
use super::goal::Goal;
use super::rollout::{self, Next};
use super::{claims, creation, version};
use crate::build::set::Config;
use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use crate::words::rollout::{Happened, Waiting};
use palladion_api::zoned_stateful_set::RolloutState as State;
use palladion_plan::Event;

/// Every zone's set, in order.
pub fn decide(facts: &Facts<'_>, valid: &Valid, config: &Config, draft: &mut Draft) {
    let version = version::newest(facts, valid, config);
    let mut behind: Option<&str> = None;
    for goal in Goal::all(valid, config, version) {
        let Some(set) = creation::existing(facts, valid, &goal, draft) else {
            continue;
        };
        if claims::recreate(facts, valid, set, draft).is_busy() {
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
    let (name, version) = (set.name.clone(), goal.version);
    wait_for_set(draft, &set.name, Waiting::Written { set: name.clone(), version });
    Next {
        state: State::Pending,
        partition: valid.replicas,
        started: facts.seconds(),
        event: Some(Event::normal(Happened::Written { set: name, version })),
    }
}
