//! From a spec to a form that cannot be wrong. What one object can tell is
//! refused at admission already; what remains is refused here, and what runs
//! goes on running.

mod memory;

use crate::facts::Facts;
use crate::words::refusal::Refusal;
use palladion_api::rules::zookeeper::{LINES, SERVERS};
use palladion_api::zookeeper::{self, ZookeeperPorts, ZookeeperServerConfig};
use palladion_plan::Trouble;
use palladion_plan::members::spec::{RawSpec, ServiceSpec};
use palladion_plan::words::{Names, Quoted};
use std::collections::BTreeMap;
use std::ops::Deref;

/// A spec that can be carried out.
#[derive(Debug, Clone)]
pub struct Valid {
    /// What every clustered service has.
    pub service: ServiceSpec,
    /// Ports.
    pub ports: ZookeeperPorts,
    /// What the agent is given.
    pub server: ZookeeperServerConfig,
}

impl Deref for Valid {
    type Target = ServiceSpec;

    fn deref(&self) -> &ServiceSpec {
        &self.service
    }
}

/// Validate a cluster with what is known around it.
///
/// # Errors
/// What is wrong, and how to comply.
pub fn validated(facts: &Facts<'_>) -> Result<Valid, Trouble> {
    let spec = &facts.spec;
    let server = server(facts)?;
    let raw = RawSpec {
        size: spec.servers,
        image: format!("{}:{}", spec.repository, spec.version),
        sidecar_image: spec.sidecar_image.as_ref(),
        storage: &spec.storage,
        resources: spec.resources.as_ref(),
        placement: spec.placement.as_ref(),
        annotations: &spec.annotations,
        env: &spec.env,
        is_reserved: zookeeper::env,
        pull_secrets: &spec.image_pull_secrets,
        restart_token: spec.restart_token.as_ref(),
        termination_grace_seconds: spec.termination_grace_period_seconds,
    };
    Ok(Valid { service: ServiceSpec::validated(facts, &raw)?, ports: spec.ports, server })
}

/// What the servers are given, if all of it is understood.
fn server(facts: &Facts<'_>) -> Result<ZookeeperServerConfig, Refusal> {
    let spec = &facts.spec;
    version(spec.version.as_str(), facts.status.highest_release_line.as_deref())?;
    if !SERVERS.contains(&spec.servers) {
        return Err(Refusal::Servers { servers: spec.servers });
    }
    settings(&spec.config)?;
    if let Some(option) = spec.jvm_options.iter().find(|o| !o.starts_with('-')) {
        return Err(Refusal::NoDash { option: Quoted(option.clone()) });
    }
    let taken = |o: &String| zookeeper::jvm_option(o).map(|r| (o.clone(), r.instead));
    if let Some((option, instead)) = spec.jvm_options.iter().find_map(taken) {
        return Err(Refusal::ReservedOption { option: Quoted(option), instead });
    }
    Ok(ZookeeperServerConfig {
        version: spec.version.clone(),
        cluster: facts.snapshot.owner.meta.name.clone(),
        ports: spec.ports,
        heap_mib: memory::heap(spec)?,
        settings: zookeeper::settings(&spec.config),
        jvm_options: spec.jvm_options.clone(),
    })
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
