//! Containers beside the server.

use super::{Refusal, quantity};
use crate::words::refusal::BadSidecar;
use palladion_api::cluster::{CassandraClusterSpec, CdcMode, Mode, Sidecar};
use palladion_api::reserved;
use palladion_plan::words::{Names, Quoted};
use std::collections::BTreeSet;

/// The line on which the loopback address alone keeps others out of a server that is sealed.
const WITHOUT_SEAL: &str = "4.0";

/// The volume with the token of the pod, which the container of the server mounts by itself.
pub const TOKEN_VOLUME: &str = "agent-token";

/// The volume of a sidecar.
pub fn volume(sidecar: &Sidecar) -> String {
    format!("sidecar-{}", sidecar.name)
}

/// The volumes that pods have for their sidecars: a claim of that name would take the place of one.
pub fn volumes(sidecars: &[Sidecar]) -> Vec<String> {
    match sidecars.is_empty() {
        true => Vec::new(),
        false => sidecars.iter().map(volume).chain([TOKEN_VOLUME.to_string()]).collect(),
    }
}

/// As the spec says.
///
/// # Errors
/// What admission refuses, too: it may have been stored before there was a rule.
pub fn of(spec: &CassandraClusterSpec) -> Result<Vec<Sidecar>, Refusal> {
    let sidecars = &spec.sidecars;
    if sidecars.is_empty() {
        return Ok(Vec::new());
    }
    if spec.mode == Mode::Scylla {
        return Err(Refusal::SidecarsOfScylla);
    }
    if spec.version.starts_with(WITHOUT_SEAL) {
        return Err(Refusal::SidecarsOf40);
    }
    let (mut names, mut ports) = (BTreeSet::new(), BTreeSet::from(reserved::LISTENING));
    for sidecar in sidecars {
        let refused = |problem| Refusal::Sidecar { name: Quoted(sidecar.name.clone()), problem };
        if !is_name(&sidecar.name) {
            let ours = Names::of(reserved::CONTAINERS);
            return Err(refused(BadSidecar::Named { ours }));
        }
        if !names.insert(&sidecar.name) {
            return Err(refused(BadSidecar::Twice));
        }
        if !sidecar.cdc.is_off() && spec.cdc.as_ref().is_none_or(|cdc| cdc.mode == CdcMode::Off) {
            return Err(refused(BadSidecar::NothingToRead));
        }
        let mut of_its_ports = BTreeSet::new();
        for port in &sidecar.ports {
            if !is_port_name(&port.name) || !of_its_ports.insert(&port.name) {
                return Err(refused(BadSidecar::PortName { port: Quoted(port.name.clone()) }));
            }
            if !ports.insert(port.port) {
                return Err(refused(BadSidecar::Port { port: port.port }));
            }
        }
        let mut variables = BTreeSet::new();
        if let Some(twice) = sidecar.env.iter().find(|v| !variables.insert(&v.name)) {
            return Err(refused(BadSidecar::VariableTwice { variable: twice.name.clone() }));
        }
        if let Some((field, text)) = sidecar.resources.as_ref().and_then(quantity::wrong) {
            return Err(refused(BadSidecar::NotAQuantity { field, text: Quoted(text) }));
        }
        if let Some(above) = sidecar.resources.as_ref().and_then(quantity::above) {
            let (resource, request, limit) = (above.resource, above.request, above.limit);
            return Err(refused(BadSidecar::RequestAboveLimit { resource, request, limit }));
        }
    }
    Ok(sidecars.clone())
}

/// A DNS label that is none of our own containers.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(is_part)
        && name.ends_with(is_part)
        && name.chars().all(|c| is_part(c) || c == '-')
        && !reserved::CONTAINERS.contains(&name)
}

fn is_port_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(is_part)
        && name.chars().all(|c| is_part(c) || c == '-')
        && !name.contains("--")
}
