//! Names: of the cluster, its datacenter and its racks, and of the objects
//! that are named after them.

use super::Refusal;
use crate::words::refusal::BadName;
use palladion_api::cluster::CassandraClusterSpec;
use palladion_api::ids::RackName;
use palladion_api::names;
use palladion_plan::words::Quoted;
use std::collections::BTreeSet;

/// Refuse names that no object, label or ring could bear.
pub fn check(cluster: &str, spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let datacenter = &spec.datacenter;
    if !begins_a_service_name(cluster) {
        return invalid(BadName::Cluster { name: cluster.to_string() });
    }
    if spec.ring_name.as_deref().is_some_and(str::is_empty) {
        return invalid(BadName::EmptyRing);
    }
    if !is_label_value(&datacenter.name) {
        return invalid(BadName::Datacenter { name: Quoted(datacenter.name.clone()) });
    }
    if datacenter.has_zones() {
        return invalid(BadName::Zones);
    }
    if datacenter.racks.is_empty() {
        return invalid(BadName::NoRacks);
    }
    let mut seen = BTreeSet::new();
    for rack in &datacenter.racks {
        if !is_label_value(rack.name.as_str()) {
            return invalid(BadName::Rack { name: Quoted(rack.name.to_string()) });
        }
        if !seen.insert(names::dns(rack.name.as_str())) {
            return invalid(BadName::RackTwice { rack: rack.name.clone() });
        }
        fits(&rack.name, &names::rack_set(cluster, &datacenter.name, &rack.name))?;
    }
    Ok(())
}

fn invalid(problem: BadName) -> Result<(), Refusal> {
    Err(Refusal::Name { problem })
}

fn fits(rack: &RackName, set: &str) -> Result<(), Refusal> {
    let most = names::STATEFUL_SET_NAME_MAX;
    if set.len() <= most {
        return Ok(());
    }
    let (rack, length) = (rack.clone(), set.len());
    invalid(BadName::TooLong { rack, set: set.to_string(), length, most })
}

/// Services are named more strictly than other objects.
fn begins_a_service_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Names of racks and datacenters are label values, and DNS names are made of them.
fn is_label_value(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}
