//! A sealed server: over CQL it takes its own agent alone.

use super::{Local, encryption};
use crate::capabilities::Capabilities;
use serde_json::{Map, Value, json};

/// Key and certificate of a sealed server.
pub const PAIR: &str = "seal.pem";
/// The authority whose certificates it asks for: nobody but the agent has one.
pub const AUTHORITY: &str = "seal-ca.pem";

/// Settings of `cassandra.yaml`, over all others. Where the server reads no PEM files (4.0) only
/// the loopback address of the pod keeps others out.
pub fn settings(capabilities: Capabilities, local: &Local, into: &mut Map<String, Value>) {
    into.remove("rpc_interface");
    into.remove("native_transport_port_ssl");
    into.remove("client_encryption_options");
    into.insert("rpc_address".into(), json!("127.0.0.1"));
    into.insert("start_native_transport".into(), json!(true));
    if capabilities.reads_pem() {
        let mut options = encryption::stores((PAIR, AUTHORITY), local);
        options["enabled"] = true.into();
        options["optional"] = false.into();
        options["require_client_auth"] = true.into();
        into.insert("client_encryption_options".into(), options);
    }
}
