//! Who is who: the identities of members, volumes, pods, claims and turns, each
//! its own type, so that the compiler refuses one in the place of another. "A
//! member is its host ID and its volume ID, never its name" is checked here.
//!
//! In JSON and in the schema each of them is the string that it always was.
//! Reading an object does not check the string: one status that an agent wrote
//! oddly would make the whole ring unreadable, and a mind that cannot read a
//! ring decides nothing for it, not even what would put the status right. What
//! comes from outside (a server, the environment, a person) goes through
//! `parse`.
//!
//! There is no way back to text but [`HostId::as_str`] and its like, for the
//! border: labels, JSON, file paths, requests.
//!
//! ```
//! use palladion_api::ids::{HostId, VolumeId};
//! let (host, volume) = (HostId::from("a"), VolumeId::from("a"));
//! assert_eq!(host.as_str(), volume.as_str());
//! ```
//! Two kinds of identity are never compared:
//! ```compile_fail,E0308
//! # use palladion_api::ids::{HostId, VolumeId};
//! assert!(HostId::from("a") == VolumeId::from("a"));
//! ```
//! nor is one of them with text, nor does one pass for text:
//! ```compile_fail,E0308
//! # use palladion_api::ids::HostId;
//! assert!(HostId::from("a") == "a");
//! ```
//! ```compile_fail,E0308
//! # use palladion_api::ids::MemberName;
//! fn stop(_host_id: &str) {}
//! stop(&MemberName::from("a"));
//! ```

use serde::{Deserialize, Serialize};
use std::fmt;

/// A text that cannot be the identity it was taken for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a valid {what}; {wanted}")]
pub struct Malformed {
    /// The text.
    pub text: String,
    /// What it should have been.
    pub what: &'static str,
    /// How one looks.
    pub wanted: &'static str,
}

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident, $what:literal, $fits:path, $wanted:literal) => {
        $(#[$doc])*
        #[derive(Serialize, Deserialize, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// As an object of the API, a ledger or a name of our own making has
            /// it: not checked, see the head of this module.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// As somebody outside says it: checked.
            pub fn parse(text: &str) -> Result<Self, Malformed> {
                if $fits(text) {
                    return Ok(Self(text.to_string()));
                }
                Err(Malformed { text: text.to_string(), what: $what, wanted: $wanted })
            }

            /// The text, for what stands outside: labels, JSON, paths, requests.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Is nothing known of it?
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        /// Only of a literal: what is known at run time goes through `new` or
        /// `parse`, where the reader sees which identity it becomes.
        impl From<&'static str> for $name {
            fn from(literal: &'static str) -> Self {
                Self::new(literal)
            }
        }

        // By hand: a derived one would put our comment in every field's schema.
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                String::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    };
}

identity! {
    /// Who a member is in its ring: given once by the server, kept with its data.
    HostId, "host ID", is_uuid, "it is a UUID"
}
identity! {
    /// Which data volume this is: given once by the agent, in the volume's marker.
    VolumeId, "volume ID", is_token, "it has 1 to 64 letters, digits, `-`, `_` or `.`"
}
identity! {
    /// Which turn, permit, intent or question this is: never used twice.
    Nonce, "nonce", is_token, "it has 1 to 64 letters, digits, `-`, `_` or `.`"
}
identity! {
    /// Name of a member, and so of its pod and its Service: where it lives, not who it is.
    MemberName, "member name", is_dns_label, "it is a DNS label of at most 63 characters"
}
identity! {
    /// Name of a rack, as the server has it.
    RackName, "rack name", is_rack, "it has 1 to 48 letters, digits, `-`, `_` or `.`"
}
identity! {
    /// uid of a pod.
    PodUid, "pod uid", is_token, "it has 1 to 64 letters, digits, `-`, `_` or `.`"
}
identity! {
    /// uid of a volume claim.
    ClaimUid, "claim uid", is_token, "it has 1 to 64 letters, digits, `-`, `_` or `.`"
}
identity! {
    /// uid of any object of Kubernetes, where it does not matter of which kind.
    Uid, "uid", is_token, "it has 1 to 64 letters, digits, `-`, `_` or `.`"
}
identity! {
    /// Which holding of a region lock this is: what the store counts and what its holder drew,
    /// so that a store that was restored names none twice.
    LockToken, "lock token", is_lock_token, "it is a number, `-` and a nonce"
}
identity! {
    /// The address by which the ring knows a member: the ClusterIP of its Service.
    StaticAddress, "address", is_address, "it is an IPv4 or IPv6 address"
}
identity! {
    /// The address by which clients find a member, where that is not its static address.
    ClientAddress, "address", is_address, "it is an IPv4 or IPv6 address"
}
identity! {
    /// Where a seed in another datacenter is found: its address, or a DNS name.
    SeedAddress, "seed address", is_seed_address, "it is an IPv4 or IPv6 address or a DNS name, without a port"
}

impl From<&PodUid> for Uid {
    fn from(pod: &PodUid) -> Self {
        Self(pod.0.clone())
    }
}

impl From<&ClaimUid> for Uid {
    fn from(claim: &ClaimUid) -> Self {
        Self(claim.0.clone())
    }
}

impl From<&Uid> for PodUid {
    /// Of an object that is a pod.
    fn from(pod: &Uid) -> Self {
        Self(pod.0.clone())
    }
}

impl From<&Uid> for ClaimUid {
    /// Of an object that is a claim.
    fn from(claim: &Uid) -> Self {
        Self(claim.0.clone())
    }
}

impl MemberName {
    /// `a-0, b-0`, for people.
    pub fn list(all: &[Self]) -> String {
        all.iter().map(Self::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl StaticAddress {
    /// `10.0.0.1,10.0.0.2`, as servers read a list of seeds.
    pub fn list(all: &[Self]) -> String {
        all.iter().map(Self::as_str).collect::<Vec<_>>().join(",")
    }
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// What can stand in a label, and as one part of a path.
fn is_token(text: &str) -> bool {
    is_word(text, 64)
}

fn is_lock_token(text: &str) -> bool {
    let parts = text.split_once('-');
    parts.is_some_and(|(count, nonce)| count.parse::<u64>().is_ok() && is_token(nonce))
}

fn is_rack(text: &str) -> bool {
    is_word(text, 48)
}

fn is_word(text: &str, longest: usize) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=longest).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with('.')
}

fn is_dns_label(text: &str) -> bool {
    let inside = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(inside)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_address(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}

fn is_seed_address(text: &str) -> bool {
    is_address(text) || is_dns_name(text)
}

/// Of which not all labels are numbers: those would be an address, and are none.
fn is_dns_name(text: &str) -> bool {
    let is_number = |label: &str| label.bytes().all(|b| b.is_ascii_digit());
    text.len() <= 253
        && text.split('.').all(|label| is_dns_label(&label.to_ascii_lowercase()))
        && !text.split('.').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde_json::json;

    #[test]
    fn in_json_and_in_the_schema_an_identity_is_its_string() {
        assert_eq!(json!(HostId::from("h")), json!("h"));
        // Not checked: an odd status must not make a ring unreadable.
        let odd: HostId = serde_json::from_value(json!("no UUID")).expect("any text is read");
        assert_eq!(odd.as_str(), "no UUID");
        let mut generator = schemars::SchemaGenerator::default();
        let (own, plain) =
            (HostId::json_schema(&mut generator), String::json_schema(&mut generator));
        assert_eq!(own, plain);
    }

    #[test]
    fn what_comes_from_outside_is_checked() {
        assert!(HostId::parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8").is_ok());
        for wrong in ["", "h1", "../../data", "6ba7b810-9dad-11d1-80b4-00c04fd430cg"] {
            assert!(HostId::parse(wrong).is_err(), "{wrong}");
        }
        assert!(VolumeId::parse("v-1").is_ok());
        for wrong in ["", "..", "a/b", "a b"] {
            assert!(VolumeId::parse(wrong).is_err(), "{wrong}");
        }
        assert!(MemberName::parse("demo-dc1-a-0").is_ok());
        assert!(MemberName::parse("Demo_0").is_err());
        assert!(RackName::parse("Rack_1").is_ok());
        assert!(StaticAddress::parse("fd00::1").is_ok());
        assert!(StaticAddress::parse("demo-0.local").is_err());
        for seed in ["10.0.0.1", "fd00::1", "seeds.Orders.example.com", "1.dc2"] {
            assert!(SeedAddress::parse(seed).is_ok(), "{seed}");
        }
        for wrong in ["", "10.0.0.1:7000", "a:7000", "10.0.0", "300.0.0.1", "a..b", "a b", "-a"] {
            assert!(SeedAddress::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_error_says_what_was_wanted() {
        let error = HostId::parse("h1").expect_err("it is no UUID").to_string();
        assert_eq!(error, "\"h1\" is not a valid host ID; it is a UUID");
    }

    #[test]
    fn identities_read_as_their_text() {
        assert_eq!(format!("{} {:?}", Nonce::from("n"), PodUid::from("p")), "n \"p\"");
        assert_eq!(format!("{:>3}", ClaimUid::from("c")), "  c");
    }
}
