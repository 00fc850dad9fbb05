//! PEM and fingerprints.

use crate::words::Refused;
use sha2::{Digest, Sha256};
use x509_parser::pem::Pem;

/// The label of certificates.
const CERTIFICATE: &str = "CERTIFICATE";

/// The certificates in a text, as DER, in their order.
pub(crate) fn certificates(text: &str) -> Result<Vec<Vec<u8>>, Refused> {
    let mut all = Vec::new();
    for block in Pem::iter_from_buffer(text.as_bytes()) {
        let block = block.map_err(|error| Refused::NotPem { why: error.to_string() })?;
        if block.label == CERTIFICATE {
            all.push(block.contents);
        }
    }
    Ok(all)
}

/// SHA-256 of each certificate in a text; nothing of one that cannot be read.
pub fn fingerprints(text: &str) -> Vec<String> {
    certificates(text).unwrap_or_default().iter().map(|der| fingerprint(der)).collect()
}

/// SHA-256 of a certificate.
pub(crate) fn fingerprint(der: &[u8]) -> String {
    Sha256::digest(der).iter().map(|byte| format!("{byte:02x}")).collect()
}
