//! A server that is closed to clients: it listens for them inside its pod alone, where its agent
//! logs in as ever.

use serde_json::{Map, Value, json};

/// Settings of `cassandra.yaml`, over all others. What asks clients for passwords and
/// certificates stays as it is.
pub fn settings(into: &mut Map<String, Value>) {
    into.remove("rpc_interface");
    into.remove("native_transport_port_ssl");
    into.insert("rpc_address".into(), json!("127.0.0.1"));
    // Its agent has to reach it, whatever a user has set.
    into.insert("start_native_transport".into(), json!(true));
}
