//! The claim of each member: one, of a storage class that exists, with defaults
//! filled in.

use crate::differ;
use crate::object::Object;
use crate::words::Quoted;
use crate::words::refusal::{BadClaim, Refusal};
use crate::workload::storage_class::{self, NoClass};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use palladion_api::cluster::ClaimTemplate;
use palladion_api::rules::claims::OWN_VOLUMES;
use palladion_api::service::ServiceStorage;
use serde_json::Value;
use std::sync::Arc;

const DEFAULT_SIZE: &str = "10Gi";
const DEFAULT_NAME: &str = "data";
/// A disk that two nodes write to is a disk that is lost.
const ACCESS_MODE: &str = "ReadWriteOnce";
/// Beginning of the labels by which claims are found again.
const OUR_PREFIX: &str = "palladion.dev/";

/// The claim template. A storage class is looked for until there is a set.
///
/// # Errors
/// What is wrong, and how to comply.
pub fn check(
    storage: &ServiceStorage,
    classes: &[Arc<Object>],
    is_made: bool,
) -> Result<ClaimTemplate, Refusal> {
    let invalid = |problem| Err(Refusal::Claim { problem });
    let mut claim = storage.volume_claim_template.clone().unwrap_or_default();
    let name = claim.metadata.name.get_or_insert_with(|| DEFAULT_NAME.into());
    if OWN_VOLUMES.contains(&name.as_str()) {
        return invalid(BadClaim::Named { name: Quoted(name.clone()) });
    }
    if let Some(label) = claim.metadata.labels.keys().find(|l| l.starts_with(OUR_PREFIX)) {
        return invalid(BadClaim::Label { label: label.clone() });
    }
    let of_one = &claim.spec;
    let for_all = of_one.volume_name.is_some()
        || of_one.selector.is_some()
        || of_one.data_source.is_some()
        || of_one.data_source_ref.is_some();
    if for_all {
        return invalid(BadClaim::ForAll);
    }
    let is_other = |mode: &String| mode != ACCESS_MODE;
    let mode = of_one.access_modes.iter().flatten().find(|m| is_other(m));
    if mode.is_some() || of_one.volume_mode.as_ref().is_some_and(|m| m != "Filesystem") {
        return invalid(BadClaim::Mode);
    }
    claim.spec.access_modes = Some(vec![ACCESS_MODE.into()]);
    let requests = claim.spec.resources.get_or_insert_default().requests.get_or_insert_default();
    let size = requests.entry("storage".into()).or_insert_with(|| Quantity(DEFAULT_SIZE.into()));
    if differ::quantity(&Value::from(size.0.as_str())).is_none_or(|q| q < 1000) {
        return invalid(BadClaim::Size { size: Quoted(size.0.clone()) });
    }
    if is_made {
        return Ok(claim);
    }
    match storage_class::find(claim.spec.storage_class_name.as_deref(), classes) {
        Ok(()) => Ok(claim),
        Err(NoClass::Named(name)) => Err(Refusal::NoClass { name }),
        Err(NoClass::Default) => Err(Refusal::NoDefaultClass),
    }
}
