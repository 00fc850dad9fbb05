//! The configuration of a rack: an immutable ConfigMap whose name carries the
//! hash of its content, so that old pods keep the old one.

use super::common::{metadata, rack_labels};
use crate::validate::{Valid, ValidRack};
use palladion_api::server_config::{JMX_EXPORTER_FILE, SERVER_CONFIG_FILE};
use palladion_plan::hash;
use serde_json::{Value, json};

/// The ConfigMap of a rack.
pub fn config_map(valid: &Valid, rack: &ValidRack) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(valid, &name(rack), &rack_labels(valid, rack)),
        "immutable": true,
        "data": data(rack),
    })
}

/// Its name.
pub fn name(rack: &ValidRack) -> String {
    format!("{}-{}", rack.set, hash::of(&data(rack)))
}

fn data(rack: &ValidRack) -> Value {
    let mut data = json!({ SERVER_CONFIG_FILE: json!(rack.server).to_string() });
    if let Some(exporter) = &rack.jmx_exporter {
        data[JMX_EXPORTER_FILE] = Value::from(exporter.as_str());
    }
    data
}
