//! The ConfigMap with the texts of all pods.

use super::{metadata, object};
use crate::owner::Owner;
use crate::resources::CONFIG_MAP;
use palladion_api::component::names;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The ConfigMap.
pub fn config_map(owner: Owner<'_>, data: &BTreeMap<String, String>) -> Value {
    let mut map = object(CONFIG_MAP, metadata(owner, &names::config_map(owner.name)));
    map["data"] = json!(data);
    map
}

/// Bytes of the texts and their keys.
pub fn size(data: &BTreeMap<String, String>) -> usize {
    data.iter().map(|(key, text)| key.len() + text.len()).sum()
}
