//! Claims of a Component whose storage class is there. It is looked for until there is a
//! set, whose claims do not change any more.

use crate::facts::Facts;
use crate::resources::STORAGE_CLASS;
use crate::words::refusal::Refusal;
use palladion_api::ComponentSpec;
use palladion_plan::workload::storage_class::{NoClass, find};

/// Are the storage classes of all claims there?
///
/// # Errors
/// The first that is not, and how to comply.
pub fn check(facts: &Facts<'_>, spec: &ComponentSpec) -> Result<(), Refusal> {
    if facts.set.is_some() {
        return Ok(());
    }
    for template in &spec.volume_claim_templates {
        let claim = template["metadata"]["name"].as_str().unwrap_or_default().to_string();
        let class = template["spec"]["storageClassName"].as_str();
        find(class, facts.objects(STORAGE_CLASS)).map_err(|missing| match missing {
            NoClass::Named(class) => Refusal::NoClass { claim, class },
            NoClass::Default => Refusal::NoDefaultClass { claim },
        })?;
    }
    Ok(())
}
