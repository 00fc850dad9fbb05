//! The default Services: made, kept, and taken away when no longer wanted.

use super::Draft;
use crate::build;
use crate::facts::Facts;
use crate::resources::SERVICE;
use crate::validate::Valid;
use palladion_plan::{Loss, Propagation};

/// Make the wanted ones, delete the others of ours.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let wanted = build::services::wanted(valid);
    for seen in facts.objects(SERVICE) {
        let is_wanted = wanted.iter().any(|w| w["metadata"]["name"] == seen.meta.name.as_str());
        if !is_wanted && seen.meta.is_controlled_by(&valid.uid) && !seen.meta.is_terminating() {
            draft.delete(SERVICE, seen, Loss::Nothing, Propagation::Background, None);
        }
    }
    for service in wanted {
        draft.apply(facts, SERVICE, service, None);
    }
}
