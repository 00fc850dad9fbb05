//! What only fake-gcs-server needs. The client speaks the XML API of Google Cloud Storage, of which
//! that server knows reads and deletions: uploads, conditions and the pages of a list it knows in
//! the JSON API alone, so these two requests are said in its words here, and its answers in the
//! client's. What it does not tell apart here, a missing bucket and a missing object, stays so.

use super::process::Way;
use crate::support::front::bytes;
use s3s::{Body, HttpRequest, HttpResponse};
use serde_json::{Value, json};
use std::io;

/// The provider's host, by which it knows the XML API from the other one.
pub const HOST: &str = "storage.googleapis.com";

/// The file that a user downloads, with a key of nobody.
pub fn service_account() -> String {
    let (algorithm, size) = (&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
    let key = rcgen::KeyPair::generate_rsa_for(algorithm, size).unwrap();
    json!({
        "type": "service_account", "project_id": "tests", "private_key_id": "1",
        "private_key": key.serialize_pem(), "client_email": "backups@tests.example.com",
        "client_id": "1", "token_uri": "https://oauth2.example.com/token",
    })
    .to_string()
}

/// Say it in its words.
pub async fn answer(way: Way, request: HttpRequest) -> io::Result<HttpResponse> {
    let path = request.uri().path().trim_start_matches('/').to_string();
    let (bucket, name) = path.split_once('/').unwrap_or((&path, ""));
    match (request.method().as_str(), name) {
        ("PUT", name) if !name.is_empty() => put(way, request, (bucket, name)).await,
        ("GET", "") => list(way, request, bucket).await,
        _ => way.send(request).await,
    }
}

async fn put(
    way: Way,
    mut request: HttpRequest,
    (bucket, name): (&str, &str),
) -> io::Result<HttpResponse> {
    let condition = request.headers().get("x-goog-if-generation-match").cloned();
    let condition = condition.map_or(String::new(), |generation| {
        format!("&ifGenerationMatch={}", generation.to_str().unwrap_or_default())
    });
    let path = format!("/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}{condition}");
    *request.uri_mut() = path.parse().map_err(io::Error::other)?;
    *request.method_mut() = hyper::Method::POST;
    let answer = way.send(request).await?;
    match answer.status().as_u16() {
        200 => {
            let written = json(answer).await?;
            let mut answer = HttpResponse::new(Body::empty());
            for (header, field) in [("etag", "etag"), ("x-goog-generation", "generation")] {
                let value = text(&written[field]).parse().map_err(io::Error::other)?;
                answer.headers_mut().insert(header, value);
            }
            Ok(answer)
        }
        404 => Ok(xml(404, "<Error><Code>NoSuchBucket</Code></Error>")),
        _ => Ok(answer),
    }
}

async fn list(way: Way, mut request: HttpRequest, bucket: &str) -> io::Result<HttpResponse> {
    let mut path = format!("/storage/v1/b/{bucket}/o?fields=*");
    for pair in request.uri().query().unwrap_or_default().split('&') {
        path += &match pair.split_once('=') {
            Some(("start-after", name)) => format!("&startOffset={name}%01"),
            Some(("continuation-token", token)) => format!("&pageToken={token}"),
            Some(("max-keys", most)) => format!("&maxResults={most}"),
            Some(("prefix" | "delimiter", _)) => format!("&{pair}"),
            Some(_) | None => String::new(),
        };
    }
    if !path.contains("&maxResults=") {
        path += "&maxResults=1000";
    }
    *request.uri_mut() = path.parse().map_err(io::Error::other)?;
    let answer = way.send(request).await?;
    match answer.status().as_u16() {
        200 => Ok(xml(200, &page(&json(answer).await?))),
        404 => Ok(xml(404, "<Error><Code>NoSuchBucket</Code></Error>")),
        _ => Ok(answer),
    }
}

/// Names of a repository need no escapes.
fn page(listed: &Value) -> String {
    let all = |field: &str| listed[field].as_array().cloned().unwrap_or_default();
    let mut page = String::from("<ListBucketResult>");
    for object in all("items") {
        page += &format!(
            "<Contents><Key>{}</Key><LastModified>{}</LastModified><ETag>{}</ETag><Size>{}</Size></Contents>",
            text(&object["name"]),
            text(&object["updated"]),
            text(&object["etag"]),
            text(&object["size"]),
        );
    }
    for prefix in all("prefixes") {
        page += &format!("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", text(&prefix));
    }
    if let Some(token) = listed["nextPageToken"].as_str().filter(|token| !token.is_empty()) {
        page += &format!("<NextContinuationToken>{token}</NextContinuationToken>");
    }
    page + "</ListBucketResult>"
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

async fn json(answer: HttpResponse) -> io::Result<Value> {
    serde_json::from_slice(&bytes(answer.into_body()).await?).map_err(io::Error::other)
}

fn xml(status: u16, text: &str) -> HttpResponse {
    let mut answer = HttpResponse::new(Body::from(text.to_string()));
    *answer.status_mut() = hyper::StatusCode::from_u16(status).unwrap();
    let kind = hyper::header::HeaderValue::from_static("application/xml");
    answer.headers_mut().insert("content-type", kind);
    answer
}
