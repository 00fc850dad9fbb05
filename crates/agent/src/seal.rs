//! The keys to the door of a sealed server: authorities that are made for one start, a
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
/// corrected, however late.
const LIFE: SignedDuration = SignedDuration::from_hours(24 * 3650);
/// Certificates are valid from an hour before they were made: a clock that was set back further
/// than this refuses them.
const SLACK: SignedDuration = SignedDuration::from_mins(50);

/// What opens the door of one sealed server.
#[derive(Clone)]
pub struct Keys {
    /// The launch that they are for.
    pub tag: String,
    made_at: Timestamp,
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
        let made_at = Timestamp::now();
        let encryption = match capabilities.reads_pem() {
            true => encryption(folder, member, made_at)?,
            false => Encryption::Plain,
        };
        Ok(Self { tag: tag.to_string(), made_at, encryption })
    }

    /// Do they open the door of this launch at this time?
    pub fn open(&self, tag: &str, now: Timestamp) -> bool {
        self.tag == tag && now > self.made_at - SLACK && now < self.made_at + LIFE
    }

    /// The sealed server, for whoever logs in by this.
    pub fn endpoint(&self, port: u16, credentials: Option<Credentials>) -> Endpoint {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Endpoint { address, encryption: self.encryption.clone(), credentials }
    }
}

/// Server and agent each have an authority of their own: the pair of the server, which is in a
/// file, opens nothing.
fn encryption(folder: &Path, member: &MemberName, now: Timestamp) -> Result<Encryption> {
    let path = folder.display().to_string();
    fs::create_dir_all(folder).with_context(|| Doing::CreateDirectory { path })?;
    let (of_server, key, certificate) = pair(member, "seal server", now)?;
    let (of_agent, own_key, own_certificate) = pair(member, "seal agent", now)?;
    write_secret(&folder.join(PAIR), format!("{key}{certificate}").as_bytes())?;
    write_secret(&folder.join(AUTHORITY), of_agent.as_bytes())?;
    Encryption::showing(of_server.as_bytes(), &own_certificate, &own_key)
}

/// An authority, and a key with its certificate.
fn pair(member: &MemberName, name: &str, now: Timestamp) -> Result<(String, String, String)> {
    let authority = Authority::make(name, now, LIFE)?;
    let member = member.to_string();
    let of = Identity { namespace: String::new(), ring: String::new(), member: member.clone() };
    let terms = Terms { names: vec!["localhost".into()], addresses: Vec::new(), life: LIFE };
    let key = key()?;
    let signed = authority.sign(&request(&key, &member)?, &of, &terms, now)?;
    Ok((authority.certificate, key, signed.certificate))
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
        // Whoever has what is in the files of the pod.
        let pair = fs::read_to_string(directory.path().join(PAIR)).unwrap();
        let own = Encryption::showing(pair.as_bytes(), &pair, &pair).unwrap();
        assert!(!is_let_in(&server, &own).await, "with the pair of the server");
        let authority = fs::read(directory.path().join(AUTHORITY)).unwrap();
        let without = Encryption::trusting(&authority);
        assert!(!is_let_in(&server, &without).await, "without a certificate");
    }

    #[test]
    fn keys_open_the_door_of_their_launch_while_they_are_valid() {
        let directory = tempfile::tempdir().unwrap();
        let keys = keys(directory.path());
        let now = Timestamp::now();
        assert!(keys.open("t1", now) && !keys.open("t2", now));
        let hour = SignedDuration::from_hours(1);
        assert!(!keys.open("t1", now - hour), "a clock that was set back");
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
