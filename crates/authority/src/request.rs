//! Requests (PKCS#10): made by a member with its key, and read by the authority.

use crate::key;
use crate::words::Refused;
use rcgen::{CertificateParams, CertificateSigningRequestParams, DnType, PKCS_ECDSA_P256_SHA256};

/// The longest request that is looked at (PEM).
pub const LONGEST_REQUEST: usize = 4096;

/// A request for a certificate of this key. The name in it is for people who
/// look at it; the authority takes names from what is on record.
///
/// # Errors
/// The key cannot be read.
pub fn request(key: &str, member: &str) -> Result<String, Refused> {
    let pair = key::read(key)?;
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, member);
    let unusable = |error: rcgen::Error| Refused::Request { why: error.to_string() };
    params.serialize_request(&pair).and_then(|request| request.pem()).map_err(unusable)
}

/// The public key of a request, whose signature shows that the sender has the key.
pub(crate) fn read(pem: &str) -> Result<rcgen::PublicKey, Refused> {
    if pem.len() > LONGEST_REQUEST {
        return Err(Refused::TooLong { most: LONGEST_REQUEST });
    }
    let request = CertificateSigningRequestParams::from_pem(pem)
        .map_err(|error| Refused::Request { why: error.to_string() })?;
    if *request.public_key.algorithm() != PKCS_ECDSA_P256_SHA256 {
        return Err(Refused::KeyKind);
    }
    Ok(request.public_key)
}
