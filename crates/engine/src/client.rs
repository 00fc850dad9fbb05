//! The connection to the API server.
//!
//! Built by hand from kube's layers for two reasons. kube's own retry would
//! hold a key for minutes inside one request, while the queue here retries
//! with knowledge of the key, so it is left out. And watches live for an hour
//! (see `watch::feed`), so a connection that died without a word must be
//! noticed by TCP, which kube's connector does not ask for.

use crate::error::ApiError;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, Client, ConfigExt};
use kube::config::Config;
use std::time::Duration;
use tower::{BoxError, ServiceBuilder};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A silent connection is probed after this time, then every
/// [`KEEPALIVE_INTERVAL`], and given up after [`KEEPALIVE_PROBES`]: a dead
/// path is noticed within 30 s, the time after which facts become unknown.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_PROBES: u32 = 3;

/// A client from the kubeconfig or the pod's service account.
pub async fn connect() -> Result<Client, ApiError> {
    client(Config::infer().await.map_err(kube::Error::InferConfig)?)
}

/// A client for this configuration.
pub fn client(config: Config) -> Result<Client, ApiError> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.set_keepalive(Some(KEEPALIVE_IDLE));
    http.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    http.set_keepalive_retries(Some(KEEPALIVE_PROBES));
    let https = config.rustls_https_connector_with_connector(http)?;
    let service = HttpClient::builder(TokioExecutor::new()).build::<_, Body>(https);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(service);
    Ok(Client::new(service, config.default_namespace))
}
