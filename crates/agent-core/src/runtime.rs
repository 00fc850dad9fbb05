//! What the agent runs on: one thread, a log of JSON lines, and what runs beside
//! its loop for ever.

use crate::drain;
use crate::http::{self, Figures, Health};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A deployment error (no token, port taken) is tried again this often.
pub const AGAIN: Duration = Duration::from_secs(5);

/// Run the agent's loop. `log` says what is logged, as `tracing` directives.
pub fn run(log: &str, agent: impl Future<Output = Result<()>>) -> Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(log))
        .with_target(false)
        .json()
        .init();
    // Fails only if it was done before, which does no harm.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(2)
        .build()
        .context("starting the runtime")?
        .block_on(agent)
}

/// Serve probes and metrics for ever.
pub async fn serve(address: SocketAddr, health: Arc<Health>, figures: Figures) {
    loop {
        if let Err(error) = http::serve(address, health.clone(), figures.clone()).await {
            tracing::error!(
                error = format!("{error:#}"),
                "probes and metrics are not served; trying again"
            );
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Take requests to drain for ever.
pub async fn take_drains(socket: PathBuf, requests: mpsc::Sender<drain::Request>) {
    loop {
        if let Err(error) = drain::listen(socket.clone(), requests.clone()).await {
            tracing::error!(
                error = format!("{error:#}"),
                "drain requests are not taken; trying again"
            );
        }
        tokio::time::sleep(AGAIN).await;
    }
}
