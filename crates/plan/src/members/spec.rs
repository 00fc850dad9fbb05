//! The part of a spec that every clustered service has, in a form that cannot be wrong.

use super::{ServiceFacts, ServiceKind, claim};
use crate::words::refusal::Refusal;
use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements};
use palladion_api::cluster::{ClaimTemplate, DeletionPolicy, Placement, SidecarImage};
use palladion_api::ids::{MemberName, Uid};
use palladion_api::names::{self, STATEFUL_SET_NAME_MAX};
use palladion_api::service::ServiceStorage;
use std::collections::{BTreeMap, BTreeSet};

/// Annotations that steer the operator.
const OUR_ANNOTATIONS: &str = "palladion.dev/";

/// The part of a spec that every clustered service has, as it stands.
#[derive(Debug)]
pub struct RawSpec<'a> {
    /// Wanted members.
    pub size: u32,
    /// Image of the server.
    pub image: String,
    /// Image of the agent, if the spec names one.
    pub sidecar_image: Option<&'a SidecarImage>,
    /// Storage of each member.
    pub storage: &'a ServiceStorage,
    /// Resources of the server's container.
    pub resources: Option<&'a ResourceRequirements>,
    /// Where the pods may run.
    pub placement: Option<&'a Placement>,
    /// Annotations of set and pods.
    pub annotations: &'a BTreeMap<String, String>,
    /// Environment of the server.
    pub env: &'a [EnvVar],
    /// Is a variable of this name reserved?
    pub is_reserved: fn(&str) -> bool,
    /// Secrets to pull images with.
    pub pull_secrets: &'a [LocalObjectReference],
    /// Restarts of the whole service that were asked for.
    pub restart_token: Option<&'a String>,
    /// Seconds to stop in.
    pub termination_grace_seconds: u32,
}

/// That part of a spec that can be carried out.
#[derive(Debug, Clone)]
pub struct ServiceSpec {
    /// What kind of service it is.
    pub kind: &'static ServiceKind,
    /// Name of the cluster object.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: Uid,
    /// Name of the StatefulSet.
    pub set: String,
    /// Wanted members.
    pub size: i32,
    /// Image of the server.
    pub image: String,
    /// Image of the agent.
    pub agent_image: AgentImage,
    /// The claim, with defaults filled in.
    pub claim: ClaimTemplate,
    /// Resources of the server's container.
    pub resources: Option<ResourceRequirements>,
    /// Where the pods may run.
    pub placement: Option<Placement>,
    /// Annotations of set and pods.
    pub annotations: BTreeMap<String, String>,
    /// Environment of the server.
    pub env: Vec<EnvVar>,
    /// Secrets to pull images with.
    pub pull_secrets: Vec<LocalObjectReference>,
    /// Restarts of the whole service that were asked for.
    pub restart_token: Option<String>,
    /// Seconds to stop in.
    pub termination_grace_seconds: u32,
    /// What happens to the data.
    pub deletion_policy: DeletionPolicy,
}

/// Image of the agent, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentImage {
    /// The spec: pods of another one are replaced.
    OfSpec(String),
    /// The settings of the operator: pods that stand keep theirs.
    Default(String),
}

impl AgentImage {
    /// The image.
    pub fn reference(&self) -> &str {
        match self {
            AgentImage::OfSpec(image) | AgentImage::Default(image) => image,
        }
    }
}

impl ServiceSpec {
    /// Validate it with what is known around it. What one object can tell is refused at
    /// admission already; what remains is refused here, and what runs goes on running.
    ///
    /// # Errors
    /// What is wrong, and how to comply.
    pub fn validated(facts: &ServiceFacts<'_>, raw: &RawSpec<'_>) -> Result<Self, Refusal> {
        let meta = &facts.snapshot.owner.meta;
        let set = facts.set_name.clone();
        if set.len() > STATEFUL_SET_NAME_MAX {
            let most = STATEFUL_SET_NAME_MAX - (set.len() - meta.name.len());
            return Err(Refusal::NameTooLong { name: meta.name.clone(), most });
        }
        if let Some(key) = raw.annotations.keys().find(|key| key.starts_with(OUR_ANNOTATIONS)) {
            return Err(Refusal::OurAnnotation { key: key.clone() });
        }
        let classes = facts.objects(crate::kinds::STORAGE_CLASS);
        Ok(Self {
            kind: facts.kind,
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            uid: meta.uid.clone(),
            size: i32::try_from(raw.size).unwrap_or_default(),
            image: raw.image.clone(),
            agent_image: agent_image(facts, raw)?,
            claim: claim::check(raw.storage, classes, facts.set.is_some())?,
            set,
            resources: raw.resources.cloned(),
            placement: raw.placement.cloned(),
            annotations: raw.annotations.clone(),
            env: environment(raw)?,
            pull_secrets: raw.pull_secrets.to_vec(),
            restart_token: raw.restart_token.cloned(),
            termination_grace_seconds: raw.termination_grace_seconds,
            deletion_policy: facts.deletion_policy,
        })
    }

    /// The wanted members by name, lowest ordinal first.
    pub fn wanted(&self) -> impl Iterator<Item = MemberName> {
        (0..self.size).map(|ordinal| names::member(&self.set, ordinal))
    }

    /// The token that the spec has and the member has not.
    pub fn token_due(&self, member: &super::MemberFact) -> Option<String> {
        let has = member.spec.as_ref().and_then(|s| s.restart_token.as_ref());
        self.restart_token.clone().filter(|wanted| Some(wanted) != has)
    }
}

fn environment(raw: &RawSpec<'_>) -> Result<Vec<EnvVar>, Refusal> {
    let mut seen = BTreeSet::new();
    for variable in raw.env {
        let name = &variable.name;
        if (raw.is_reserved)(name) {
            return Err(Refusal::OurVariable { name: name.clone() });
        }
        if !seen.insert(name) {
            return Err(Refusal::VariableTwice { name: name.clone() });
        }
    }
    Ok(raw.env.to_vec())
}

fn agent_image(facts: &ServiceFacts<'_>, raw: &RawSpec<'_>) -> Result<AgentImage, Refusal> {
    if let Some(image) = raw.sidecar_image {
        return Ok(AgentImage::OfSpec(format!("{}:{}", image.repository, image.version)));
    }
    let of_operator = facts.operator_config.as_ref().and_then(|c| c.agent_image.clone());
    let of_release = facts.snapshot.settings.get("agentImage").cloned();
    of_operator.or(of_release).map(AgentImage::Default).ok_or(Refusal::NoAgentImage)
}
