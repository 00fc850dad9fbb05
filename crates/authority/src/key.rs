//! Keys: P-256, in the form that Cassandra reads (PKCS#8).

use crate::words::Refused;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};

/// A new key (PKCS#8, PEM). It is a secret.
///
/// # Errors
/// The library of cryptography has no randomness.
pub fn key() -> Result<String, Refused> {
    Ok(pair()?.serialize_pem())
}

pub(crate) fn pair() -> Result<KeyPair, Refused> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
        .map_err(|error| Refused::Key { why: error.to_string() })
}

pub(crate) fn read(pem: &str) -> Result<KeyPair, Refused> {
    KeyPair::from_pkcs8_pem_and_sign_algo(pem, &PKCS_ECDSA_P256_SHA256)
        .map_err(|error| Refused::Key { why: error.to_string() })
}
