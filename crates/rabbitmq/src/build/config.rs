//! The configuration of the nodes: an immutable ConfigMap whose name carries the hash of
//! its content, so that old pods keep the old one.

use crate::validate::Valid;
use palladion_api::rabbitmq::RABBITMQ_CONFIG_FILE;
use palladion_plan::members::build;
use serde_json::{Value, json};

/// The ConfigMap that the pods mount.
pub fn config_map(valid: &Valid) -> Value {
    build::config_map(valid, &data(valid))
}

/// Its name.
pub fn name(valid: &Valid) -> String {
    build::config_map_name(valid, &data(valid))
}

fn data(valid: &Valid) -> Value {
    json!({ RABBITMQ_CONFIG_FILE: json!(valid.server).to_string() })
}
