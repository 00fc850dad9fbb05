//! ConfigMaps and claims that the template of a service names: each is watched by its name.
//! As long as a ConfigMap is missing no pod of the template would start.

use crate::resources::{CLAIM, CONFIG_MAP};
use crate::words::refusal::Unknown;
use palladion_api::component::names;
use palladion_plan::workload::config::{ConfigKind, required};
use palladion_plan::{Object, ObjectKey, Observed, Snapshot};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many may be named: each is a connection of its own to the API server.
pub const MOST: usize = 64;

/// The ConfigMaps and claims that the template of an owner names; none if there are too many,
/// and then its spec is refused.
pub fn references(owner: &Object) -> Vec<ObjectKey> {
    let all = all(owner);
    if all.len() > MOST { Vec::new() } else { all }
}

/// How many there are.
pub fn count(owner: &Object) -> usize {
    all(owner).len()
}

fn all(owner: &Object) -> Vec<ObjectKey> {
    let none = Value::Null;
    let template = owner.at("/spec/template").unwrap_or(&none);
    let meta = &owner.meta;
    let maps = foreign(template, &meta.name).into_iter();
    let maps = maps.map(|name| ObjectKey::new(CONFIG_MAP, &meta.namespace, &name));
    claims(owner).into_iter().chain(maps).collect()
}

/// The claims among them: every pod mounts them.
pub fn claims(owner: &Object) -> Vec<ObjectKey> {
    let volumes = owner.at("/spec/template/spec/volumes").and_then(|all| all.as_array());
    let names: BTreeSet<&str> = volumes
        .into_iter()
        .flatten()
        .filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
        .collect();
    names.into_iter().map(|name| ObjectKey::new(CLAIM, &owner.meta.namespace, name)).collect()
}

/// One of them; `None` = it does not exist.
///
/// # Errors
/// It cannot be read, or, as `unwatched` says, nobody has looked yet.
pub fn read<'s>(
    snapshot: &'s Snapshot,
    key: &ObjectKey,
    unwatched: Unknown,
) -> Result<Option<&'s Arc<Object>>, String> {
    match snapshot.references.get(key) {
        Some(Observed::Known { value, .. }) => Ok(value.as_ref()),
        Some(Observed::Unknown { why }) => Err(why.clone()),
        None => Err(unwatched.to_string()),
    }
}

/// The first ConfigMap that does not exist.
///
/// # Errors
/// One of them cannot be read.
pub fn missing(snapshot: &Snapshot, template: &Value) -> Result<Option<String>, String> {
    let owner = &snapshot.owner.meta;
    for name in foreign(template, &owner.name) {
        let key = ObjectKey::new(CONFIG_MAP, &owner.namespace, &name);
        if read(snapshot, &key, Unknown::Unwatched { map: name.clone() })?.is_none() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Without the one that holds the texts of the pods: the operator makes it.
fn foreign(template: &Value, owner: &str) -> BTreeSet<String> {
    let mut all = required(template, ConfigKind::ConfigMap);
    all.remove(&names::config_map(owner));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_plan::Meta;
    use serde_json::json;

    #[test]
    fn so_many_are_watched_and_of_more_none() {
        let owner = |maps: usize| {
            let from = |n| json!({ "configMapRef": { "name": format!("map-{n}") } });
            let from: Vec<Value> = (0..maps).map(from).collect();
            let spec = json!({ "containers": [{ "name": "c", "envFrom": from }] });
            let body = json!({ "spec": { "template": { "spec": spec } } });
            Object { meta: Meta::default(), body }
        };
        assert_eq!(references(&owner(MOST)).len(), MOST);
        assert_eq!(references(&owner(20_000)), []);
        assert_eq!(count(&owner(20_000)), 20_000);
    }
}
