//! ConfigMaps that the template of a service names: each is watched by its name, and as
//! long as one is missing no pod of the template would start.

use crate::resources::CONFIG_MAP;
use crate::words::refusal::Unknown;
use palladion_api::component::names;
use palladion_plan::workload::named::config_maps;
use palladion_plan::{Object, ObjectKey, Observed, Snapshot};
use serde_json::Value;
use std::collections::BTreeSet;

/// The ConfigMaps that the template of an owner names.
pub fn references(owner: &Object) -> Vec<ObjectKey> {
    let none = Value::Null;
    let template = owner.at("/spec/template").unwrap_or(&none);
    let meta = &owner.meta;
    let keys = foreign(template, &meta.name).into_iter();
    keys.map(|name| ObjectKey::new(CONFIG_MAP, &meta.namespace, &name)).collect()
}

/// The first of them that does not exist.
///
/// # Errors
/// One of them cannot be read.
pub fn missing(snapshot: &Snapshot, template: &Value) -> Result<Option<String>, String> {
    let owner = &snapshot.owner.meta;
    for name in foreign(template, &owner.name) {
        let key = ObjectKey::new(CONFIG_MAP, &owner.namespace, &name);
        match snapshot.references.get(&key) {
            Some(Observed::Known { value: Some(_), .. }) => {}
            Some(Observed::Known { value: None, .. }) => return Ok(Some(name)),
            Some(Observed::Unknown { why }) => return Err(why.clone()),
            None => return Err(Unknown::Unwatched { map: name }.to_string()),
        }
    }
    Ok(None)
}

/// Without the one that holds the texts of the pods: the operator makes it.
fn foreign(template: &Value, owner: &str) -> BTreeSet<String> {
    let mut all = config_maps(template);
    all.remove(&names::config_map(owner));
    all
}
