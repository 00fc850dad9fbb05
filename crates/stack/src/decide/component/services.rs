//! The Services: created, kept, and deleted when their pods are gone.

use crate::build;
use crate::decide::draft::{Draft, apply};
use crate::facts::Facts;
use crate::resources::SERVICE;
use crate::validate::Valid;
use crate::words::objects::Doing;
use palladion_plan::{Loss, ObjectKey, Step};

/// Create the wanted ones; delete those of pods that are gone for good.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let wanted = build::services::wanted(valid);
    for seen in facts.objects(SERVICE) {
        let name = seen.meta.name.as_str();
        let is_wanted = wanted.iter().any(|w| w["metadata"]["name"] == name);
        let has_pod = facts.pods.iter().any(|p| p.name == name);
        let is_ours = seen.meta.is_controlled_by(&valid.uid) && !seen.meta.is_terminating();
        if is_ours && !is_wanted && !has_pod {
            let what = ObjectKey::new(SERVICE, &seen.meta.namespace, name).to_string();
            let doing = Doing::Delete { what };
            draft.steps.push(Step::delete_seen(SERVICE, &seen.meta, Loss::Nothing, doing));
        }
    }
    for service in wanted {
        apply(facts.snapshot, SERVICE, service, (None, None), draft);
    }
}
