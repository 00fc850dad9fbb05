//! The order of decisions for one owner: a table of contents. Each decider
//! lives in the file named for what it decides.

pub mod active;
pub mod claims;
pub mod config;
pub mod creation;
pub mod draft;
pub mod evidence;
pub mod goal;
pub mod obstacles;
pub mod partitioned;
pub mod pods;
pub mod readiness;
pub mod recreate;
pub mod rollout;
pub mod services;
pub mod superseded;
pub mod version;
pub mod versioned;
pub mod zones;

use crate::facts::Facts;
use crate::validate::Valid;
use draft::Draft;
use palladion_api::zoned_stateful_set::Rollout;

/// All deciders, in order.
pub fn decide(facts: &Facts<'_>, valid: &Valid) -> Draft {
    let mut draft = Draft::default();
    services::decide(facts, valid, &mut draft);
    zones::decide(facts, valid, &mut draft);
    if let Some(config) = config::decide(facts, valid, &mut draft) {
        match valid.spec.rollout {
            Rollout::Versioned => versioned::decide(facts, valid, &config, &mut draft),
            Rollout::Partitioned => partitioned::decide(facts, valid, &config, &mut draft),
            Rollout::Recreate => recreate::decide(facts, valid, &config, &mut draft),
        }
        superseded::decide(facts, valid, &mut draft);
    }
    pods::decide(facts, valid, &mut draft);
    // A plan ends at the first step that is refused. A storage class may refuse
    // to let a claim grow, so that comes last; a mistake in the template must
    // not hold up a fail-over, so that comes first.
    claims::decide(facts, valid, &mut draft);
    let others = std::mem::take(&mut draft.steps);
    active::decide(facts, valid, &mut draft);
    draft.steps.extend(others);
    draft
}
