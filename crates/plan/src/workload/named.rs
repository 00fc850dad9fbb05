//! ConfigMaps and Secrets that a pod template names and cannot do without: as long as one
//! of them is missing, the kubelet starts no container of the pod, and for a volume it
//! says so in an event alone.

use serde_json::Value;
use std::collections::BTreeSet;

/// Where a pod template names objects of a kind.
struct Places {
    /// The source of a volume, also among those of a projected one, and its field.
    volume: (&'static str, &'static str),
    /// The source of one variable.
    variable: &'static str,
    /// The source of all variables.
    variables: &'static str,
}

const CONFIG_MAPS: Places = Places {
    volume: ("configMap", "name"),
    variable: "configMapKeyRef",
    variables: "configMapRef",
};

const SECRETS: Places =
    Places { volume: ("secret", "secretName"), variable: "secretKeyRef", variables: "secretRef" };

/// ConfigMaps that pods of this template need.
pub fn config_maps(template: &Value) -> BTreeSet<String> {
    named(template, &CONFIG_MAPS)
}

/// Secrets that pods of this template need.
pub fn secrets(template: &Value) -> BTreeSet<String> {
    named(template, &SECRETS)
}

fn named(template: &Value, places: &Places) -> BTreeSet<String> {
    let spec = &template["spec"];
    let (source, field) = places.volume;
    let mut found = Vec::new();
    for volume in list(&spec["volumes"]) {
        found.push(needed(&volume[source], field));
        let parts = list(&volume["projected"]["sources"]);
        // In a part of a projected volume both kinds are named in the same field.
        found.extend(parts.map(|part| needed(&part[source], "name")));
    }
    for container in ["initContainers", "containers"].iter().flat_map(|all| list(&spec[*all])) {
        let one = list(&container["env"]);
        found.extend(one.map(|v| needed(&v["valueFrom"][places.variable], "name")));
        let all = list(&container["envFrom"]);
        found.extend(all.map(|from| needed(&from[places.variables], "name")));
    }
    found.into_iter().flatten().map(str::to_string).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The name in a reference, unless the pod can do without.
fn needed<'a>(reference: &'a Value, field: &str) -> Option<&'a str> {
    let name = reference[field].as_str().filter(|name| !name.is_empty())?;
    (reference["optional"] != true).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_pod_can_do_without_is_not_needed() {
        let template = json!({ "spec": {
            "volumes": [
                { "name": "a", "configMap": { "name": "map" } },
                { "name": "b", "configMap": { "name": "may-be", "optional": true } },
                { "name": "c", "secret": { "secretName": "keys" } },
                { "name": "d", "projected": { "sources": [
                    { "configMap": { "name": "part" } },
                    { "secret": { "name": "part-of-keys" } },
                    { "secret": { "name": "may-be", "optional": true } },
                ] } },
                { "name": "e", "emptyDir": {} },
            ],
            "initContainers": [{ "name": "i", "envFrom": [{ "configMapRef": { "name": "all" } }] }],
            "containers": [{ "name": "c", "env": [
                { "name": "A", "value": "1" },
                { "name": "B", "valueFrom": { "configMapKeyRef": { "name": "one", "key": "k" } } },
                { "name": "C", "valueFrom": { "secretKeyRef": { "name": "word", "key": "k" } } },
            ], "envFrom": [{ "secretRef": { "name": "words" } }] }],
        } });
        let names = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(names(config_maps(&template)), "all map one part");
        assert_eq!(names(secrets(&template)), "keys part-of-keys word words");
        assert!(config_maps(&json!({})).is_empty());
    }
}
