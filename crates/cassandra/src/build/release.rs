//! What of a pod template comes from the release of Palladion and not from the
//! spec: the agent's default image, and how a template is made of a spec (its
//! generation). Pods that stand keep theirs: an upgrade of Palladion restarts
//! nothing (safety rule 7.9, ADR 12).

use super::pod;
use crate::validate::{AgentImage, Valid, ValidRack};
use palladion_api::labels::{AGENT_IMAGE, SPEC_HASH, TEMPLATE_GENERATION};
use palladion_plan::hash;
use serde_json::Value;

/// The newest generation. Whoever changes what a given spec is rendered to,
/// template or configuration, adds one and keeps the older ones as they are;
/// `build/tests/generations.rs` holds them.
pub const NEWEST: u32 = 1;

/// What a template is rendered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The template generation.
    pub generation: u32,
    /// Image of the agent.
    pub agent_image: String,
}

/// What a template or a pod says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    release: Release,
    spec_hash: String,
}

impl Stamp {
    /// Read it from annotations; `None` where they are not ours.
    pub fn read<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let generation = annotation(TEMPLATE_GENERATION)?.parse().ok()?;
        let agent_image = annotation(AGENT_IMAGE)?.to_string();
        let spec_hash = annotation(SPEC_HASH)?.to_string();
        Some(Stamp { release: Release { generation, agent_image }, spec_hash })
    }
}

impl Release {
    fn newest(valid: &Valid) -> Self {
        Release { generation: NEWEST, agent_image: valid.agent_image.reference().to_string() }
    }

    /// Write it on a template.
    pub(super) fn record(&self, annotations: &mut Value) {
        annotations[TEMPLATE_GENERATION] = self.generation.to_string().into();
        annotations[AGENT_IMAGE] = self.agent_image.as_str().into();
    }
}

/// The template of a rack and its hash: one that stands, where the spec asks for
/// nothing else, or what the newest release makes of the spec.
pub fn template(valid: &Valid, rack: &ValidRack, standing: &[Stamp]) -> (Value, String) {
    standing
        .iter()
        .find_map(|stamp| as_it_stands(valid, rack, stamp))
        .unwrap_or_else(|| rendered(valid, rack, &Release::newest(valid)))
}

fn as_it_stands(valid: &Valid, rack: &ValidRack, stamp: &Stamp) -> Option<(Value, String)> {
    let asked_otherwise = match &valid.agent_image {
        AgentImage::OfSpec(image) => *image != stamp.release.agent_image,
        AgentImage::Default(_) => false,
    };
    // A newer Palladion made it: this one does not know how.
    let is_unknown = !(1..=NEWEST).contains(&stamp.release.generation);
    if asked_otherwise || is_unknown {
        return None;
    }
    let (template, hash) = rendered(valid, rack, &stamp.release);
    (hash == stamp.spec_hash).then_some((template, hash))
}

fn rendered(valid: &Valid, rack: &ValidRack, release: &Release) -> (Value, String) {
    let template = pod::template(valid, rack, release);
    let hash = hash::of(&template);
    (template, hash)
}
