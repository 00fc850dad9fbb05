//! From facts to what validation looks at.

use crate::decide::{racks, versions};
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::{ConfigMapFact, Input, IsDefault, Refusal, Valid, validate};
use palladion_plan::{ObjectKey, Observed};

/// The annotation that marks the default storage class.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Validate a cluster with what is known around it.
pub fn validated(facts: &Facts<'_>) -> Result<Valid, Refusal> {
    let owner = &facts.snapshot.owner;
    let config_map = |name: &str| {
        let key = ObjectKey::new(kinds::CONFIG_MAP, &owner.meta.namespace, name);
        match facts.snapshot.references.get(&key) {
            Some(Observed::Known { value: Some(map), .. }) => ConfigMapFact::Present(map.clone()),
            Some(Observed::Known { value: None, .. }) => ConfigMapFact::Missing,
            Some(Observed::Unknown { why }) => ConfigMapFact::Unknown(why.clone()),
            None => ConfigMapFact::Unknown("it is not watched yet".into()),
        }
    };
    let storage_classes = facts
        .objects(kinds::STORAGE_CLASS)
        .iter()
        .map(|class| {
            let default = class.meta.annotations.get(DEFAULT_CLASS).is_some_and(|v| v == "true");
            (class.meta.name.clone(), if default { IsDefault::Yes } else { IsDefault::No })
        })
        .collect();
    validate(&Input {
        owner,
        spec: &facts.spec,
        settings: &facts.snapshot.settings,
        operator_config: facts.operator_config.as_ref(),
        config_map: &config_map,
        storage_classes,
        sets: facts.sets.keys().cloned().collect(),
        dropped: racks::dropped(facts),
        newest_line: versions::newest_line(facts),
    })
}
