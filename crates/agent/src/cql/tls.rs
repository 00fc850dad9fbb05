//! TLS to the agent's own server. The certificate must come from the authority
//! that the Secret names; whom it names does not matter, because the connection
//! does not leave the pod.

use crate::words::files::Missing;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
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
}

fn client_config(authorities: &[u8]) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        roots.add(authority?)?;
    }
    anyhow::ensure!(!roots.is_empty(), Missing::Authority);
    Ok(palladion_trust::client(roots)?)
}
