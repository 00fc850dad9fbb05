//! `rollout: Versioned`: a second set beside the first; the old one is deleted
//! when a pod of the new one is ready (see `superseded`). As in
//! QuarksStatefulSet, "Extended Upgrade Support".

use super::draft::Draft;
use super::goal::Goal;
use super::{creation, rollout, version};
use crate::build::set::Config;
use crate::facts::Facts;
use crate::validate::Valid;

/// The sets of the newest version.
pub fn decide(facts: &Facts<'_>, valid: &Valid, config: &Config, draft: &mut Draft) {
    let version = version::newest(facts, valid, config);
    for goal in Goal::all(valid, config, version) {
        if let Some(set) = creation::existing(facts, valid, &goal, draft) {
            let next = rollout::advance(facts, valid, set, None, draft);
            rollout::state(facts, valid, &goal, set, next, draft);
        }
    }
}
