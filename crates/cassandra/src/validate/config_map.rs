//! ConfigMaps that a rack names: found, read and checked.

use super::{ConfigMapFact, Input, Refusal};
use palladion_api::cluster::{Mode, Rack};
use palladion_api::ids::RackName;
use palladion_api::server_config::JMX_EXPORTER_FILE;
use palladion_plan::Object;
use palladion_plan::words::Names;
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
    let (named, of) = (|| name.to_string(), || rack.name.clone());
    // The exporter's may be in the same ConfigMap.
    let stray = |key: &&str| !used.contains(key) && *key != JMX_EXPORTER_FILE;
    if let Some(key) = keys(&map).find(stray) {
        let (key, used) = (key.to_string(), Names::of(used));
        return Err(Refusal::ConfigMapKey { key, name: named(), rack: of(), used });
    }
    let (yaml, options) = (text(&map, file), text(&map, OPTIONS_KEY));
    if yaml.is_none() && options.is_none() {
        let used = Names::of(used);
        return Err(Refusal::ConfigMapEmpty { name: named(), rack: of(), used });
    }
    let config = yaml_map(yaml.unwrap_or_default()).map_err(|e| Refusal::ConfigMapUnreadable {
        key: file,
        name: named(),
        rack: of(),
        why: e.to_string(),
    })?;
    Ok(OfRack { config, options: option_lines(options.unwrap_or_default()).collect() })
}

/// The configuration of the JMX exporter, where the rack names one.
pub fn jmx_exporter(input: &Input<'_>, rack: &Rack) -> Result<Option<String>, Refusal> {
    let Some(name) = &rack.jmx_exporter_config_map_name else {
        return Ok(None);
    };
    if input.spec.mode == Mode::Scylla {
        return Err(Refusal::ExporterOfScylla { rack: rack.name.clone() });
    }
    let map = find(input, name, &rack.name)?;
    let Some(text) = text(&map, JMX_EXPORTER_FILE) else {
        let (name, rack) = (name.clone(), rack.name.clone());
        return Err(Refusal::ConfigMapNoKey { name, rack, key: JMX_EXPORTER_FILE });
    };
    match yaml_map(text) {
        Ok(_) => Ok(Some(text.to_string())),
        Err(e) => Err(Refusal::ConfigMapUnreadable {
            key: JMX_EXPORTER_FILE,
            name: name.clone(),
            rack: rack.name.clone(),
            why: e.to_string(),
        }),
    }
}

fn find(input: &Input<'_>, name: &str, rack: &RackName) -> Result<Arc<Object>, Refusal> {
    let (named, rack) = (name.to_string(), rack.clone());
    match (input.config_map)(name) {
        ConfigMapFact::Present(map) => Ok(map),
        ConfigMapFact::Missing => Err(Refusal::ConfigMapMissing { name: named, rack }),
        ConfigMapFact::Unknown(why) => Err(Refusal::ConfigMapUnknown { name: named, rack, why }),
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
