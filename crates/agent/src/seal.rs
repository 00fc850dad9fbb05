//! The keys to the door of a sealed server: an authority that is made for one start, a
//! certificate for the server and one for the agent. The agent's own key stays in its memory,
//! so nobody else gets a handshake, not by a port that is forwarded to the pod either.

use crate::capabilities::Capabilities;
use crate::cql::tls::Encryption;
use crate::cql::{Credentials, Endpoint};
use crate::render::seal::{AUTHORITY, PAIR};
use crate::volume::durable::write_secret;
use crate::words::files::Doing;
use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::MemberName;
use palladion_authority::{Authority, Identity, Terms, key, request};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

/// Nothing of it outlives the start, which is over in minutes or stands for a Secret that is
/// corrected.
const LIFE: SignedDuration = SignedDuration::from_hours(24 * 30);

/// What opens the door of one sealed server.
#[derive(Clone)]
pub struct Keys {
    /// The launch that they are for.
    pub tag: String,
    encryption: Encryption,
}

impl Keys {
    /// Make them, and put into this folder those that the server reads.
    pub fn make(
        folder: &Path,
        member: &MemberName,
        capabilities: Capabilities,
        tag: &str,
    ) -> Result<Self> {
        let encryption = match capabilities.reads_pem() {
            true => encryption(folder, member)?,
            false => Encryption::Plain,
        };
        Ok(Self { tag: tag.to_string(), encryption })
    }

    /// The sealed server, for whoever logs in by this.
    pub fn endpoint(&self, port: u16, credentials: Option<Credentials>) -> Endpoint {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Endpoint { address, encryption: self.encryption.clone(), credentials }
    }
}

fn encryption(folder: &Path, member: &MemberName) -> Result<Encryption> {
    let now = Timestamp::now();
    let authority = Authority::make("seal", now, LIFE)?;
    let member = member.to_string();
    let of = Identity { namespace: String::new(), ring: String::new(), member: member.clone() };
    let terms = Terms { names: vec!["localhost".into()], addresses: Vec::new(), life: LIFE };
    let pair = || -> Result<(String, String)> {
        let key = key()?;
        let signed = authority.sign(&request(&key, &member)?, &of, &terms, now)?;
        Ok((key, signed.certificate))
    };
    let path = folder.display().to_string();
    fs::create_dir_all(folder).with_context(|| Doing::CreateDirectory { path })?;
    let (key, certificate) = pair()?;
    write_secret(&folder.join(PAIR), format!("{key}{certificate}").as_bytes())?;
    write_secret(&folder.join(AUTHORITY), authority.certificate.as_bytes())?;
    let (key, certificate) = pair()?;
    Encryption::showing(authority.certificate.as_bytes(), &certificate, &key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::RootCertStore;
    use rustls::ServerConfig;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use rustls::server::WebPkiClientVerifier;
    use std::sync::Arc;
    use tokio::net::{TcpListener, TcpStream};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    fn keys(folder: &Path) -> Keys {
        let capabilities = crate::capabilities::of("5.0.5").unwrap();
        Keys::make(folder, &"m-0".into(), capabilities, "t1").unwrap()
    }

    /// A server that reads its files as a sealed Cassandra does.
    fn sealed_server(folder: &Path) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        let authority = fs::read(folder.join(AUTHORITY)).unwrap();
        for certificate in CertificateDer::pem_slice_iter(&authority) {
            roots.add(certificate.unwrap()).unwrap();
        }
        let pair = fs::read(folder.join(PAIR)).unwrap();
        let chain = CertificateDer::pem_slice_iter(&pair).map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_slice(&pair).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                .build()
                .unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }

    /// Is somebody with this let in by that server?
    async fn is_let_in(server: &TlsAcceptor, encryption: &Encryption) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let Encryption::Tls(config) = encryption.clone() else { panic!("it is encrypted") };
        let client = tokio::spawn(async move {
            let stream = TcpStream::connect(address).await.unwrap();
            let name = address.ip().into();
            TlsConnector::from(config).connect(name, stream).await.is_ok()
        });
        let (stream, _) = listener.accept().await.unwrap();
        let taken = server.accept(stream).await.is_ok();
        client.await.unwrap() && taken
    }

    #[tokio::test]
    async fn a_sealed_server_opens_to_the_agent_that_sealed_it_and_to_nobody_else() {
        let directory = tempfile::tempdir().unwrap();
        let lost = keys(directory.path());
        let held = keys(directory.path());
        let server = sealed_server(directory.path());
        assert!(is_let_in(&server, &held.encryption).await);
        assert!(!is_let_in(&server, &lost.encryption).await, "the keys of an earlier start");
        let authority = fs::read(directory.path().join(AUTHORITY)).unwrap();
        let without = Encryption::trusting(&authority);
        assert!(!is_let_in(&server, &without).await, "whoever has what is in the pod's files");
    }

    #[test]
    fn the_agents_own_key_is_in_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let keys = keys(directory.path());
        let files: Vec<_> = fs::read_dir(directory.path()).unwrap().flatten().collect();
        assert_eq!(files.len(), 2, "{files:?}");
        let pair = fs::read_to_string(directory.path().join(PAIR)).unwrap();
        assert_eq!(pair.matches("PRIVATE KEY").count(), 2, "one key, of the server");
        assert_eq!(keys.endpoint(9042, None).address.ip(), Ipv4Addr::LOCALHOST);
    }
}
