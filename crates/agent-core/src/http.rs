//! Probes and metrics. Liveness never asks how the server is: a server that
//! is ill is not cured by killing it.

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The loop's longest turn, with every question timing out, is far shorter.
const LOOP_TIME: Duration = Duration::from_secs(60);
/// A look older than this proves nothing.
const READING_TIME: Duration = Duration::from_secs(20);

/// What the probes tell.
#[derive(Debug)]
pub struct Health(Mutex<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    turned: Instant,
    init: Result<(), String>,
    served: Option<Instant>,
    why_not: String,
}

impl Default for Health {
    fn default() -> Self {
        Self(Mutex::new(Inner {
            turned: Instant::now(),
            init: Ok(()),
            served: None,
            why_not: "the agent is starting".into(),
        }))
    }
}

impl Health {
    fn inner(&self) -> Inner {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The loop has turned; did init answer?
    pub fn turned(&self, init: Result<(), String>) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.turned = Instant::now();
        inner.init = init;
    }

    /// The server was seen to serve clients.
    pub fn serves(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).served = Some(Instant::now());
    }

    /// It was seen otherwise.
    pub fn does_not_serve(&self, why: String) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.served = None;
        inner.why_not = why;
    }

    fn alive(&self) -> Result<(), String> {
        let inner = self.inner();
        if inner.turned.elapsed() > LOOP_TIME {
            return Err(format!(
                "the agent has not turned for {} s",
                inner.turned.elapsed().as_secs()
            ));
        }
        inner.init
    }

    fn ready(&self) -> Result<(), String> {
        let inner = self.inner();
        match inner.served {
            Some(at) if at.elapsed() <= READING_TIME => Ok(()),
            Some(_) => Err("the server has not answered lately".into()),
            None => Err(inner.why_not),
        }
    }
}

/// All metrics, in Prometheus' text format.
pub type Figures = Arc<dyn Fn() -> String + Send + Sync>;

/// Serve for ever.
pub async fn serve(address: SocketAddr, health: Arc<Health>, figures: Figures) -> Result<()> {
    let healthz =
        |State((health, _)): State<(Arc<Health>, Figures)>| async move { probe(health.alive()) };
    let readyz =
        |State((health, _)): State<(Arc<Health>, Figures)>| async move { probe(health.ready()) };
    let metrics = |State((_, figures)): State<(Arc<Health>, Figures)>| async move {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        ([(header::CONTENT_TYPE, kind)], figures())
    };
    let router = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state((health, figures));
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("listening on {address}"))?;
    axum::serve(listener, router).await.with_context(|| format!("serving on {address}"))
}

fn probe(answer: Result<(), String>) -> impl IntoResponse {
    match answer {
        Ok(()) => (StatusCode::OK, "ok\n".to_string()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alive_asks_for_loop_and_init_only() {
        let health = Health::default();
        assert_eq!(health.alive(), Ok(()));
        health.does_not_serve("the server is down".into());
        assert_eq!(health.alive(), Ok(()));
        health.turned(Err("init does not answer".into()));
        assert_eq!(health.alive(), Err("init does not answer".into()));
    }

    #[test]
    fn ready_asks_for_the_server_only() {
        let health = Health::default();
        assert!(health.ready().is_err());
        health.serves();
        assert_eq!(health.ready(), Ok(()));
        health.does_not_serve("mode JOINING".into());
        assert_eq!(health.ready(), Err("mode JOINING".into()));
    }
}
