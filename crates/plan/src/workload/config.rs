//! Which ConfigMaps and Secrets a pod template refers to, and what their data
//! amounts to.

use crate::hash;
use crate::workload::environment::containers;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The two kinds that hold configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigKind {
    /// A ConfigMap.
    ConfigMap,
    /// A Secret.
    Secret,
}

impl ConfigKind {
    /// Kubernetes' word.
    pub fn as_str(self) -> &'static str {
        match self {
            ConfigKind::ConfigMap => "ConfigMap",
            ConfigKind::Secret => "Secret",
        }
    }
}

/// Can a pod start without the object?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// No.
    Required,
    /// Yes: every reference to it says `optional: true`.
    Optional,
}

/// Every ConfigMap and Secret that environment variables and volumes refer to.
pub fn references(template: &Value) -> BTreeMap<(ConfigKind, String), Need> {
    let mut found: BTreeMap<(ConfigKind, String), Need> = BTreeMap::new();
    visit(&mut template.clone(), &mut |kind, name, optional| {
        let need = found.entry((kind, name.clone())).or_insert(Need::Optional);
        if !optional {
            *need = Need::Required;
        }
    });
    found
}

/// Those of a kind without which the kubelet starts no container of a pod; for a volume it says
/// so in an event alone.
pub fn required(template: &Value, of: ConfigKind) -> BTreeSet<String> {
    let all = references(template).into_iter();
    let required = all.filter(|((kind, _), need)| *kind == of && *need == Need::Required);
    required.map(|((_, name), _)| name).collect()
}

/// Put another name in the place of a Secret's, wherever the template refers to it.
pub fn rename_secrets(template: &mut Value, names: &BTreeMap<String, String>) {
    visit(template, &mut |kind, name, _| {
        if kind == ConfigKind::Secret
            && let Some(new) = names.get(name)
        {
            *name = new.clone();
        }
    });
}

/// Hash of an object's data. Labels, annotations and other metadata do not count.
pub fn data_hash(body: &Value) -> String {
    hash::of(&json!([body["data"], body["binaryData"], body["stringData"]]))
}

/// Names of all containers of the template, without init containers.
pub fn container_names(template: &Value) -> BTreeSet<&str> {
    let list = template["spec"]["containers"].as_array();
    list.into_iter().flatten().filter_map(|c| c["name"].as_str()).collect()
}

type Visitor<'a> = &'a mut dyn FnMut(ConfigKind, &mut String, bool);

/// What is of another shape refers to nothing.
fn visit(template: &mut Value, see: Visitor<'_>) {
    let Some(spec) = template.get_mut("spec") else { return };
    for list in ["initContainers", "containers"] {
        for container in items(spec, list) {
            for variable in items(container, "env") {
                for (field, kind) in [
                    ("configMapKeyRef", ConfigKind::ConfigMap),
                    ("secretKeyRef", ConfigKind::Secret),
                ] {
                    reference(
                        variable.get_mut("valueFrom").and_then(|v| v.get_mut(field)),
                        "name",
                        kind,
                        see,
                    );
                }
            }
            for source in items(container, "envFrom") {
                reference(source.get_mut("configMapRef"), "name", ConfigKind::ConfigMap, see);
                reference(source.get_mut("secretRef"), "name", ConfigKind::Secret, see);
            }
        }
    }
    for volume in items(spec, "volumes") {
        reference(volume.get_mut("configMap"), "name", ConfigKind::ConfigMap, see);
        reference(volume.get_mut("secret"), "secretName", ConfigKind::Secret, see);
        let Some(projected) = volume.get_mut("projected") else {
            continue;
        };
        for source in items(projected, "sources") {
            reference(source.get_mut("configMap"), "name", ConfigKind::ConfigMap, see);
            reference(source.get_mut("secret"), "name", ConfigKind::Secret, see);
        }
    }
}

fn items<'a>(value: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    value.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}

fn reference(value: Option<&mut Value>, field: &str, kind: ConfigKind, see: Visitor<'_>) {
    let Some(value) = value else { return };
    let optional = value["optional"].as_bool().unwrap_or(false);
    if let Some(Value::String(name)) = value.get_mut(field)
        && !name.is_empty()
    {
        see(kind, name, optional);
    }
}

/// Does the template name its containers at all?
pub fn has_containers(template: &Value) -> bool {
    containers(template).next().is_some() && !container_names(template).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template() -> Value {
        json!({ "spec": {
            "initContainers": [{ "name": "i", "envFrom": [{ "secretRef": { "name": "s1" } }] }],
            "containers": [{ "name": "c",
                "env": [
                    { "name": "A", "value": "1" },
                    { "name": "B", "valueFrom": { "configMapKeyRef": { "name": "m1", "key": "k", "optional": true } } },
                    { "name": "C", "valueFrom": { "secretKeyRef": { "name": "s2", "key": "k" } } }
                ],
                "envFrom": [{ "configMapRef": { "name": "m1" } }, { "configMapRef": { "name": "m2", "optional": true } }]
            }],
            "volumes": [
                { "name": "a", "configMap": { "name": "m3" } },
                { "name": "b", "secret": { "secretName": "s3", "optional": true } },
                { "name": "c", "projected": { "sources": [
                    { "configMap": { "name": "m4" } }, { "secret": { "name": "s4" } }, { "downwardAPI": {} }
                ] } }
            ]
        } })
    }

    #[test]
    fn every_way_to_refer_to_configuration_is_found() {
        let found = references(&template());
        let names: Vec<String> = found
            .iter()
            .map(|((kind, name), need)| format!("{} {name} {need:?}", kind.as_str()))
            .collect();
        assert_eq!(
            names,
            [
                "ConfigMap m1 Required",
                "ConfigMap m2 Optional",
                "ConfigMap m3 Required",
                "ConfigMap m4 Required",
                "Secret s1 Required",
                "Secret s2 Required",
                "Secret s3 Optional",
                "Secret s4 Required",
            ]
        );
    }

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
        let names = |of| required(&template, of).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(names(ConfigKind::ConfigMap), "all map one part");
        assert_eq!(names(ConfigKind::Secret), "keys part-of-keys word words");
        for shape in [json!({}), json!([]), json!("x"), json!({ "spec": [] }), json!({ "spec": 3 })]
        {
            assert!(references(&shape).is_empty(), "{shape}");
        }
    }

    #[test]
    fn secrets_are_renamed_wherever_they_are_referred_to() {
        let mut template = template();
        let names = ["s1", "s2", "s3", "s4"].map(|n| (n.to_string(), format!("{n}-new")));
        rename_secrets(&mut template, &BTreeMap::from(names));
        let secrets =
            references(&template).into_keys().filter(|(kind, _)| *kind == ConfigKind::Secret);
        assert!(secrets.into_iter().all(|(_, name)| name.ends_with("-new")));
        assert!(references(&template).contains_key(&(ConfigKind::ConfigMap, "m1".to_string())));
    }

    #[test]
    fn only_data_counts() {
        let body = json!({ "data": { "a": "1" }, "metadata": { "labels": { "x": "y" } } });
        assert_eq!(data_hash(&body), data_hash(&json!({ "data": { "a": "1" } })));
        assert_ne!(data_hash(&body), data_hash(&json!({ "data": { "a": "2" } })));
        assert_ne!(data_hash(&body), data_hash(&json!({ "binaryData": { "a": "1" } })));
    }
}
