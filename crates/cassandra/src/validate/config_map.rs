//! ConfigMaps that a rack names: found, read and checked.

use super::{ConfigMapFact, Input, Refusal, refuse};
use palladion_api::cluster::{Mode, Rack};
use palladion_api::ids::RackName;
use palladion_api::reasons::Reason;
use palladion_api::server_config::JMX_EXPORTER_FILE;
use palladion_plan::Object;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Key with options for the JVM, one a line.
const OPTIONS_KEY: &str = "jvm-server.options";

/// What a rack's `configMapName` adds.
#[derive(Debug, Default)]
pub struct OfRack {
    /// Settings.
    pub config: BTreeMap<String, Value>,
    /// JVM options.
    pub options: Vec<String>,
}

/// Settings and options of the ConfigMap `name`.
pub fn settings(input: &Input<'_>, rack: &Rack, name: &str) -> Result<OfRack, Refusal> {
    let map = find(input, name, &rack.name)?;
    let (file, used) = match input.spec.mode {
        Mode::Cassandra => ("cassandra.yaml", ["cassandra.yaml", OPTIONS_KEY].as_slice()),
        Mode::Scylla => ("scylla.yaml", ["scylla.yaml"].as_slice()),
    };
    // The exporter's may be in the same ConfigMap.
    let stray = |key: &&str| !used.contains(key) && *key != JMX_EXPORTER_FILE;
    if let Some(key) = keys(&map).find(stray) {
        return invalid(format!(
            "key {key} of ConfigMap {name}, named by rack {}, would be ignored; take it out, or use {}",
            rack.name,
            used.join(" or ")
        ));
    }
    let (yaml, options) = (text(&map, file), text(&map, OPTIONS_KEY));
    if yaml.is_none() && options.is_none() {
        return invalid(format!(
            "ConfigMap {name}, named by rack {}, has no settings; add key {}",
            rack.name,
            used.join(" or ")
        ));
    }
    let config = match yaml_map(yaml.unwrap_or_default()) {
        Ok(config) => config,
        Err(e) => {
            return invalid(format!(
                "key {file} of ConfigMap {name}, named by rack {}, cannot be read: {e}; correct it",
                rack.name
            ));
        }
    };
    Ok(OfRack { config, options: option_lines(options.unwrap_or_default()).collect() })
}

/// The configuration of the JMX exporter, where the rack names one.
pub fn jmx_exporter(input: &Input<'_>, rack: &Rack) -> Result<Option<String>, Refusal> {
    let Some(name) = &rack.jmx_exporter_config_map_name else {
        return Ok(None);
    };
    if input.spec.mode == Mode::Scylla {
        return refuse(
            Reason::InvalidSpec,
            format!(
                "rack {}: `jmxExporterConfigMapName` is for Cassandra; take it out, Scylla serves metrics by itself",
                rack.name
            ),
        );
    }
    let map = find(input, name, &rack.name)?;
    let Some(text) = text(&map, JMX_EXPORTER_FILE) else {
        return invalid(format!(
            "ConfigMap {name}, named by rack {}, has no key {JMX_EXPORTER_FILE}; add it",
            rack.name
        ));
    };
    match yaml_map(text) {
        Ok(_) => Ok(Some(text.to_string())),
        Err(e) => invalid(format!(
            "key {JMX_EXPORTER_FILE} of ConfigMap {name}, named by rack {}, cannot be read: {e}; correct it",
            rack.name
        )),
    }
}

fn invalid<T>(message: String) -> Result<T, Refusal> {
    refuse(Reason::ConfigMapInvalid, message)
}

fn find(input: &Input<'_>, name: &str, rack: &RackName) -> Result<Arc<Object>, Refusal> {
    match (input.config_map)(name) {
        ConfigMapFact::Present(map) => Ok(map),
        ConfigMapFact::Missing => refuse(
            Reason::ConfigMapMissing,
            format!(
                "ConfigMap {name}, named by rack {rack}, does not exist; create it or take its name out of the spec"
            ),
        ),
        ConfigMapFact::Unknown(why) => refuse(
            Reason::FactUnknown,
            format!(
                "ConfigMap {name}, named by rack {rack}, could not be read: {why}; it is read again by itself"
            ),
        ),
    }
}

/// Keys of text and of binary data alike.
fn keys(map: &Object) -> impl Iterator<Item = &str> {
    ["/data", "/binaryData"]
        .into_iter()
        .filter_map(|part| map.at(part).and_then(Value::as_object))
        .flat_map(|entries| entries.keys().map(String::as_str))
}

/// Looked up by key, not by pointer: a key may hold what a pointer reads as a path.
fn text<'a>(map: &'a Object, key: &str) -> Option<&'a str> {
    map.body.get("data")?.get(key)?.as_str()
}

/// The lines of an options file that say something.
fn option_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).map(str::to_string)
}

/// A YAML text as a map of settings; one of comments alone is an empty map.
fn yaml_map(text: &str) -> Result<BTreeMap<String, Value>, serde_yaml::Error> {
    serde_yaml::from_str::<Option<BTreeMap<String, Value>>>(text).map(Option::unwrap_or_default)
}
