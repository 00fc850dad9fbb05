//! A store that is reached over TLS is known by a certificate of the machine or by
//! `ca.crt`, and by nothing else.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_backup::store::{Created, Store};
use palladion_store::credentials::Credentials;
use palladion_store::objects::Objects;
use palladion_store::settings::{Settings, Transport};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::sync::Arc;
use support::s3::{S3, credentials, objects};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// TLS before a store that speaks in the clear; ends with its runtime.
struct Front {
    port: u16,
    ca: Vec<u8>,
    _runtime: Runtime,
}

impl Front {
    fn before(s3: &S3) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_string()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let behind = s3.endpoint().trim_start_matches("http://").to_string();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, behind) = (acceptor.clone(), behind.clone());
                tokio::spawn(async move {
                    let Ok(mut outside) = acceptor.accept(stream).await else { return };
                    let mut inside = TcpStream::connect(behind).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
        Self { port, ca: made.cert.pem().into_bytes(), _runtime: runtime }
    }

    fn open(&self, s3: &S3, ca: Option<&[u8]>) -> Objects {
        let settings = Settings {
            endpoint: Some(format!("https://127.0.0.1:{}", self.port)),
            transport: Some(Transport::Tls),
            ..s3.settings()
        };
        let credentials = Credentials { ca: ca.map(<[u8]>::to_vec), ..credentials() };
        Objects::open(&objects("s3://bucket/demo"), &settings, &credentials).unwrap()
    }
}

#[test]
fn a_store_is_known_by_its_certificate_and_by_nothing_else() {
    let s3 = S3::new();
    let (front, other) = (Front::before(&s3), Front::before(&s3));
    for ca in [None, Some(other.ca.as_slice())] {
        let refused = front.open(&s3, ca).put_if_absent("a", b"secret").unwrap_err().0;
        assert!(refused.contains("ertificate"), "{refused}");
    }
    assert_eq!(s3.faults.requests("PUT"), 0, "nothing was sent to a stranger");
    let known = front.open(&s3, Some(&front.ca));
    assert_eq!(known.put_if_absent("a", b"secret"), Ok(Created::Now));
    assert_eq!(known.get("a"), Ok(Some(b"secret".to_vec())));
}
