//! From a spec to a form that cannot be wrong. What one object can tell is refused at
//! admission already; what remains is refused here, and what runs goes on running.

use crate::facts::Facts;
use crate::words::refusal::Refusal;
use palladion_api::names;
use palladion_api::rabbitmq::{
    self, LEAST_MEMORY_MIB, MANAGEMENT_PLUGIN, RabbitmqPorts, RabbitmqServerConfig,
    rabbitmq_settings,
};
use palladion_api::rules::rabbitmq::{LINES, NODES};
use palladion_plan::members::spec::{RawSpec, ServiceSpec};
use palladion_plan::words::{Names, Quoted};
use palladion_plan::{Trouble, differ};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// Seconds of the stop in which a node may wait for its queues before it drains, at the
/// most. A third of the time to stop in is left for that, and a third for the end.
const MOST_HAND_OVER: u32 = 60;
/// Thousandths of a byte in a MiB, as quantities are compared.
const MIB: i128 = 1000 << 20;

/// A spec that can be carried out.
#[derive(Debug, Clone)]
pub struct Valid {
    /// What every clustered service has.
    pub service: ServiceSpec,
    /// Ports.
    pub ports: RabbitmqPorts,
    /// What the agent is given.
    pub server: RabbitmqServerConfig,
    /// The Secret with the credentials.
    pub secret: String,
    /// Does the operator create it?
    pub secret_origin: SecretOrigin,
    /// The Secret with definitions, if there is one.
    pub definitions_secret: Option<String>,
    /// Domain of the cluster's Services, in the names of nodes.
    pub cluster_domain: String,
}

/// Who creates the Secret with the credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretOrigin {
    /// The operator, once.
    Generated,
    /// A user, who named it in the spec.
    OfUser,
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
    memory(facts)?;
    let raw = RawSpec {
        size: spec.nodes,
        image: format!("{}:{}", spec.repository, spec.version),
        sidecar_image: spec.sidecar_image.as_ref(),
        storage: &spec.storage,
        resources: spec.resources.as_ref(),
        placement: spec.placement.as_ref(),
        annotations: &spec.annotations,
        env: &spec.env,
        is_reserved: rabbitmq::env,
        pull_secrets: &spec.image_pull_secrets,
        restart_token: spec.restart_token.as_ref(),
        termination_grace_seconds: spec.termination_grace_period_seconds,
    };
    let (secret, secret_origin) = secret(facts)?;
    Ok(Valid {
        service: ServiceSpec::validated(facts, &raw)?,
        ports: spec.ports,
        server,
        secret,
        secret_origin,
        definitions_secret: spec.definitions_secret_name.clone(),
        cluster_domain: facts.domain().to_string(),
    })
}

/// The Secret with the credentials, and who creates it. Where the cookie of another one may be on
/// a volume, it is named too late: whoever joins needs the same.
fn secret(facts: &Facts<'_>) -> Result<(String, SecretOrigin), Refusal> {
    let generated = || names::rabbitmq_secret(&facts.snapshot.owner.meta.name);
    let origin = match &facts.spec.secret_name {
        Some(_) => SecretOrigin::OfUser,
        None => SecretOrigin::Generated,
    };
    let named = facts.spec.secret_name.clone().unwrap_or_else(generated);
    match facts.settled_secret() {
        Some(settled) if settled != named => {
            Err(Refusal::SecretSettled { named, settled: settled.to_string() })
        }
        Some(_) | None => Ok((named, origin)),
    }
}

/// What the nodes are given, if all of it is understood.
fn server(facts: &Facts<'_>) -> Result<RabbitmqServerConfig, Refusal> {
    let spec = &facts.spec;
    let running = facts.members.values().filter_map(|m| m.server()?.version.as_deref());
    let lowest = running.filter_map(line).min_by_key(|line| rank(line));
    version(&spec.version, facts.status.highest_release_line.as_deref(), lowest)?;
    if !NODES.contains(&spec.nodes) {
        return Err(Refusal::Nodes { nodes: spec.nodes });
    }
    settings(&spec.config)?;
    Ok(RabbitmqServerConfig {
        version: spec.version.clone(),
        cluster: facts.snapshot.owner.meta.name.clone(),
        ports: spec.ports,
        settings: rabbitmq_settings(&spec.config, spec.ports, spec.partition_handling),
        plugins: plugins(&spec.plugins)?,
        vhost: spec.vhost.clone(),
        hand_over_seconds: (spec.termination_grace_period_seconds / 3).min(MOST_HAND_OVER),
    })
}

/// The release line of a version: `3.12` of `3.12.14`.
pub fn line(version: &str) -> Option<&'static str> {
    LINES.into_iter().find(|line| {
        let rest = version.strip_prefix(line);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Which line comes after which. One that is not known is of a newer operator, and newer
/// than all that are.
pub fn rank(line: &str) -> usize {
    LINES.iter().position(|known| *known == line).unwrap_or(LINES.len())
}

/// One line up at a time, and none back: nodes of lines further apart cannot be in one
/// cluster, so the `lowest` line that still runs counts as well.
fn version(version: &str, highest: Option<&str>, lowest: Option<&str>) -> Result<(), Refusal> {
    let Some(line) = line(version) else {
        let version = Quoted(version.to_string());
        return Err(Refusal::Version { version, lines: Names::of(LINES) });
    };
    let version = || version.to_string();
    if let Some(ran) = highest.filter(|ran| rank(line) < rank(ran)) {
        return Err(Refusal::LineBack { version: version(), ran: ran.to_string() });
    }
    let too_far = |ran: &&str| rank(line) > rank(ran) + 1;
    match highest.filter(too_far).or(lowest.filter(too_far)) {
        Some(ran) => Err(Refusal::LineSkipped { version: version(), ran: ran.to_string() }),
        None => Ok(()),
    }
}

fn settings(config: &BTreeMap<String, String>) -> Result<(), Refusal> {
    for (name, value) in config {
        let quoted = || Quoted(name.clone());
        if !rabbitmq::is_setting(name) {
            return Err(Refusal::NotASetting { name: quoted() });
        }
        if !rabbitmq::is_value(value) {
            return Err(Refusal::NotAValue { name: quoted() });
        }
        if let Some(reserved) = rabbitmq::config(name) {
            return Err(Refusal::Reserved { name: quoted(), instead: reserved.instead });
        }
    }
    Ok(())
}

fn plugins(of_user: &[String]) -> Result<Vec<String>, Refusal> {
    for name in of_user {
        if !rabbitmq::is_plugin(name) {
            return Err(Refusal::NotAPlugin { name: Quoted(name.clone()) });
        }
        if let Some(reserved) = rabbitmq::plugin(name) {
            let name = Quoted(name.clone());
            return Err(Refusal::ReservedPlugin { name, instead: reserved.instead });
        }
    }
    let own = [MANAGEMENT_PLUGIN.to_string()];
    let all: BTreeSet<String> = of_user.iter().cloned().chain(own).collect();
    Ok(all.into_iter().collect())
}

fn memory(facts: &Facts<'_>) -> Result<(), Refusal> {
    let limits = facts.spec.resources.as_ref().and_then(|r| r.limits.as_ref());
    let Some(limit) = limits.and_then(|limits| limits.get("memory")) else {
        return Ok(());
    };
    let mib = differ::quantity(&Value::from(limit.0.as_str()));
    let Some(mib) = mib.and_then(|q| u64::try_from(q / MIB).ok()) else {
        return Err(Refusal::NotMemory { text: Quoted(limit.0.clone()) });
    };
    match mib < LEAST_MEMORY_MIB {
        true => Err(Refusal::TooLittleMemory { limit: mib, least: LEAST_MEMORY_MIB }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_off_a_version_and_goes_one_up_and_none_back() {
        assert_eq!(line("3.10.8"), Some("3.10"));
        assert_eq!(line("3.12.14-management"), Some("3.12"));
        assert_eq!(line("3.100.1"), None);
        assert_eq!(version("3.10.8", None, None), Ok(()));
        assert_eq!(version("3.11.1", Some("3.10"), Some("3.10")), Ok(()));
        assert!(matches!(version("3.10.8", Some("3.11"), None), Err(Refusal::LineBack { .. })));
        assert!(matches!(version("3.12.1", Some("3.10"), None), Err(Refusal::LineSkipped { .. })));
        assert!(matches!(version("4.0.1", None, None), Err(Refusal::Version { .. })));
    }

    /// Some run the next line already: the one after it is too far from those that do not.
    #[test]
    fn the_line_of_the_last_node_counts_too() {
        let skipped = version("3.12.1", Some("3.11"), Some("3.10"));
        assert_eq!(
            skipped,
            Err(Refusal::LineSkipped { version: "3.12.1".into(), ran: "3.10".into() })
        );
        assert_eq!(version("3.12.1", Some("3.11"), Some("3.11")), Ok(()));
    }

    #[test]
    fn what_admission_lets_through_is_refused_here_as_well() {
        let config = |name: &str, value: &str| {
            settings(&BTreeMap::from([(name.to_string(), value.to_string())]))
        };
        assert_eq!(config("net_ticktime", "60"), Ok(()));
        let reserved = config("cluster_formation.peer_discovery_backend", "dns");
        assert!(matches!(reserved, Err(Refusal::Reserved { .. })));
        assert!(matches!(config("a b", "1"), Err(Refusal::NotASetting { .. })));
        assert!(matches!(config("net_ticktime", "1 # x"), Err(Refusal::NotAValue { .. })));
        let of = |name: &str| plugins(&[name.to_string()]);
        assert!(matches!(of("rabbitmq_peer_discovery_k8s"), Err(Refusal::ReservedPlugin { .. })));
        assert!(matches!(of("]."), Err(Refusal::NotAPlugin { .. })));
        let both = ["rabbitmq_management".to_string(), "rabbitmq_shovel".to_string()];
        assert_eq!(of("rabbitmq_shovel"), Ok(both.to_vec()), "the agent's is always there");
    }
}
