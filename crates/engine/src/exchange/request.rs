//! HTTP/1.1 with or without TLS, over a connection of its own: a service that is
//! called now and then keeps none open.

use super::send::address;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use palladion_plan::Exchange;
use palladion_plan::exchange::LARGEST_ANSWER;
use palladion_plan::words::exchange::Failed;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Send it, and read its answer: the code and the body.
///
/// # Errors
/// There is no answer, or none that may be read.
pub async fn call(
    exchange: &Exchange,
    authorization: Option<String>,
    tls: Option<Arc<ClientConfig>>,
) -> Result<(u16, Bytes), Failed> {
    let request = build(exchange, authorization)?;
    let stream = TcpStream::connect((exchange.address.as_str(), exchange.port)).await;
    let stream = stream.map_err(|error| unreachable(exchange, &error))?;
    let Some(tls) = tls else {
        return over(exchange, stream, request).await;
    };
    let name = ServerName::try_from(exchange.host.clone())
        .map_err(|error| Failed::NoRequest { why: error.to_string() })?;
    let stream = TlsConnector::from(tls).connect(name, stream).await;
    over(exchange, stream.map_err(|error| unreachable(exchange, &error))?, request).await
}

fn build(exchange: &Exchange, authorization: Option<String>) -> Result<Request<String>, Failed> {
    let mut request = Request::builder()
        .method(exchange.method)
        .uri(exchange.path.as_str())
        .header("host", &exchange.host)
        .header("user-agent", palladion_api::labels::PALLADION)
        .header("accept", "application/json");
    if exchange.body.is_some() {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in &exchange.headers {
        request = request.header(name, value);
    }
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let body = exchange.body.clone().unwrap_or_default();
    request.body(body).map_err(|error| Failed::NoRequest { why: error.to_string() })
}

async fn over(
    exchange: &Exchange,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<String>,
) -> Result<(u16, Bytes), Failed> {
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = shaken.map_err(|error| unreachable(exchange, &error))?;
    // Ends with the answer, or with the sender when nobody waits any more.
    tokio::spawn(connection);
    let answer = sender.send_request(request).await;
    let answer = answer.map_err(|error| unreachable(exchange, &error))?;
    let code = answer.status().as_u16();
    let body = Limited::new(answer.into_body(), LARGEST_ANSWER).collect().await;
    match body {
        Ok(body) => Ok((code, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Failed::TooLarge { most: LARGEST_ANSWER })
        }
        Err(error) => Err(unreachable(exchange, error.as_ref())),
    }
}

/// The innermost cause says what happened; the outer ones only name layers.
fn unreachable(exchange: &Exchange, error: &(dyn std::error::Error + 'static)) -> Failed {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    Failed::Unreachable { address: address(exchange), why: inner.to_string() }
}
