//! The password of the superuser, by which the agent changes the configuration. Each
//! server has its own, made for one start: a change that is sent to a follower is
//! accepted by the leader as the follower's superuser.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Who the superuser is, where nobody says otherwise (`DigestAuthenticationProvider`).
pub const USER: &str = "super";

/// A password.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// A random one.
    pub fn random() -> Self {
        let word = || uuid::Uuid::new_v4().simple().to_string();
        Self(format!("{}{}", word(), word()))
    }

    /// For the server; nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the server is told in its place. It compares by SHA-1, as it does for the
    /// passwords of clients; the password is random and as long as two of them, so that
    /// the hash tells nothing.
    pub fn digest(&self) -> String {
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{USER}:{}", self.0).as_bytes());
        format!("{USER}:{}", STANDARD.encode(hash))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of ZooKeeper's administrator's guide for `superDigest`:
    /// `DigestAuthenticationProvider super:test`.
    #[test]
    fn the_digest_is_the_one_that_zookeeper_makes() {
        let password = Password("test".into());
        assert_eq!(password.digest(), "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
    }

    #[test]
    fn two_passwords_differ_and_none_is_shown() {
        let (one, other) = (Password::random(), Password::random());
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), 64);
        assert_eq!(format!("{one:?}"), "Password(hidden)");
    }
}
