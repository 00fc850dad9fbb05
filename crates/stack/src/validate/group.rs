//! A group of node agents that can be carried out.

use super::component::{AGENT_IMAGE, reserved};
use super::template;
use crate::facts::GroupFacts;
use crate::groups::profiles::{OnConflict, Refused, merge};
use crate::owner::Owner;
use crate::render::{OfGroup, Problem, Templates, Variables, placeholders};
use crate::resources::GROUP;
use crate::words::refusal::{GroupRefusal, Refusal};
use palladion_api::ids::Uid;
use palladion_api::node_agents::names::OWNER;
use palladion_api::node_agents::{GroupConfig, GroupKey, NodeAgentGroupSpec};
use palladion_plan::hash;
use palladion_plan::workload::config;
use serde_json::{Value, json};

/// A group that can be carried out.
#[derive(Clone, Debug)]
pub struct ValidGroup {
    /// Name of the owner.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: Uid,
    /// The spec.
    pub spec: NodeAgentGroupSpec,
    /// The templates of its files; `None` = it has no configuration.
    pub templates: Option<Templates>,
    /// The agent's image of this release.
    pub agent_image: String,
    /// Its profiles, merged.
    pub profile: Value,
    /// Hash of what it says itself of its texts, its profiles included.
    pub inputs: String,
}

impl ValidGroup {
    /// Whom its objects belong to.
    pub fn owner(&self) -> Owner<'_> {
        Owner {
            resource: GROUP,
            label: OWNER,
            name: &self.name,
            namespace: &self.namespace,
            uid: &self.uid,
        }
    }

    /// What its templates see besides what all see.
    pub fn of_group(&self) -> OfGroup {
        let gateway = self.spec.configuration.v_router_gateway.clone();
        OfGroup { gateway, profile: self.profile.clone() }
    }
}

/// Parse a group, or say why it cannot be carried out.
///
/// # Errors
/// Which field or profile, why, and how to comply.
pub fn validate_group(
    facts: &GroupFacts<'_>,
    spec: &NodeAgentGroupSpec,
) -> Result<ValidGroup, GroupRefusal> {
    let shared = |refusal| GroupRefusal::Shared { refusal };
    if !config::has_containers(&spec.template) {
        return Err(shared(Refusal::NoContainers));
    }
    template::check(&spec.template).map_err(shared)?;
    reserved(&spec.template["metadata"]).map_err(shared)?;
    let image = facts.snapshot.settings.get(AGENT_IMAGE).cloned();
    let agent_image = image.ok_or(shared(Refusal::NoAgentImage))?;
    let profile = merged(facts, spec)?;
    let meta = &facts.snapshot.owner.meta;
    let mut valid = ValidGroup {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        templates: None,
        agent_image,
        inputs: inputs(spec, &profile),
        profile,
        spec: spec.clone(),
    };
    if let Some(config) = &spec.config {
        let templates = tried(&valid, config);
        valid.templates = Some(templates.map_err(|Problem { file, line, fault }| {
            shared(match line {
                Some(line) => Refusal::TemplateLine { file, line, fault },
                None => Refusal::Template { file, fault },
            })
        })?);
    }
    Ok(valid)
}

fn merged(facts: &GroupFacts<'_>, spec: &NodeAgentGroupSpec) -> Result<Value, GroupRefusal> {
    let mut profiles = Vec::new();
    for name in &spec.configuration.profiles {
        let profile = name.clone();
        match facts.profiles.get(name) {
            None => return Err(GroupRefusal::NoProfile { profile }),
            Some(Err(why)) => return Err(GroupRefusal::BadProfile { profile, why: why.clone() }),
            Some(Ok(found)) => profiles.push((name.as_str(), found)),
        }
    }
    let on_conflict = if spec.overrides { OnConflict::LaterWins } else { OnConflict::Refuse };
    merge(&profiles, on_conflict).map_err(|refused| match refused {
        Refused::Conflict { key, first, second } => GroupRefusal::Conflict { key, first, second },
        Refused::ModesExclusive { first, second } => GroupRefusal::ModesExclusive { first, second },
    })
}

/// The templates, once they were rendered for a trial.
fn tried(valid: &ValidGroup, config: &GroupConfig) -> Result<Templates, Problem> {
    let templates = Templates::parse(&config.files)?;
    let spec = &valid.spec;
    let ports = &spec.network.ports;
    let trial = placeholders(&valid.name, 1, ports, &config.parameters, &spec.depends_on);
    templates.render(&of(valid, config.key, trial))?;
    Ok(templates)
}

/// Variables as a group has them: any number of nodes, and one text for all by default.
pub fn of(valid: &ValidGroup, key: GroupKey, variables: Variables) -> Variables {
    let own = match key {
        GroupKey::Group => None,
        GroupKey::NodeName | GroupKey::PodIp => variables.own,
    };
    Variables { own, nodes: None, group: Some(valid.of_group()), ..variables }
}

/// Hash of all that goes into the texts and stands in the spec or the profiles.
fn inputs(spec: &NodeAgentGroupSpec, profile: &Value) -> String {
    let config = spec.config.as_ref().map(|c| json!([c.parameters, c.files]));
    let dependencies = spec.depends_on.iter();
    let aliases: Vec<Value> =
        dependencies.map(|d| json!([d.kind.as_str(), d.name, d.alias()])).collect();
    let gateway = &spec.configuration.v_router_gateway;
    hash::of(&json!([config, spec.network.ports, aliases, gateway, profile]))
}
