//! How this release makes what the pods of a rack mount: one entry for each
//! template generation. Pods that stand keep the generation that they were made
//! with (safety rule 7.9, ADR 12), so an entry never changes.

use palladion_api::server_config::{ClientEncryption, ServerConfig};
use serde_json::{Value, json};

/// One template generation.
#[derive(Clone, Copy, Debug)]
pub struct Generation {
    /// The content of `server.json`.
    pub server_json: fn(&ServerConfig) -> Value,
    /// How servers take clients, as far as pods mount certificates for it.
    pub client_encryption: fn(&ServerConfig) -> ClientEncryption,
}

/// The generations that a release knows, numbered from 1.
#[derive(Clone, Copy, Debug)]
pub struct Generations {
    /// The first one.
    pub first: Generation,
    /// Those after it, in order.
    pub later: &'static [Generation],
}

/// Those of this release. Whoever changes what a given spec is rendered to,
/// template or configuration, adds one and keeps the older ones as they are;
/// `build/tests/generations.rs` holds them.
pub const OF_THIS_RELEASE: Generations = Generations { first: FIRST, later: &[SECOND] };

/// As the spec has it. Encryption that was set by hand counts only where others
/// are refused in so many words.
pub const FIRST: Generation = Generation {
    server_json: |server| json!(server),
    client_encryption: |server| match server.client_encryption() {
        ClientEncryption::ByHand if !refuses_others(server) => ClientEncryption::Plain,
        other @ (ClientEncryption::Plain
        | ClientEncryption::OfSecret
        | ClientEncryption::OfOperator
        | ClientEncryption::ByHand) => other,
    },
};

/// A server that is to encrypt takes no others unless it says so: pods mount the
/// authorities for it.
pub const SECOND: Generation =
    Generation { client_encryption: ServerConfig::client_encryption, ..FIRST };

fn refuses_others(server: &ServerConfig) -> bool {
    let options = server.config.get("client_encryption_options");
    options.and_then(|all| all.get("optional")?.as_bool()) == Some(false)
}

impl Generations {
    /// The newest one and its number.
    pub fn newest(&self) -> (u32, Generation) {
        let count = u32::try_from(self.later.len()).unwrap_or(u32::MAX);
        (count.saturating_add(1), self.later.last().copied().unwrap_or(self.first))
    }

    /// The one of this number; a newer Palladion may know more.
    pub fn get(&self, number: u32) -> Option<Generation> {
        match number {
            0 => None,
            1 => Some(self.first),
            later => self.later.get(usize::try_from(later).ok()?.checked_sub(2)?).copied(),
        }
    }
}

/// Releases that know as many know the same.
impl PartialEq for Generations {
    fn eq(&self, other: &Self) -> bool {
        self.newest().0 == other.newest().0
    }
}
