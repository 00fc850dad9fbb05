//! TLS to the agent's own server. The certificate must come from the authority
//! that the Secret names; whom it names does not matter, because the connection
//! does not leave the pod.

use crate::words::files::Missing;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// How the agent speaks to its server.
#[derive(Clone)]
pub enum Encryption {
    /// In the clear.
    Plain,
    /// With TLS.
    Tls(Arc<ClientConfig>),
    /// The server wants TLS, and there is no authority to check it with.
    Impossible(String),
}

impl Encryption {
    /// TLS, trusting the authorities of a PEM file.
    pub fn trusting(authorities: &[u8]) -> Self {
        match client_config(authorities) {
            Ok(config) => Self::Tls(Arc::new(config)),
            Err(error) => Self::Impossible(format!("{error:#}")),
        }
    }
}

fn client_config(authorities: &[u8]) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        roots.add(authority?)?;
    }
    anyhow::ensure!(!roots.is_empty(), Missing::Authority);
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(OfAuthority { roots, provider: provider.clone() });
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
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
