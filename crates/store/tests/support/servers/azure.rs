//! What only Azurite needs: a container is made by whoever has the key of its account.

use super::process::request;
use super::{ACCOUNT, ACCOUNT_KEY};
use object_store::azure::{AzureAccessKey, AzureAuthorizer, AzureCredential};
use object_store::client::HttpRequestBody;
use s3s::HttpRequest;
use std::net::SocketAddr;

/// The request for a container.
pub fn make_container(address: SocketAddr, name: &str) -> HttpRequest {
    let path = format!("/{name}?restype=container");
    let mut signed = hyper::Request::builder()
        .method("PUT")
        .uri(format!("http://{address}{path}"))
        .header("content-length", "0")
        .body(HttpRequestBody::from(Vec::new()))
        .unwrap();
    let credential = AzureCredential::AccessKey(AzureAccessKey::try_new(ACCOUNT_KEY).unwrap());
    AzureAuthorizer::new(&credential, ACCOUNT).try_authorize(&mut signed).unwrap();
    let mut request = request("PUT", &path, "");
    *request.headers_mut() = signed.headers().clone();
    request
}
