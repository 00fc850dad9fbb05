//! TLS to the members. Their certificates must come from the authority that is
//! given; whom they name does not matter, because members are asked by address.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

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
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(OfAuthority { roots, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("preparing TLS")?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Chain, dates and signatures as ever; names are not compared.
#[derive(Debug)]
struct OfAuthority {
    roots: RootCertStore,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OfAuthority {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let algorithms = self.provider.signature_verification_algorithms.all;
        let leaf = ParsedCertificate::try_from(leaf)?;
        verify_server_cert_signed_by_trust_anchor(
            &leaf,
            &self.roots,
            intermediates,
            now,
            algorithms,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_authority_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let empty = directory.path().join("ca.crt");
        std::fs::write(&empty, "no certificate\n").unwrap();
        let why = trusting(&empty).unwrap_err().to_string();
        assert!(why.contains("holds no certificate"), "{why}");
        let missing = trusting(&directory.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("reading"), "{missing}");
    }
}
