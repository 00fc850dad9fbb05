//! Probes against real sockets: what passes, what fails, and what is told.

use h2::server;
use palladion_engine::probe::ask::Answer;
use palladion_engine::probe::{grpc, http};
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
                    body.send_data(vec![0, 0, 0, 0, 2, 8, status].into(), false)
                        .unwrap();
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
        Answer::Bad("HTTP status 503".into())
    );
    assert!(matches!(
        http::ask(LOCAL, closed().await, "/", &[]).await,
        Answer::Bad(_)
    ));
}

#[tokio::test]
async fn grpc_passes_when_the_server_says_serving() {
    assert_eq!(grpc::ask(LOCAL, health(1).await, "").await, Answer::Good);
    assert_eq!(
        grpc::ask(LOCAL, health(2).await, "queue").await,
        Answer::Bad("the server says NOT_SERVING".into())
    );
    assert!(matches!(
        grpc::ask(LOCAL, closed().await, "").await,
        Answer::Bad(_)
    ));
}

#[tokio::test]
async fn a_server_that_speaks_no_http2_fails_and_does_not_hang() {
    let port = saying("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    let answer = tokio::time::timeout(Duration::from_secs(5), grpc::ask(LOCAL, port, "")).await;
    assert!(matches!(answer, Ok(Answer::Bad(_))), "{answer:?}");
}
