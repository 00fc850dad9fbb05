//! What stands before a store within the test: every request passes here, and here goes wrong what
//! a seed draws or a test has planned. Its clock can be set ahead, as if all objects were older.

#![allow(dead_code, reason = "each test takes what it needs")]

use super::fault::{Fault, Faults, When};
use futures::{StreamExt, TryStreamExt};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use jiff::SignedDuration;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use palladion_store::settings::{Patience, Settings, Transport};
use s3s::{Body, HttpRequest, HttpResponse};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// A store that answers requests: within the test, or another process.
pub trait Behind: Clone + Send + Sync + 'static {
    /// Carry a request out.
    fn call(
        &self,
        request: HttpRequest,
    ) -> impl Future<Output = io::Result<HttpResponse>> + Send + '_;

    /// Forget the object of this path, if it has one.
    fn forget(&self, path: &str);
}

/// See the module.
pub struct Front {
    port: u16,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    ahead: Arc<AtomicI64>,
    _runtime: Runtime,
}

impl Front {
    /// Before this store, at a port of its own.
    pub fn before(behind: impl Behind) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (faults, ahead) = (Arc::new(Faults::default()), Arc::new(AtomicI64::new(0)));
        let (of_server, of_clock) = (faults.clone(), ahead.clone());
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let all = (behind.clone(), of_server.clone(), of_clock.clone());
                tokio::spawn(serve(stream, all));
            }
        });
        Self { port, faults, ahead, _runtime: runtime }
    }

    /// Where it is reached.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How it is reached, by whoever does not want to wait long.
    pub fn settings(&self) -> Settings {
        Settings {
            endpoint: Some(self.endpoint()),
            transport: Some(Transport::Plain),
            patience: Patience {
                // No fault of a test is a silence, and a busy machine must not pass for one.
                connect: Duration::from_secs(60),
                silence: Duration::from_secs(60),
                request: Duration::from_secs(120),
                retries: 1,
                pause: Duration::from_millis(1),
            },
            ..Settings::default()
        }
    }

    /// Every object is so many seconds older than it was, or younger: for whoever asks the store
    /// how old one is, its clock is so far ahead. That holds of what is written later, too.
    pub fn age(&self, seconds: i64) {
        self.ahead.fetch_add(seconds, Ordering::SeqCst);
    }
}

async fn serve(
    stream: TcpStream,
    (behind, faults, ahead): (impl Behind, Arc<Faults>, Arc<AtomicI64>),
) {
    // Or each small answer waits for the delayed acknowledgement of the one before.
    stream.set_nodelay(true).unwrap();
    let answer = hyper::service::service_fn(move |request: HttpRequest<hyper::body::Incoming>| {
        let (behind, faults, ahead) = (behind.clone(), faults.clone(), ahead.clone());
        async move {
            let answer = answer(&behind, &faults, request.map(Body::from)).await?;
            Ok::<_, io::Error>(dated(answer, ahead.load(Ordering::SeqCst)))
        }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    // A connection that breaks off is what some tests are about.
    let _ = server.serve_connection(TokioIo::new(stream), answer).await;
}

/// By a clock that is so far ahead.
fn dated(mut answer: HttpResponse, ahead: i64) -> HttpResponse {
    if ahead != 0 {
        let now = jiff::Timestamp::now() + SignedDuration::from_secs(ahead);
        let date = answer.headers().get("date").and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
        let shown = date.map_or(now, |date| date + SignedDuration::from_secs(ahead));
        let shown = DateTimePrinter::new().timestamp_to_rfc9110_string(&shown).unwrap();
        answer.headers_mut().insert("date", shown.parse().unwrap());
    }
    answer
}

async fn answer(
    behind: &impl Behind,
    faults: &Faults,
    request: HttpRequest,
) -> io::Result<HttpResponse> {
    let fault = faults.draw(request.method().as_str(), request.headers().contains_key("range"));
    if faults.ignores_conditions() && request.method() == "PUT" {
        // The condition is signed; what it asks for can be taken away.
        behind.forget(request.uri().path());
    }
    let request = match fault {
        Some(Fault::Status(status, code)) => return Ok(refusal(status, code)),
        Some(Fault::WrongSent) => changed_request(request).await?,
        Some(Fault::Lost | Fault::Cut | Fault::WrongRead) | None => request,
    };
    let kill = faults.killed();
    if let Some(kill) = kill.filter(|kill| kill.when == When::Before) {
        kill.now();
        return Err(io::Error::other("killed"));
    }
    let answer = behind.call(request).await;
    if let Some(kill) = kill {
        kill.now();
    }
    let answer = answer?;
    match fault {
        Some(Fault::Lost) => Err(io::Error::other("the answer is lost")),
        Some(Fault::Cut) => cut(answer).await,
        Some(Fault::WrongRead) => changed_answer(answer).await,
        Some(Fault::Status(..) | Fault::WrongSent) | None => Ok(answer),
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

/// All of a body.
pub async fn bytes(body: Body) -> io::Result<Vec<u8>> {
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
