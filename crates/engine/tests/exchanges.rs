//! Calls to the APIs of services, over real sockets: each goes out once, with what is
//! read for it, and not before what it stands on was looked at.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use jiff::SignedDuration;
use kube::client::Body;
use palladion_engine::exchange::Exchangers;
use palladion_engine::exchange::send::Sender;
use palladion_engine::faults::Faults;
use palladion_engine::ids::MindId;
use palladion_engine::leader::Term;
use palladion_engine::metrics::Metrics;
use palladion_engine::queue::{Key, Queue};
use palladion_engine::request::Api;
use palladion_plan::exchange::LARGEST_ANSWER;
use palladion_plan::kinds::CONFIG_MAP;
use palladion_plan::words::exchange::Failed;
use palladion_plan::{
    Answer, Captured, Exchange, ExchangeKey, Fence, ObjectKey, Scheme, SecretRef,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const HOST: &str = "config-client.shop.svc";
const CREATED: &str = "HTTP/1.1 201 Created\r\ncontent-length: 13\r\n\r\n{\"id\": \"n-1\"}";

type Heard = Arc<Mutex<Vec<String>>>;

async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, heard: Heard, answer: String) {
    let mut request = vec![0; 4096];
    let Ok(length) = stream.read(&mut request).await else {
        return;
    };
    let mut text = String::from_utf8_lossy(&request[..length]).to_string();
    while !text.contains("\r\n\r\n")
        || (text.contains("content-length: 2") && !text.ends_with("{}"))
    {
        let length = stream.read(&mut request).await.unwrap();
        text += &String::from_utf8_lossy(&request[..length]);
    }
    heard.lock().unwrap().push(text);
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// A service that answers everything with this, and what it has heard.
async fn service(answer: &str, tls: Option<TlsAcceptor>) -> (u16, Heard) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Heard::default();
    let (all, answer) = (Arc::clone(&heard), answer.to_string());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (all, answer) = (Arc::clone(&all), answer.clone());
            let tls = tls.clone();
            tokio::spawn(async move {
                match tls {
                    None => converse(stream, all, answer).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            converse(stream, all, answer).await;
                        }
                    }
                }
            });
        }
    });
    (port, heard)
}

/// An API server with these objects, by the end of their path.
fn api(objects: &Arc<Mutex<BTreeMap<String, Value>>>) -> Api {
    let objects = Arc::clone(objects);
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let path = request.uri().path().to_string();
        let name = path.rsplit('/').next().unwrap_or_default().to_string();
        let found = objects.lock().unwrap().get(&name).cloned();
        async move {
            let (code, body) = match found {
                Some(object) => (200, object),
                None => (404, json!({ "kind": "Status", "code": 404, "reason": "NotFound" })),
            };
            let answer = http::Response::builder().status(code);
            let answer = answer.header("content-type", "application/json");
            Ok::<_, std::io::Error>(answer.body(Body::from(body.to_string().into_bytes())).unwrap())
        }
    });
    Api::new(kube::Client::new(service, "default"), Arc::new(Metrics::default()))
}

struct World {
    objects: Arc<Mutex<BTreeMap<String, Value>>>,
    queue: Arc<Queue>,
    term: Term,
    exchangers: Exchangers,
    owner: Key,
}

impl World {
    fn new() -> Self {
        let objects = Arc::new(Mutex::new(BTreeMap::new()));
        let (queue, term) = (Arc::new(Queue::default()), Term::unlimited(1));
        let faults = Arc::new(Faults::from_environment());
        let sender = Sender::new(api(&objects), term.clone(), faults);
        let exchangers = Exchangers::new(Arc::clone(&queue), sender);
        Self { objects, queue, term, exchangers, owner: Key::new(MindId(0), "shop", "all") }
    }

    fn put(&self, name: &str, object: Value) {
        self.objects.lock().unwrap().insert(name.to_string(), object);
    }

    async fn answered(&self) -> Answer {
        let wait = async {
            loop {
                if let Some((_, answer)) = self.exchangers.answers(&self.owner).pop_first() {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap()
    }
}

fn exchange(port: u16) -> Exchange {
    Exchange {
        key: ExchangeKey { name: "register web-0".into(), nonce: "n1".into() },
        method: "POST",
        scheme: Scheme::Http,
        address: "127.0.0.1".into(),
        host: HOST.into(),
        port,
        path: "/nodes?a=b".into(),
        headers: Vec::new(),
        body: Some("{}".into()),
        auth: None,
        accept: vec![201],
        capture: [("id".to_string(), "/id".to_string())].into(),
        timeout: SignedDuration::from_secs(5),
        fence: None,
    }
}

#[tokio::test]
async fn a_call_goes_out_once_with_its_credentials_and_brings_its_answer() {
    let world = World::new();
    let (port, heard) = service(CREATED, None).await;
    world.put("api", json!({ "data": { "username": "bWU=", "password": "c2VjcmV0" } }));
    let auth = SecretRef { namespace: "shop".into(), name: "api".into() };
    let wanted = Exchange { auth: Some(auth), ..exchange(port) };
    world.exchangers.want(&world.owner, vec![wanted.clone()]);
    let values = [("id".to_string(), "n-1".to_string())].into();
    assert_eq!(world.answered().await.end, Ok(Captured { code: 201, values }));
    assert_eq!(world.queue.next().await, world.owner, "the owner is woken");
    // Wanted still, and in other words: it was sent.
    for _ in 0..3 {
        let other = Exchange { path: "/other".into(), ..wanted.clone() };
        world.exchangers.want(&world.owner, vec![other]);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 1, "{heard:?}");
    let said = heard[0].to_lowercase();
    for part in ["post /nodes?a=b http/1.1", "host: config-client.shop.svc", "\r\n\r\n{}"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(heard[0].contains("authorization: Basic bWU6c2VjcmV0"), "{}", heard[0]);
    world.exchangers.want(&world.owner, Vec::new());
    assert!(world.exchangers.answers(&world.owner).is_empty());
}

#[tokio::test]
async fn what_cannot_be_read_is_named_and_nobody_is_called() {
    let world = World::new();
    let (port, heard) = service(CREATED, None).await;
    let auth = SecretRef { namespace: "shop".into(), name: "api".into() };
    world.exchangers.want(&world.owner, vec![Exchange { auth: Some(auth), ..exchange(port) }]);
    let why = world.answered().await.end.unwrap_err().to_string();
    assert_eq!(why, "Secret api could not be read: it does not exist");
    assert!(heard.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_call_waits_for_what_it_stands_on_and_is_then_sent_as_it_was_last_wanted() {
    let world = World::new();
    let (port, heard) = service(CREATED, None).await;
    let registrations = palladion_plan::Resource::ours("Registration", "registrations");
    let object = ObjectKey::new(registrations, "shop", "all");
    let at = |pointer: &str| Fence {
        object: object.clone(),
        pointer: pointer.to_string(),
        expected: json!("n1"),
        lock: None,
    };
    world.put("all", json!({ "status": { "entries": [{ "call": { "nonce": "n0" } }] } }));
    let first = Exchange { fence: Some(at("/status/entries/0/call/nonce")), ..exchange(port) };
    world.exchangers.want(&world.owner, vec![first]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(heard.lock().unwrap().is_empty(), "another call is recorded");
    let calls = json!([{ "call": { "nonce": "n0" } }, { "call": { "nonce": "n1" } }]);
    world.put("all", json!({ "status": { "entries": calls } }));
    let fence = Some(at("/status/entries/1/call/nonce"));
    world.exchangers.want(&world.owner, vec![Exchange { fence, ..exchange(port) }]);
    assert!(world.answered().await.end.is_ok());
    assert_eq!(heard.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn who_leads_no_more_calls_nobody() {
    let world = World::new();
    let (port, heard) = service(CREATED, None).await;
    world.term.end();
    world.exchangers.want(&world.owner, vec![exchange(port)]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(heard.lock().unwrap().is_empty());
    assert!(world.exchangers.answers(&world.owner).is_empty());
}

#[tokio::test]
async fn an_answer_that_is_late_or_has_no_end_is_none() {
    let world = World::new();
    let endless = format!(
        "HTTP/1.1 201 Created\r\ncontent-length: {0}\r\n\r\n{1}",
        LARGEST_ANSWER + 1,
        "x".repeat(LARGEST_ANSWER + 1)
    );
    let (port, _) = service(&endless, None).await;
    world.exchangers.want(&world.owner, vec![exchange(port)]);
    assert_eq!(world.answered().await.end, Err(Failed::TooLarge { most: LARGEST_ANSWER }));
    world.exchangers.want(&world.owner, Vec::new());
    let silent = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let timeout = SignedDuration::from_millis(100);
    world.exchangers.want(&world.owner, vec![Exchange { timeout, ..exchange(port) }]);
    let address = format!("127.0.0.1:{port}");
    assert_eq!(world.answered().await.end, Err(Failed::TimedOut { address }));
}

/// A certificate for this name, and the authority that has signed it.
fn certificate(name: &str) -> (TlsAcceptor, String) {
    let mut of_authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    of_authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let authority = rcgen::CertifiedIssuer::self_signed(of_authority, key).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let of_leaf = rcgen::CertificateParams::new(vec![name.to_string()]).unwrap();
    let leaf = of_leaf.signed_by(&key, &authority).unwrap();
    let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], der)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), authority.pem())
}

async fn over_tls(name: &str, trusted: Option<String>) -> Result<Captured, Failed> {
    let world = World::new();
    let (acceptor, authority) = certificate(name);
    let (port, _) = service(CREATED, Some(acceptor)).await;
    world.put("ca", json!({ "data": { "ca.crt": trusted.unwrap_or(authority) } }));
    let ca = ObjectKey::new(CONFIG_MAP, "shop", "ca");
    let scheme = Scheme::Https { ca };
    world.exchangers.want(&world.owner, vec![Exchange { scheme, ..exchange(port) }]);
    world.answered().await.end
}

#[tokio::test]
async fn a_certificate_must_name_the_service_and_come_from_the_authority_that_is_trusted() {
    assert_eq!(over_tls(HOST, None).await.map(|good| good.code), Ok(201));
    let other = over_tls("other-client.shop.svc", None).await.unwrap_err().to_string();
    assert!(other.contains("could not be reached") && other.contains("certificate"), "{other}");
    let (_, stranger) = certificate(HOST);
    let unsigned = over_tls(HOST, Some(stranger)).await.unwrap_err().to_string();
    assert!(unsigned.contains("certificate"), "{unsigned}");
    let nothing = over_tls(HOST, Some(String::new())).await.unwrap_err().to_string();
    assert_eq!(nothing, "ConfigMap ca could not be used: its key `ca.crt` has no certificate");
}
