//! A store that speaks the protocol of S3, within the test: s3s-fs on a directory,
//! reached over HTTP as any other, and between both a layer of faults that are
//! drawn from a seed.

#![allow(dead_code, reason = "each test takes what it needs")]

use super::fault::{Fault, Faults, When};
use futures::{StreamExt, TryStreamExt};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use palladion_store::address::{Address, ObjectAddress};
use palladion_store::credentials::Credentials;
use palladion_store::objects::Objects;
use palladion_store::settings::{Addressing, Patience, Settings, Transport};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, HttpRequest, HttpResponse};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// The bucket that exists.
pub const BUCKET: &str = "bucket";
/// What is known of who asks.
pub const ID: &str = "AKIDEXAMPLE";
/// What proves it.
pub const SECRET: &str = "secret-of-a-test";

/// See the module.
pub struct S3 {
    root: tempfile::TempDir,
    port: u16,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    _runtime: Runtime,
}

impl S3 {
    /// A store with an empty bucket.
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(ID, SECRET));
        let service = service.build();
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let faults = Arc::new(Faults::default());
        let (of_server, folder) = (faults.clone(), root.path().to_path_buf());
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let of_all = (service.clone(), folder.clone());
                tokio::spawn(serve(stream, of_all, of_server.clone()));
            }
        });
        Self { root, port, faults, _runtime: runtime }
    }

    /// The files of the bucket: what really is in the store.
    pub fn bucket(&self) -> PathBuf {
        self.root.path().join(BUCKET)
    }

    /// Where it is reached.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How it is reached.
    pub fn settings(&self) -> Settings {
        Settings {
            endpoint: Some(self.endpoint()),
            addressing: Some(Addressing::Path),
            transport: Some(Transport::Plain),
            patience: Patience {
                connect: Duration::from_secs(5),
                silence: Duration::from_secs(5),
                request: Duration::from_secs(20),
                retries: 1,
                pause: Duration::from_millis(1),
            },
            ..Settings::default()
        }
    }

    /// The store at an address, with the credentials that it knows.
    pub fn open(&self, address: &str) -> Objects {
        Objects::open(&objects(address), &self.settings(), &credentials()).unwrap()
    }
}

/// The address of a store of objects.
pub fn objects(text: &str) -> ObjectAddress {
    match text.parse().unwrap() {
        Address::Objects(address) => address,
        Address::Directory(_) => panic!("{text} is a directory"),
    }
}

/// Those that the store knows.
pub fn credentials() -> Credentials {
    Credentials {
        access_key_id: Some(ID.into()),
        secret_access_key: Some(SECRET.into()),
        ..Credentials::default()
    }
}

async fn serve(stream: TcpStream, (service, root): (S3Service, PathBuf), faults: Arc<Faults>) {
    // Or each small answer waits for the delayed acknowledgement of the one before.
    stream.set_nodelay(true).unwrap();
    let answer = hyper::service::service_fn(move |request: HttpRequest<hyper::body::Incoming>| {
        let (service, root, faults) = (service.clone(), root.clone(), faults.clone());
        async move { answer((&service, &root), &faults, request.map(Body::from)).await }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    // A connection that breaks off is what some tests are about.
    let _ = server.serve_connection(TokioIo::new(stream), answer).await;
}

async fn answer(
    (service, root): (&S3Service, &Path),
    faults: &Faults,
    request: HttpRequest,
) -> io::Result<HttpResponse> {
    let fault = faults.draw(request.method().as_str(), request.headers().contains_key("range"));
    if faults.ignores_conditions() && request.method() == "PUT" {
        // The condition is signed; what it asks for can be taken away.
        let _ = std::fs::remove_file(root.join(request.uri().path().trim_start_matches('/')));
    }
    let request = match fault {
        Some(Fault::Status(status, code)) => return Ok(refusal(status, code)),
        Some(Fault::WrongSent) => changed_request(request).await?,
        Some(Fault::Stall(time)) => {
            tokio::time::sleep(time).await;
            request
        }
        Some(Fault::Lost | Fault::Cut | Fault::WrongRead) | None => request,
    };
    let kill = faults.killed();
    if let Some(kill) = kill.filter(|kill| kill.when == When::Before) {
        kill.now();
        return Err(io::Error::other("killed"));
    }
    let answer = service.call(request).await;
    if let Some(kill) = kill {
        kill.now();
    }
    let answer = answer.map_err(|error| io::Error::other(format!("{error:?}")))?;
    match fault {
        Some(Fault::Lost) => Err(io::Error::other("the answer is lost")),
        Some(Fault::Cut) => cut(answer).await,
        Some(Fault::WrongRead) => changed_answer(answer).await,
        Some(Fault::Status(..) | Fault::WrongSent | Fault::Stall(_)) | None => Ok(answer),
    }
}

fn refusal(status: u16, code: &str) -> HttpResponse {
    let text = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>a fault</Message></Error>"
    );
    let mut answer = HttpResponse::new(Body::from(text));
    *answer.status_mut() = status.try_into().unwrap();
    answer
}

async fn bytes(body: Body) -> io::Result<Vec<u8>> {
    let parts = body.map(|part| part.map_err(|error| io::Error::other(error.to_string())));
    Ok(parts.try_collect::<Vec<_>>().await?.concat())
}

async fn changed_request(request: HttpRequest) -> io::Result<HttpRequest> {
    let (head, body) = request.into_parts();
    Ok(HttpRequest::from_parts(head, Body::from(flipped(bytes(body).await?))))
}

async fn changed_answer(answer: HttpResponse) -> io::Result<HttpResponse> {
    let (head, body) = answer.into_parts();
    let is_object = head.headers.get("content-type").is_none_or(|kind| kind != "application/xml");
    let bytes = bytes(body).await?;
    let bytes = if is_object { flipped(bytes) } else { bytes };
    Ok(HttpResponse::from_parts(head, Body::from(bytes)))
}

fn flipped(mut bytes: Vec<u8>) -> Vec<u8> {
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 0x10;
    }
    bytes
}

/// The head announces all, and half of it comes.
async fn cut(answer: HttpResponse) -> io::Result<HttpResponse> {
    let (mut head, body) = answer.into_parts();
    let bytes = bytes(body).await?;
    head.headers.insert("content-length", bytes.len().into());
    let first = bytes[..bytes.len() / 2].to_vec();
    let broken = || -> s3s::StdError { io::Error::other("cut").into() };
    let frames = [Ok(http_body::Frame::data(first.into())), Err(broken())];
    let body = http_body_util::StreamBody::new(futures::stream::iter(frames));
    Ok(HttpResponse::from_parts(head, Body::http_body_unsync(body)))
}
