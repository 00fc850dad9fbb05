//! TLS to the agent's own server. The certificate must come from the authority
//! that the Secret names; whom it names does not matter, because the connection
//! does not leave the pod.

use crate::words::files::Missing;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
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

    /// TLS, trusting the authorities of a PEM file and showing a certificate (PEM, both).
    pub fn showing(authorities: &[u8], certificate: &str, key: &str) -> anyhow::Result<Self> {
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(certificate.as_bytes()).collect();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())?;
        let config = palladion_trust::client_showing(roots(authorities)?, chain?, key)?;
        Ok(Self::Tls(Arc::new(config)))
    }
}

fn client_config(authorities: &[u8]) -> anyhow::Result<ClientConfig> {
    Ok(palladion_trust::client(roots(authorities)?)?)
}

fn roots(authorities: &[u8]) -> anyhow::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        roots.add(authority?)?;
    }
    anyhow::ensure!(!roots.is_empty(), Missing::Authority);
    Ok(roots)
}
