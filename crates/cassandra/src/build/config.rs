//! The configuration of a rack: an immutable ConfigMap whose name carries the
//! hash of its content, so that old pods keep the old one.

use super::common::{metadata, rack_labels};
use super::release::Rendered;
use crate::generations::Generation;
use crate::validate::{Valid, ValidRack};
use palladion_api::server_config::{JMX_EXPORTER_FILE, SERVER_CONFIG_FILE};
use palladion_plan::hash;
use serde_json::{Value, json};

/// The ConfigMap of a rack, which the pods of this rendering mount.
pub fn config_map(valid: &Valid, rack: &ValidRack, rendered: &Rendered) -> Value {
    let generation = rendered.generation;
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(valid, &name(rack, generation), &rack_labels(valid, rack)),
        "immutable": true,
        "data": data(rack, generation),
    })
}

/// Its name.
pub fn name(rack: &ValidRack, generation: Generation) -> String {
    format!("{}-{}", rack.set, hash::of(&data(rack, generation)))
}

fn data(rack: &ValidRack, generation: Generation) -> Value {
    let server = (generation.server_json)(&rack.server);
    let mut data = json!({ SERVER_CONFIG_FILE: server.to_string() });
    if let Some(exporter) = &rack.jmx_exporter {
        data[JMX_EXPORTER_FILE] = Value::from(exporter.as_str());
    }
    data
}
