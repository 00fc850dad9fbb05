//! The gates of a Component whose spec is refused.

use super::gates::incomplete;
use super::texts::key;
use crate::decide::draft::Draft;
use crate::decide::kept::{self, Kept, mounted};
use crate::facts::Facts;
use palladion_api::ComponentSpec;
use palladion_api::staged::ConfigKey;

/// Let pods start again that were accepted before.
pub fn decide(facts: &Facts<'_>, spec: &ComponentSpec) -> Draft {
    let Some(set) = &facts.set else {
        return Draft::default();
    };
    let pods = (0..set.replicas).filter_map(|ordinal| facts.there(ordinal)).collect();
    let (template, texts) = (set.template.as_str(), mounted(&set.object, facts.texts.as_ref()));
    let kept = Kept { pods, template, texts, closed: incomplete(facts, set.replicas) };
    let of = spec.config.as_ref().map_or(ConfigKey::default(), |config| config.key);
    kept::decide(facts.snapshot, &spec.depends_on, &kept, |pod| {
        Some(key(of, pod, pod.address.as_deref()?))
    })
}
