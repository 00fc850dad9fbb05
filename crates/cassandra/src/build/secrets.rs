//! The Secrets of a member's pod: files, never environment or arguments. The
//! kubelet reads them, so neither operator nor agent needs a right to.

use crate::generations::Generation;
use crate::validate::{Valid, ValidRack};
use palladion_api::names;
use palladion_api::server_config::{
    AGENTS_FOLDER, CLIENT_TLS_FOLDER, ClientEncryption, SUPERUSER_FOLDER,
};
use serde_json::{Value, json};

/// Name of the volume.
pub const VOLUME: &str = "secrets";
/// Readable for user and group of the server (0440).
const FILE_MODE: i32 = 0o440;

/// The volume, where the rack's servers ask who logs in or take clients with
/// TLS. Other rings get none: their pods stay as they are. All sources are
/// optional, since a member that has joined starts by itself, whatever is missing.
pub fn volume(valid: &Valid, rack: &ValidRack, generation: Generation) -> Option<Value> {
    let agents = names::agents_secret(&valid.name);
    let mut sources = Vec::new();
    if rack.server.asks_who_logs_in() {
        sources.push(source(&agents, AGENTS_FOLDER, &["username", "password"]));
        sources.push(source(&valid.superuser_secret, SUPERUSER_FOLDER, &["username", "password"]));
    }
    match ((generation.client_encryption)(&rack.server), &valid.client_tls_secret) {
        (ClientEncryption::OfSecret, Some(secret)) => {
            sources.push(source(secret, CLIENT_TLS_FOLDER, &["tls.crt", "tls.key", "ca.crt"]));
        }
        // What servers were given by hand only the person knows: the agents trust this.
        (ClientEncryption::ByHand, _) => {
            sources.push(source(&agents, CLIENT_TLS_FOLDER, &["ca.crt"]));
        }
        // Keys of the member's own are on its volume.
        (ClientEncryption::OfSecret, None)
        | (ClientEncryption::OfOperator | ClientEncryption::Plain, _) => {}
    }
    (!sources.is_empty()).then(
        || json!({ "name": VOLUME, "projected": { "defaultMode": FILE_MODE, "sources": sources } }),
    )
}

fn source(secret: &str, folder: &str, keys: &[&str]) -> Value {
    let items: Vec<Value> =
        keys.iter().map(|key| json!({ "key": key, "path": format!("{folder}/{key}") })).collect();
    json!({ "secret": { "name": secret, "items": items, "optional": true } })
}
