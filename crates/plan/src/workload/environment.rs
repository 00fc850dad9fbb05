//! Environment variables for every container of a pod template.

use serde_json::{Value, json};

/// Both lists of containers: what starts first needs the zone as well.
const LISTS: [&str; 2] = ["initContainers", "containers"];

/// Give every container and init container these variables, before its own, so
/// that its own may refer to them.
pub fn add(template: &mut Value, variables: &[(&str, String)]) {
    for container in containers_mut(template) {
        let mut all: Vec<Value> =
            variables.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        if let Some(own) = container["env"].as_array() {
            all.extend(own.iter().cloned());
        }
        container["env"] = Value::Array(all);
    }
}

/// The first of these names that a container sets by itself, as `(container, variable)`.
pub fn first_set<'a>(template: &'a Value, names: &[&str]) -> Option<(&'a str, &'a str)> {
    containers(template).find_map(|container| {
        let variables = container["env"].as_array()?;
        let mut set = variables.iter().filter_map(|v| v["name"].as_str());
        let name = set.find(|name| names.contains(name))?;
        Some((container["name"].as_str().unwrap_or_default(), name))
    })
}

/// Every container and init container of a template.
pub fn containers(template: &Value) -> impl Iterator<Item = &Value> {
    LISTS.iter().filter_map(|list| template["spec"][*list].as_array()).flatten()
}

fn containers_mut(template: &mut Value) -> impl Iterator<Item = &mut Value> {
    let spec = template.get_mut("spec").and_then(Value::as_object_mut);
    spec.into_iter()
        .flat_map(|spec| spec.iter_mut())
        .filter(|(key, _)| LISTS.contains(&key.as_str()))
        .filter_map(|(_, list)| list.as_array_mut())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_container_gets_the_variables_before_its_own() {
        let mut template = json!({ "spec": {
            "initContainers": [{ "name": "i" }],
            "containers": [{ "name": "c", "env": [{ "name": "OWN", "value": "$(ZONE)" }] }],
            "volumes": [{ "name": "v" }]
        } });
        assert_eq!(first_set(&template, &["ZONE"]), None);
        add(&mut template, &[("ZONE", "a".to_string())]);
        let zone = json!({ "name": "ZONE", "value": "a" });
        assert_eq!(template["spec"]["initContainers"][0]["env"], json!([zone]));
        assert_eq!(
            template["spec"]["containers"][0]["env"],
            json!([zone, { "name": "OWN", "value": "$(ZONE)" }])
        );
        assert_eq!(template["spec"]["volumes"], json!([{ "name": "v" }]));
        assert_eq!(first_set(&template, &["ZONE"]), Some(("i", "ZONE")));
    }
}
