//! The default Services: created, kept, and deleted when they are not wanted.

use super::draft::{Draft, apply};
use crate::build;
use crate::facts::Facts;
use crate::resources::SERVICE;
use crate::validate::Valid;
use crate::words::objects::Doing;
use palladion_plan::{Loss, ObjectKey, Step};

/// Create the wanted ones, delete the others of ours.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let wanted = build::services::wanted(valid);
    for seen in facts.objects(SERVICE) {
        let is_wanted = wanted.iter().any(|w| w["metadata"]["name"] == seen.meta.name.as_str());
        if !is_wanted && seen.meta.is_controlled_by(&valid.uid) && !seen.meta.is_terminating() {
            let what = ObjectKey::new(SERVICE, &seen.meta.namespace, &seen.meta.name).to_string();
            let doing = Doing::Delete { what };
            draft.steps.push(Step::delete_seen(SERVICE, &seen.meta, Loss::Nothing, doing));
        }
    }
    for service in wanted {
        apply(facts, SERVICE, service, (None, None), draft);
    }
}
