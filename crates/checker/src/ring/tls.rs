//! TLS to the members. Their certificates must come from the authority that is
//! given; whom they name does not matter, because members are asked by address.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// TLS that trusts the authorities of a PEM file.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
pub fn trusting(authorities: &Path) -> Result<Arc<ClientConfig>> {
    let reading = || format!("reading {}", authorities.display());
    let text = std::fs::read(authorities).with_context(reading)?;
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(&text) {
        roots.add(authority.with_context(reading)?).with_context(reading)?;
    }
    ensure!(!roots.is_empty(), "{} holds no certificate", authorities.display());
    Ok(Arc::new(palladion_trust::client(roots).context("preparing TLS")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_authority_is_refused() {
        let directory = tempfile::tempdir().expect("should be done");
        let empty = directory.path().join("ca.crt");
        std::fs::write(&empty, "no certificate\n").expect("should be done");
        let why = trusting(&empty).expect_err("should be refused").to_string();
        assert!(why.contains("holds no certificate"), "{why}");
        let missing =
            trusting(&directory.path().join("none")).expect_err("should be refused").to_string();
        assert!(missing.contains("reading"), "{missing}");
    }
}
