//! From facts to what validation looks at.

use crate::facts::{Facts, lines};
use crate::generations::Generations;
use crate::internode;
use crate::resources as kinds;
use crate::validate::{ConfigMapFact, Input, IsDefault, Valid, validate};
use crate::words::refusal::{Refusal, Unread};
use palladion_api::ids::RackName;
use palladion_api::{labels, names};
use palladion_plan::{ObjectKey, Observed};

/// The annotation that marks the default storage class.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Validate a cluster with what is known around it.
pub fn validated(facts: &Facts<'_>, generations: Generations) -> Result<Valid, Refusal> {
    let owner = &facts.snapshot.owner;
    let config_map = |name: &str| {
        let key = ObjectKey::new(kinds::CONFIG_MAP, &owner.meta.namespace, name);
        match facts.snapshot.references.get(&key) {
            Some(Observed::Known { value: Some(map), .. }) => ConfigMapFact::Present(map.clone()),
            Some(Observed::Known { value: None, .. }) => ConfigMapFact::Missing,
            Some(Observed::Unknown { why }) => ConfigMapFact::Unknown(why.clone()),
            None => ConfigMapFact::Unknown(Unread::Unwatched.to_string()),
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
        dropped: dropped(facts),
        highest_release_line: lines::highest_release_line(facts),
        generations,
        internode_tls: internode::now(facts),
        internode_reach: internode::reach(facts),
    })
}

/// Names of racks whose set stands although the spec does not name them.
fn dropped(facts: &Facts<'_>) -> Vec<(RackName, String)> {
    let owner = &facts.snapshot.owner.meta;
    let racks = &facts.spec.datacenter.racks;
    let in_spec = |set: &str| {
        racks
            .iter()
            .any(|r| names::rack_set(&owner.name, &facts.spec.datacenter.name, &r.name) == set)
    };
    facts
        .sets
        .iter()
        .filter(|(name, set)| !in_spec(name) && set.object.meta.is_controlled_by(&owner.uid))
        .filter_map(|(name, set)| Some((set.object.meta.labels.get(labels::RACK)?, name)))
        .map(|(rack, set)| (RackName::new(rack), set.clone()))
        .collect()
}
