//! What pods are made with that comes from the release of Palladion and not from
//! the spec: the agent's default image, and how template and configuration are
//! made of a spec (their generation). Pods that stand keep theirs: an upgrade of
//! Palladion restarts nothing (safety rule 7.9, ADR 12).

use super::pod;
use crate::generations::Generation;
use crate::validate::{AgentImage, Valid, ValidRack};
use palladion_api::labels::{AGENT_IMAGE, SPEC_HASH, TEMPLATE_GENERATION};
use palladion_plan::hash;
use serde_json::Value;

/// What template and configuration are rendered with.
#[derive(Clone, Debug)]
pub struct Release {
    /// The number of the template generation.
    number: u32,
    /// That generation.
    pub generation: Generation,
    /// Image of the agent.
    pub agent_image: String,
}

/// What a template or a pod says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    generation: u32,
    agent_image: String,
    spec_hash: String,
}

/// What the pods of a rack are made of.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Their template, without its hash.
    pub(super) template: Value,
    /// The hash of the template.
    pub(super) hash: String,
    /// What their configuration is rendered with.
    pub(super) generation: Generation,
}

impl Stamp {
    /// Read it from annotations; `None` where they are not ours.
    pub fn read<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let generation = annotation(TEMPLATE_GENERATION)?.parse().ok()?;
        let agent_image = annotation(AGENT_IMAGE)?.to_string();
        let spec_hash = annotation(SPEC_HASH)?.to_string();
        Some(Stamp { generation, agent_image, spec_hash })
    }
}

impl Release {
    fn newest(valid: &Valid) -> Self {
        let (number, generation) = valid.generations.newest();
        Release { number, generation, agent_image: valid.agent_image.reference().to_string() }
    }

    /// The one that a template or a pod was made with, if this release knows it.
    fn of(valid: &Valid, stamp: &Stamp) -> Option<Self> {
        let (number, agent_image) = (stamp.generation, stamp.agent_image.clone());
        let generation = valid.generations.get(number)?;
        Some(Release { number, generation, agent_image })
    }

    /// Write it on a template.
    pub(super) fn record(&self, annotations: &mut Value) {
        annotations[TEMPLATE_GENERATION] = self.number.to_string().into();
        annotations[AGENT_IMAGE] = self.agent_image.as_str().into();
    }
}

/// What the pods of a rack are made of: as one that stands, where the spec asks
/// for nothing else, or what the newest release makes of the spec.
pub fn rendered(valid: &Valid, rack: &ValidRack, standing: &[Stamp]) -> Rendered {
    standing
        .iter()
        .find_map(|stamp| as_it_stands(valid, rack, stamp))
        .unwrap_or_else(|| of_release(valid, rack, &Release::newest(valid)))
}

fn as_it_stands(valid: &Valid, rack: &ValidRack, stamp: &Stamp) -> Option<Rendered> {
    let asked_otherwise = match &valid.agent_image {
        AgentImage::OfSpec(image) => *image != stamp.agent_image,
        AgentImage::Default(_) => false,
    };
    if asked_otherwise {
        return None;
    }
    let rendered = of_release(valid, rack, &Release::of(valid, stamp)?);
    (rendered.hash == stamp.spec_hash).then_some(rendered)
}

fn of_release(valid: &Valid, rack: &ValidRack, release: &Release) -> Rendered {
    let template = pod::template(valid, rack, release);
    let hash = hash::of(&template);
    Rendered { template, hash, generation: release.generation }
}
