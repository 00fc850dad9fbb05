//! What keeps others out of a server: what it has, and what it is not to be started without.

use crate::word::Word;
use serde::{Deserialize, Serialize};

/// Something that keeps others out of a server, in full: what takes both, or is on the way there,
/// protects nothing.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum Guard {
    /// It asks for a user and a password.
    Password,
    /// It takes clients over TLS alone.
    ClientTls,
    /// It takes other members over TLS alone.
    InternodeTls,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// Most guards that are listed.
pub const MOST_GUARDS: usize = 8;

impl std::fmt::Display for Guard {
    /// For people.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Guard::Password => "passwords (`auth`)",
            Guard::ClientTls => "TLS for clients (`tls.client`)",
            Guard::InternodeTls => "TLS between members (`tls.internode`)",
            Guard::Unknown(word) => word.as_str(),
        })
    }
}

/// What of the floor is not there.
pub fn missing(floor: &[Guard], there: &[Guard]) -> Vec<Guard> {
    floor.iter().filter(|guard| !there.contains(guard)).copied().collect()
}
