//! One answer of the API server. Read here and not by kube's client, which drops
//! the header by which a busy server says when it wants to be asked again: the
//! answer of its priority and fairness is no `Status` that could say it.

use super::nested::Nested;
use crate::error::ApiError;
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use serde_json::Value;
use std::time::Duration;

/// Send a request and read what comes back.
pub(super) async fn to(client: &Client, request: Request<Vec<u8>>) -> Result<Value, ApiError> {
    let (head, body) = client.send(request.map(Body::from)).await?.into_parts();
    let bytes = body.collect().await?.to_bytes();
    if !head.status.is_client_error() && !head.status.is_server_error() {
        return serde_json::from_slice(&bytes)
            .map(|Nested(answer)| answer)
            .map_err(|error| ApiError::from(kube::Error::SerdeError(error)));
    }
    let status = serde_json::from_slice::<Status>(&bytes).unwrap_or_else(|_| {
        let words = String::from_utf8_lossy(&bytes);
        Status::failure(words.trim(), "").with_code(head.status.as_u16())
    });
    let mut error = ApiError::from_status(status);
    error.retry_after = error.retry_after.or(retry_after(&head.headers));
    Err(error)
}

/// In seconds, as Kubernetes writes it.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?;
    text.parse().ok().map(Duration::from_secs)
}
