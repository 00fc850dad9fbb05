//! `rollout: Versioned`: a second set beside the first; the old one is deleted
//! when a pod of the new one is ready (see `superseded`). As in
//! QuarksStatefulSet, "Extended Upgrade Support".

use super::rollout::{self, Goal};
use super::{Draft, creation, version};
use crate::build::set::{self, Config};
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::reasons::Reason;

/// The sets of the newest version.
pub fn decide(facts: &Facts<'_>, valid: &Valid, config: &Config, draft: &mut Draft) {
    let version = version::newest(facts, valid, config);
    for zone in &valid.zones {
        let goal = Goal { zone, config, version, hash: set::hash(valid, zone, config) };
        let name = valid.set_name(zone, version);
        draft.wanted.insert(name.clone());
        match facts.sets.get(&name) {
            None => creation::create(facts, valid, &goal, draft),
            Some(set) if set.is_terminating() => {
                draft.wait(
                    Reason::CreatingObjects,
                    format!("StatefulSet {name} is being deleted; it is made again after that"),
                );
            }
            Some(set) => {
                let next = rollout::advance(facts, valid, set, None, draft);
                rollout::state(facts, valid, &goal, set, next, draft);
            }
        }
    }
}
