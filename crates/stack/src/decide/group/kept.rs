//! The gates of a group whose spec or profiles are refused.

use super::texts::key;
use crate::decide::draft::Draft;
use crate::decide::kept::{self, Kept, mounted};
use crate::facts::GroupFacts;
use palladion_api::NodeAgentGroupSpec;
use palladion_api::node_agents::GroupKey;

/// Let agents start again that were accepted before.
pub fn decide(facts: &GroupFacts<'_>, spec: &NodeAgentGroupSpec) -> Draft {
    let Some(set) = &facts.set else {
        return Draft::default();
    };
    let pods = facts.pods.iter().filter(|pod| !pod.terminating).collect();
    let (template, texts) = (set.template.as_str(), mounted(&set.object, facts.texts.as_ref()));
    let kept = Kept { pods, template, texts, closed: None };
    let of = spec.config.as_ref().map_or(GroupKey::default(), |config| config.key);
    let name = &facts.snapshot.owner.meta.name;
    kept::decide(facts.snapshot, &spec.depends_on, &kept, |pod| key(of, name, pod))
}
