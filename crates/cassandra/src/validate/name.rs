//! Names: of the cluster, its datacenter and its racks, and of the objects
//! that are named after them.

use super::{Refusal, refuse};
use palladion_api::cluster::CassandraClusterSpec;
use palladion_api::ids::RackName;
use palladion_api::names;
use palladion_api::reasons::Reason;
use std::collections::BTreeSet;

/// Refuse names that no object, label or ring could bear.
pub fn check(cluster: &str, spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let datacenter = &spec.datacenter;
    if !begins_a_service_name(cluster) {
        return invalid(format!(
            "the cluster's name {cluster} begins the names of Services; make one with a name of a-z, 0-9 and `-` that begins with a letter"
        ));
    }
    if spec.ring_name.as_deref().is_some_and(str::is_empty) {
        return invalid(
            "`ringName` is empty; give the ring a name, or leave it out for the cluster's".into(),
        );
    }
    if !is_label_value(&datacenter.name) {
        return invalid(format!(
            "`datacenter.name` {:?} is not a name; {CHARACTERS}",
            datacenter.name
        ));
    }
    if datacenter.racks.is_empty() {
        return invalid("`datacenter.racks` is empty; name at least one rack".into());
    }
    let mut seen = BTreeSet::new();
    for rack in &datacenter.racks {
        if !is_label_value(rack.name.as_str()) {
            return invalid(format!(
                "the name of rack {:?} is not a name; {CHARACTERS}",
                rack.name
            ));
        }
        if !seen.insert(names::dns(rack.name.as_str())) {
            return invalid(format!(
                "rack {} occurs twice, or differs from another only by case, `_` or `.`; give each rack a name of its own",
                rack.name
            ));
        }
        fits(&rack.name, &names::rack_set(cluster, &datacenter.name, &rack.name))?;
    }
    Ok(())
}

/// What racks and datacenters may be called, as the end of a message.
const CHARACTERS: &str =
    "use letters, digits, `_`, `.` and `-`, and begin and end with a letter or digit";

fn invalid(message: String) -> Result<(), Refusal> {
    refuse(Reason::InvalidSpec, message)
}

fn fits(rack: &RackName, set: &str) -> Result<(), Refusal> {
    let most = names::STATEFUL_SET_NAME_MAX;
    if set.len() <= most {
        return Ok(());
    }
    invalid(format!(
        "the StatefulSet of rack {rack} would be named {set}, {} characters long; shorten the names of cluster, datacenter or rack so that it has at most {most}",
        set.len()
    ))
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
