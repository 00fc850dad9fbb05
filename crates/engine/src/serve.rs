//! The doors for probes and Prometheus: `/metrics`, `/healthz`, `/readyz`.

use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::watch::Watches;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::registry::Registry;
use std::net::SocketAddr;
use std::sync::Arc;

/// What the doors show.
#[derive(Clone)]
pub struct Doors {
    metrics: Arc<Metrics>,
    registry: Arc<Registry>,
    watches: Arc<Watches>,
    queue: Arc<Queue>,
}

impl Doors {
    /// Doors onto these.
    pub fn new(metrics: Arc<Metrics>, watches: Arc<Watches>, queue: Arc<Queue>) -> Self {
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        Self { metrics, registry: Arc::new(registry), watches, queue }
    }

    /// `/metrics`.
    pub fn metrics_router(&self) -> Router {
        Router::new().route("/metrics", get(metrics)).with_state(self.clone())
    }

    /// `/healthz` and `/readyz`.
    pub fn health_router(&self) -> Router {
        Router::new()
            .route("/healthz", get(|| async { "alive\n" }))
            .route("/readyz", get(ready))
            .with_state(self.clone())
    }
}

/// Serve a router until the process ends.
pub async fn serve(address: SocketAddr, router: Router) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    axum::serve(listener, router).await
}

async fn metrics(State(doors): State<Doors>) -> impl IntoResponse {
    doors.watches.measure();
    doors.metrics.measure_memory();
    doors.metrics.queue_depth.set(i64::try_from(doors.queue.depth()).unwrap_or(i64::MAX));
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &doors.registry) {
        Ok(()) => {
            let media = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, media)], text).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// A standby is ready: it serves by being there. A leader is when it has seen
/// every first list, or knows why it cannot.
async fn ready(State(doors): State<Doors>) -> impl IntoResponse {
    if doors.metrics.leader.get() == 0 {
        return (StatusCode::OK, "standby\n");
    }
    match doors.watches.settled() {
        true => (StatusCode::OK, "leading\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "waiting for first lists\n"),
    }
}
