//! From a spec to a form that cannot be wrong. What one object can tell is
//! refused at admission already; what remains is refused here, and what runs
//! goes on running.

mod claim;
mod memory;

use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::refusal::Refusal;
use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements};
use palladion_api::cluster::{ClaimTemplate, DeletionPolicy, Placement};
use palladion_api::ids::Uid;
use palladion_api::names::STATEFUL_SET_NAME_MAX;
use palladion_api::rules::zookeeper::{LINES, SERVERS};
use palladion_api::zookeeper::{ZookeeperPorts, ZookeeperServerConfig};
use palladion_api::{names, zookeeper};
use palladion_plan::words::{Names, Quoted};
use std::collections::{BTreeMap, BTreeSet};

/// Annotations that steer the operator.
const OUR_ANNOTATIONS: &str = "palladion.dev/";

/// A spec that can be carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Valid {
    /// Name of the cluster object.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: Uid,
    /// Name of the StatefulSet.
    pub set: String,
    /// Wanted servers.
    pub servers: i32,
    /// Image of the server.
    pub image: String,
    /// Image of the agent.
    pub agent_image: AgentImage,
    /// Ports.
    pub ports: ZookeeperPorts,
    /// What the agent is given.
    pub server: ZookeeperServerConfig,
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
    /// Restarts of the whole ensemble that were asked for.
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

/// Validate a cluster with what is known around it.
///
/// # Errors
/// What is wrong, and how to comply.
pub fn validated(facts: &Facts<'_>) -> Result<Valid, Refusal> {
    let (spec, meta) = (&facts.spec, &facts.snapshot.owner.meta);
    version(spec.version.as_str(), facts.status.highest_release_line.as_deref())?;
    let set = facts.set_name.clone();
    if set.len() > STATEFUL_SET_NAME_MAX {
        let most = STATEFUL_SET_NAME_MAX - (set.len() - meta.name.len());
        return Err(Refusal::NameTooLong { name: meta.name.clone(), most });
    }
    if !SERVERS.contains(&spec.servers) {
        return Err(Refusal::Servers { servers: spec.servers });
    }
    if let Some(key) = spec.annotations.keys().find(|key| key.starts_with(OUR_ANNOTATIONS)) {
        return Err(Refusal::OurAnnotation { key: key.clone() });
    }
    settings(&spec.config)?;
    if let Some(option) = spec.jvm_options.iter().find(|o| !o.starts_with('-')) {
        return Err(Refusal::NoDash { option: Quoted(option.clone()) });
    }
    let taken = |o: &String| zookeeper::jvm_option(o).map(|r| (o.clone(), r.instead));
    if let Some((option, instead)) = spec.jvm_options.iter().find_map(taken) {
        return Err(Refusal::ReservedOption { option: Quoted(option), instead });
    }
    let heap_mib = memory::heap(spec)?;
    Ok(Valid {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        servers: i32::try_from(spec.servers).unwrap_or_default(),
        image: format!("{}:{}", spec.repository, spec.version),
        agent_image: agent_image(facts)?,
        ports: spec.ports,
        server: ZookeeperServerConfig {
            version: spec.version.clone(),
            cluster: meta.name.clone(),
            ports: spec.ports,
            heap_mib,
            settings: zookeeper::settings(&spec.config),
            jvm_options: spec.jvm_options.clone(),
        },
        claim: claim::check(spec, facts.objects(kinds::STORAGE_CLASS), facts.set.is_some())?,
        set,
        resources: spec.resources.clone(),
        placement: spec.placement.clone(),
        annotations: spec.annotations.clone(),
        env: environment(&spec.env)?,
        pull_secrets: spec.image_pull_secrets.clone(),
        restart_token: spec.restart_token.clone(),
        termination_grace_seconds: spec.termination_grace_period_seconds,
        deletion_policy: spec.deletion_policy,
    })
}

impl Valid {
    /// The wanted members by name, lowest ordinal first.
    pub fn wanted(&self) -> impl Iterator<Item = palladion_api::ids::MemberName> {
        (0..self.servers).map(|ordinal| names::member(&self.set, ordinal))
    }
}

/// The release line of a version: `3.9` of `3.9.3`.
pub fn line(version: &str) -> Option<&'static str> {
    LINES.into_iter().find(|line| {
        let rest = version.strip_prefix(line);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

fn version(version: &str, highest: Option<&str>) -> Result<(), Refusal> {
    let Some(line) = line(version) else {
        let version = Quoted(version.to_string());
        return Err(Refusal::Version { version, lines: Names::of(LINES) });
    };
    let rank = |line: &str| LINES.iter().position(|known| *known == line);
    match highest {
        // One that is not known is of a newer operator, and newer than all that are.
        Some(ran) if rank(ran).is_none_or(|ran| rank(line) < Some(ran)) => {
            let (version, ran) = (version.to_string(), ran.to_string());
            Err(Refusal::LineBack { version, ran })
        }
        Some(_) | None => Ok(()),
    }
}

fn settings(config: &BTreeMap<String, String>) -> Result<(), Refusal> {
    for (name, value) in config {
        let quoted = || Quoted(name.clone());
        if !zookeeper::is_setting(name) {
            return Err(Refusal::NotASetting { name: quoted() });
        }
        if !zookeeper::is_value(value) {
            return Err(Refusal::NotAValue { name: quoted() });
        }
        if let Some(reserved) = zookeeper::config(name) {
            return Err(Refusal::Reserved { name: quoted(), instead: reserved.instead });
        }
    }
    Ok(())
}

fn environment(env: &[EnvVar]) -> Result<Vec<EnvVar>, Refusal> {
    let mut seen = BTreeSet::new();
    for variable in env {
        let name = &variable.name;
        if zookeeper::env(name) {
            return Err(Refusal::OurVariable { name: name.clone() });
        }
        if !seen.insert(name) {
            return Err(Refusal::VariableTwice { name: name.clone() });
        }
    }
    Ok(env.to_vec())
}

fn agent_image(facts: &Facts<'_>) -> Result<AgentImage, Refusal> {
    if let Some(image) = &facts.spec.sidecar_image {
        return Ok(AgentImage::OfSpec(format!("{}:{}", image.repository, image.version)));
    }
    let of_operator = facts.operator_config.as_ref().and_then(|c| c.agent_image.clone());
    let of_release = facts.snapshot.settings.get("agentImage").cloned();
    of_operator.or(of_release).map(AgentImage::Default).ok_or(Refusal::NoAgentImage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_off_a_version_and_never_goes_back() {
        assert_eq!(line("3.9.3"), Some("3.9"));
        assert_eq!(line("3.8.4-temurin"), Some("3.8"));
        assert_eq!(line("3.80.1"), None);
        assert_eq!(version("3.8.4", Some("3.8")), Ok(()));
        assert_eq!(version("3.9.3", Some("3.8")), Ok(()));
        assert!(matches!(version("3.8.4", Some("3.9")), Err(Refusal::LineBack { .. })));
        assert!(matches!(version("3.9.3", Some("4.0")), Err(Refusal::LineBack { .. })));
        assert!(matches!(version("3.7.2", None), Err(Refusal::Version { .. })));
    }

    #[test]
    fn what_admission_lets_through_is_refused_here_as_well() {
        let config = |name: &str, value: &str| {
            settings(&BTreeMap::from([(name.to_string(), value.to_string())]))
        };
        assert_eq!(config("tickTime", "500"), Ok(()));
        assert!(matches!(config("db.autocreate", "true"), Err(Refusal::Reserved { .. })));
        assert!(matches!(config("a b", "1"), Err(Refusal::NotASetting { .. })));
        assert!(matches!(config("tickTime", "1\ndataDir=/x"), Err(Refusal::NotAValue { .. })));
    }
}
