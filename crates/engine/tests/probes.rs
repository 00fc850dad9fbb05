//! Probes against real sockets: what passes, what fails, and what is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use h2::server;
use jiff::SignedDuration;
use palladion_engine::ids::MindId;
use palladion_engine::metrics::Metrics;
use palladion_engine::probe::answer::Answer;
use palladion_engine::probe::ask::Asker;
use palladion_engine::probe::{Probers, grpc, http};
use palladion_engine::queue::{Key, Queue};
use palladion_engine::request::Api;
use palladion_engine::words::Probed;
use palladion_plan::{
    ObjectKey, Observed, ProbeAction, ProbeKey, ProbeRequest, ProbeResult, Resource, Verdict,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const LOCAL: &str = "127.0.0.1";

/// A server that answers each connection with this text.
async fn saying(answer: &'static str) -> u16 {
    let listener = TcpListener::bind((LOCAL, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    port
}

/// A gRPC health server that gives this status.
async fn health(status: u8) -> u16 {
    let listener = TcpListener::bind((LOCAL, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut connection = server::handshake(stream).await.unwrap();
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    assert_eq!(request.uri().path(), "/grpc.health.v1.Health/Check");
                    let answer = ::http::Response::builder()
                        .header("content-type", "application/grpc")
                        .body(())
                        .unwrap();
                    let mut body = respond.send_response(answer, false).unwrap();
                    body.send_data(vec![0, 0, 0, 0, 2, 8, status].into(), false).unwrap();
                    let mut trailers = ::http::HeaderMap::new();
                    trailers.insert("grpc-status", "0".parse().unwrap());
                    body.send_trailers(trailers).unwrap();
                }
            });
        }
    });
    port
}

/// A port that nobody listens on.
async fn closed() -> u16 {
    let listener = TcpListener::bind((LOCAL, 0)).await.unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn http_passes_from_200_to_399() {
    let headers = [("x-test".to_string(), "1".to_string())];
    let ok = saying("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(http::ask(LOCAL, ok, "/a?b=c", &headers).await, Answer::Good);
    let moved = saying("HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(http::ask(LOCAL, moved, "a", &[]).await, Answer::Good);
    let busy = saying("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(
        http::ask(LOCAL, busy, "/", &[]).await,
        Answer::Bad(Probed::HttpStatus { status: 503 })
    );
    assert!(matches!(http::ask(LOCAL, closed().await, "/", &[]).await, Answer::Bad(_)));
}

#[tokio::test]
async fn grpc_passes_when_the_server_says_serving() {
    assert_eq!(grpc::ask(LOCAL, health(1).await, "").await, Answer::Good);
    assert_eq!(
        grpc::ask(LOCAL, health(2).await, "queue").await,
        Answer::Bad(Probed::GrpcStatus { status: "NOT_SERVING" })
    );
    assert!(matches!(grpc::ask(LOCAL, closed().await, "").await, Answer::Bad(_)));
}

#[tokio::test]
async fn a_server_that_speaks_no_http2_fails_and_does_not_hang() {
    let port = saying("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    let answer = tokio::time::timeout(Duration::from_secs(5), grpc::ask(LOCAL, port, "")).await;
    assert!(matches!(answer, Ok(Answer::Bad(_))), "{answer:?}");
}

/// An API server that must not be asked.
fn nobody() -> Api {
    let service = tower::service_fn(|_: ::http::Request<kube::client::Body>| async {
        Err::<::http::Response<kube::client::Body>, _>(std::io::Error::other("asked"))
    });
    let client = kube::Client::new(service, "default");
    Api::new(client, Arc::new(Metrics::default()))
}

fn request(action: ProbeAction) -> ProbeRequest {
    let pods = Resource::namespaced("", "v1", "Pod", "pods");
    ProbeRequest {
        key: ProbeKey { pod_uid: "uid-1".into(), name: "c".into() },
        pod: ObjectKey::new(pods, "shop", "web-0"),
        action,
        period: SignedDuration::from_millis(100),
        timeout: SignedDuration::from_secs(1),
        failure_threshold: 2,
        success_threshold: 1,
    }
}

async fn told(probers: &Probers, owner: &Key, test: impl Fn(&Observed<ProbeResult>) -> bool) {
    for _ in 0..100 {
        if probers.results(owner).values().any(&test) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not told: {:?}", probers.results(owner));
}

fn is(verdict: Verdict) -> impl Fn(&Observed<ProbeResult>) -> bool {
    move |told| matches!(told, Observed::Known { value, .. } if value.verdict == verdict)
}

#[tokio::test]
async fn a_probe_is_asked_until_nobody_wants_it_and_its_owner_is_woken() {
    let listener = TcpListener::bind((LOCAL, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let queue = Arc::new(Queue::default());
    let probers = Probers::new(Arc::clone(&queue), Asker::new(nobody()));
    let owner = Key::new(MindId(0), "shop", "web");
    let wanted = request(ProbeAction::Tcp { address: LOCAL.into(), port });

    probers.want(&owner, vec![wanted.clone()]);
    told(&probers, &owner, is(Verdict::Passing)).await;
    assert_eq!(queue.depth(), 1, "its owner is woken");
    // The same question goes on without a break.
    probers.want(&owner, vec![wanted]);
    assert_eq!(probers.results(&owner).len(), 1);

    drop(listener);
    told(&probers, &owner, is(Verdict::Failing)).await;
    probers.want(&owner, Vec::new());
    assert!(probers.results(&owner).is_empty());
}

#[tokio::test]
async fn a_command_that_cannot_be_asked_for_says_nothing_about_the_pod() {
    let probers = Probers::new(Arc::new(Queue::default()), Asker::new(nobody()));
    let owner = Key::new(MindId(0), "shop", "web");
    let exec = ProbeAction::Exec { container: "c".into(), command: vec!["true".into()] };
    probers.want(&owner, vec![request(exec)]);
    told(
        &probers,
        &owner,
        |t| matches!(t, Observed::Unknown { why } if why.contains("API server")),
    )
    .await;
}
