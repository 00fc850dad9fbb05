//! HTTP GET, straight to the pod.

use super::answer::Answer;
use crate::words::Probed;
use ::http::uri::InvalidUri;
use ::http::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

/// Ask; a status from 200 to 399 passes.
pub async fn ask(address: &str, port: u16, path: &str, headers: &[(String, String)]) -> Answer {
    let host = match address.contains(':') {
        true => format!("[{address}]:{port}"),
        false => format!("{address}:{port}"),
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    let uri: Uri = match format!("http://{host}{slash}{path}").parse() {
        Ok(uri) => uri,
        Err(error) => return Answer::Bad(wrong_path(path, &error)),
    };
    let mut request = Request::get(uri).header("user-agent", "palladion-probe");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = match request.body(String::new()) {
        Ok(request) => request,
        Err(error) => return Answer::Bad(Probed::WrongHeaders { why: error.to_string() }),
    };
    // A connection of its own each time, as the kubelet does: what is probed is
    // whether a new client would be served.
    let client =
        Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http::<String>();
    match client.request(request).await {
        Ok(answer) => match answer.status().as_u16() {
            200..=399 => Answer::Good,
            status => Answer::Bad(Probed::HttpStatus { status }),
        },
        Err(error) => Answer::Bad(Probed::HttpFailed { why: innermost(&error) }),
    }
}

fn wrong_path(path: &str, error: &InvalidUri) -> Probed {
    Probed::WrongPath { path: path.to_string(), why: error.to_string() }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
