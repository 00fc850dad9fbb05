//! One request over one connection of its own, which ends with the answer.

use crate::words::Away;
use bytes::Bytes;
use http::{Request, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Longer than any answer about one key.
const LARGEST_ANSWER: usize = 1 << 20;

/// Where an etcd listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// As it is written.
    pub text: String,
    /// Over TLS?
    pub is_encrypted: bool,
    host: String,
    port: u16,
}

impl Endpoint {
    /// Read a URL.
    ///
    /// # Errors
    /// It is none, or not one of an etcd.
    pub fn parse(text: &str) -> Result<Self, Away> {
        let bad = |why: String| Away::Url { endpoint: text.to_string(), why };
        let uri: Uri =
            text.parse().map_err(|error: http::uri::InvalidUri| bad(error.to_string()))?;
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            other => return Err(bad(format!("{other:?}"))),
        };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_string();
        let port = uri.port_u16().unwrap_or(2379);
        Ok(Self { text: text.to_string(), is_encrypted, host, port })
    }
}

/// Send it and read the answer: its code and its body.
///
/// # Errors
/// There is no answer, or none that can be read.
pub async fn post(
    endpoint: &Endpoint,
    path: &str,
    token: Option<&str>,
    body: String,
    tls: Option<Arc<ClientConfig>>,
) -> Result<(u16, Bytes), Away> {
    let mut request = Request::post(path)
        .header("host", format!("{}:{}", endpoint.host, endpoint.port))
        .header("user-agent", palladion_api::labels::PALLADION)
        .header("content-type", "application/json")
        .header("connection", "close");
    if let Some(token) = token {
        request = request.header("authorization", token);
    }
    let request = request.body(Full::new(Bytes::from(body)));
    let request = request.map_err(|error| unreachable(endpoint, &error))?;
    let stream = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await;
    let stream = stream.map_err(|error| unreachable(endpoint, &error))?;
    let Some(tls) = tls else {
        return over(endpoint, stream, request).await;
    };
    let name = ServerName::try_from(endpoint.host.clone());
    let name = name.map_err(|error| unreachable(endpoint, &error))?;
    let stream = TlsConnector::from(tls).connect(name, stream).await;
    over(endpoint, stream.map_err(|error| unreachable(endpoint, &error))?, request).await
}

async fn over(
    endpoint: &Endpoint,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<(u16, Bytes), Away> {
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = shaken.map_err(|error| unreachable(endpoint, &error))?;
    // Ends with the answer, or with the sender when nobody waits any more.
    tokio::spawn(connection);
    let answer = sender.send_request(request).await;
    let answer = answer.map_err(|error| unreachable(endpoint, &error))?;
    let code = answer.status().as_u16();
    match Limited::new(answer.into_body(), LARGEST_ANSWER).collect().await {
        Ok(body) => Ok((code, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Away::TooLarge { endpoint: endpoint.text.clone() })
        }
        Err(error) => Err(unreachable(endpoint, error.as_ref())),
    }
}

/// The innermost cause says what happened; the outer ones only name layers.
fn unreachable(endpoint: &Endpoint, error: &(dyn std::error::Error + 'static)) -> Away {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    Away::Unreachable { endpoint: endpoint.text.clone(), why: inner.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_url_with_its_host_and_port() {
        let read = Endpoint::parse("https://[fd00::1]:12379").unwrap();
        assert_eq!((read.host.as_str(), read.port, read.is_encrypted), ("fd00::1", 12379, true));
        assert_eq!(Endpoint::parse("http://etcd").unwrap().port, 2379);
        assert!(Endpoint::parse("etcd:2379").is_err());
    }
}
