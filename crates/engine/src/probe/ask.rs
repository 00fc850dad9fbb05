//! One question, one answer. An answer that does not come in time is a bad one;
//! a question that we could not put, because the API server does not answer us
//! or refuses us, says nothing about the pod.

use super::answer::{Answer, late};
use super::{exec, grpc, http};
use crate::request::Api;
use crate::words::Probed;
use palladion_plan::{ProbeAction, ProbeRequest};
use std::time::Duration;
use tokio::net::TcpStream;

/// Puts questions.
#[derive(Clone)]
pub struct Asker {
    api: Api,
}

impl Asker {
    /// Exec goes through this API server; everything else straight to the pod.
    pub fn new(api: Api) -> Self {
        Self { api }
    }

    /// Put a question and wait for its answer, no longer than its time-out.
    pub async fn ask(&self, request: &ProbeRequest) -> Answer {
        let timeout = Duration::try_from(request.timeout).unwrap_or(Duration::from_secs(1));
        let answer = match &request.action {
            ProbeAction::Exec { container, command } => {
                let pod = &request.pod;
                return exec::ask(&self.api, pod, container, command, timeout).await;
            }
            ProbeAction::Http { address, port, path, headers } => {
                let ask = http::ask(address, *port, path, headers);
                tokio::time::timeout(timeout, ask).await
            }
            ProbeAction::Tcp { address, port } => {
                tokio::time::timeout(timeout, tcp(address, *port)).await
            }
            ProbeAction::Grpc { address, port, service } => {
                tokio::time::timeout(timeout, grpc::ask(address, *port, service)).await
            }
        };
        answer.unwrap_or_else(|_| Answer::Bad(late(timeout)))
    }
}

async fn tcp(address: &str, port: u16) -> Answer {
    match TcpStream::connect((address, port)).await {
        Ok(_) => Answer::Good,
        Err(error) => Answer::Bad(Probed::NotConnected { port, why: error.to_string() }),
    }
}
