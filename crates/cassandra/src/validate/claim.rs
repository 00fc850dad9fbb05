//! The claim of a rack's members: one, of a storage class that exists, with
//! defaults filled in.

use super::quantity;
use super::{Input, IsDefault, Refusal, sidecar};
use crate::words::refusal::{BadClaim, Classes, NoStorageClass};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use palladion_api::cluster::{ClaimTemplate, Rack};
use palladion_api::labels;
use palladion_plan::words::{Count, Names, Quoted};

/// Size of the claim of a rack that names none.
const DEFAULT_SIZE: &str = "10Gi";
/// Name of the claim template of a rack that names none.
const DEFAULT_NAME: &str = "data";
/// A disk that two nodes write to is a disk that is lost.
const ACCESS_MODE: &str = "ReadWriteOnce";
/// Volumes that the pod template has of its own: the StatefulSet controller
/// would put the claim in their place.
const OUR_VOLUMES: [&str; 5] = ["shared", "config", "run", "secrets", "tmp"];
/// Labels by which claims are found again.
const OUR_LABELS: [&str; 3] = ["app", labels::APP_NAME, labels::MANAGED_BY];
/// Beginning of all other labels of ours.
const OUR_PREFIX: &str = "palladion.dev/";
/// A claim template's name is a volume's name: a DNS label.
const NAME_MAX: usize = 63;

/// The claim of a rack whose StatefulSet is `set`.
pub fn check(input: &Input<'_>, rack: &Rack, set: &str) -> Result<ClaimTemplate, Refusal> {
    let templates = &rack.storage.volume_claim_templates;
    if templates.len() > 1 {
        let templates = Count::of(templates.len(), "claim template");
        return invalid(rack, BadClaim::Several { templates });
    }
    let mut claim = templates.first().cloned().unwrap_or_default();
    let name = claim.metadata.name.get_or_insert_with(|| DEFAULT_NAME.into());
    if !is_dns_label(name) || OUR_VOLUMES.contains(&name.as_str()) {
        let (name, ours) = (Quoted(name.clone()), Names::of(OUR_VOLUMES));
        return invalid(rack, BadClaim::Named { name, most: NAME_MAX, ours });
    }
    // Not before there are some: a claim that exists keeps its name.
    let theirs = sidecar::volumes(&input.spec.sidecars);
    if theirs.contains(name) {
        let (name, ours) = (Quoted(name.clone()), Names::of(theirs));
        return invalid(rack, BadClaim::Named { name, most: NAME_MAX, ours });
    }
    let ours = |key: &&String| OUR_LABELS.contains(&key.as_str()) || key.starts_with(OUR_PREFIX);
    if let Some(label) = claim.metadata.labels.keys().find(ours) {
        return invalid(rack, BadClaim::Label { label: label.clone() });
    }
    for_one_member(rack, &claim)?;
    claim.spec.access_modes = Some(vec![ACCESS_MODE.into()]);
    let requests = claim.spec.resources.get_or_insert_default().requests.get_or_insert_default();
    let size = requests.entry("storage".into()).or_insert_with(|| Quantity(DEFAULT_SIZE.into()));
    if quantity::amount(&size.0).is_none_or(|bytes| bytes < 1.0) {
        let size = Quoted(size.0.clone());
        return invalid(rack, BadClaim::Size { size });
    }
    if !input.sets.contains(set) {
        storage_class(input, rack, claim.spec.storage_class_name.as_deref())?;
    }
    Ok(claim)
}

fn invalid<T>(rack: &Rack, problem: BadClaim) -> Result<T, Refusal> {
    Err(Refusal::Claim { rack: rack.name.clone(), problem })
}

/// Fields that would bind all members to one volume, or to one with data.
fn for_one_member(rack: &Rack, claim: &ClaimTemplate) -> Result<(), Refusal> {
    let spec = &claim.spec;
    let set = [
        ("volumeName", spec.volume_name.is_some()),
        ("selector", spec.selector.is_some()),
        ("dataSource", spec.data_source.is_some()),
        ("dataSourceRef", spec.data_source_ref.is_some()),
    ];
    if let Some((field, _)) = set.iter().find(|(_, is_set)| *is_set) {
        return invalid(rack, BadClaim::Field { field });
    }
    if let Some(mode) = spec.volume_mode.as_ref().filter(|m| *m != "Filesystem") {
        return invalid(rack, BadClaim::VolumeMode { mode: mode.clone() });
    }
    match spec.access_modes.iter().flatten().find(|m| *m != ACCESS_MODE) {
        Some(mode) => invalid(rack, BadClaim::AccessMode { mode: mode.clone(), ours: ACCESS_MODE }),
        None => Ok(()),
    }
}

fn storage_class(input: &Input<'_>, rack: &Rack, wanted: Option<&str>) -> Result<(), Refusal> {
    let classes = &input.storage_classes;
    let missing = |problem: NoStorageClass| {
        let existing = match (classes.is_empty(), &problem) {
            (true, NoStorageClass::Missing { .. }) => Classes::CreateNamed,
            (true, NoStorageClass::NoDefault) => Classes::CreateDefault,
            (false, _) => Classes::Some { names: Names::of(classes.iter().map(|(name, _)| name)) },
        };
        Err(Refusal::StorageClass { rack: rack.name.clone(), problem, existing })
    };
    match wanted {
        Some("") => Ok(()), // Volumes that a person binds by hand.
        Some(name) if classes.iter().any(|(n, _)| n == name) => Ok(()),
        Some(name) => missing(NoStorageClass::Missing { name: name.to_string() }),
        None if classes.iter().any(|(_, d)| *d == IsDefault::Yes) => Ok(()),
        None => missing(NoStorageClass::NoDefault),
    }
}

fn is_dns_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= NAME_MAX
        && name.starts_with(inner)
        && name.ends_with(inner)
        && name.chars().all(|c| inner(c) || c == '-')
}
