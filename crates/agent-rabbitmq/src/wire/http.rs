//! The management API: the few pages that the agent reads, as a user that may read and
//! nothing else (tag `monitoring`).

use super::Error;
use crate::read::{Health, Node, Overview};
use palladion_agent_core::loopback;
use palladion_api::rabbitmq::AGENT_USER;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;

/// The node is on this machine.
const CONNECT_TIME: Duration = Duration::from_secs(2);
/// Bytes of an answer at the most. A health check names each critical queue.
const MOST_BYTES: usize = 8 * 1024 * 1024;

const OVERVIEW: &str =
    "overview?columns=node,rabbitmq_version,listeners,queue_totals,object_totals";
const NODES: &str = "nodes?columns=name,running,partitions,mem_alarm,disk_free_alarm,being_drained,mem_used,disk_free,fd_used,proc_used";
const QUORUM_CRITICAL: &str = "health/checks/node-is-quorum-critical";
const MIRROR_CRITICAL: &str = "health/checks/node-is-mirror-sync-critical";

/// A password. Shown nowhere.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// As it stands in the Secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For the node; nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(a password)")
    }
}

/// The management API of our own node.
#[derive(Clone, Debug)]
pub struct Management {
    http: reqwest::Client,
    address: SocketAddr,
    password: Password,
}

impl Management {
    /// Where its API listens. `limit` is for one answer.
    ///
    /// # Panics
    /// The client cannot be built: it has no certificates and no proxy, nothing that can fail.
    pub fn new(address: SocketAddr, password: Password, limit: Duration) -> Self {
        let http = loopback::client(CONNECT_TIME)
            .timeout(limit)
            .build()
            .expect("should build: no certificates, no proxy, nothing that can fail");
        Self { http, address, password }
    }

    /// Who it is, and what it listens on.
    ///
    /// # Errors
    /// It does not answer, or not that.
    pub async fn overview(&self) -> Result<Overview, Error> {
        self.get("overview", OVERVIEW).await
    }

    /// All nodes of the cluster, running or not.
    ///
    /// # Errors
    /// As for the overview.
    pub async fn nodes(&self) -> Result<Vec<Node>, Error> {
        self.get("nodes", NODES).await
    }

    /// Queues for which this node must not stop: those that would lose their quorum, and
    /// mirrored ones without another mirror in step. A node alone says that there are none
    /// (R4 of the experiments in `docs/sources.md`).
    ///
    /// # Errors
    /// As for the overview.
    pub async fn critical(&self) -> Result<Vec<String>, Error> {
        let mut all = self.check("quorum-critical check", QUORUM_CRITICAL).await?;
        all.extend(self.check("mirror-sync-critical check", MIRROR_CRITICAL).await?);
        Ok(all)
    }

    /// A health check: 200 says that all is well, 503 names queues.
    async fn check(&self, name: &'static str, path: &str) -> Result<Vec<String>, Error> {
        let response = self.ask(name, path).await?;
        let code = response.status().as_u16();
        match code {
            // In versions that have given up mirrors the second check is gone.
            404 | 410 => Ok(Vec::new()),
            200 | 503 => {
                let health: Health = parse(name, &body(name, response).await?)?;
                match (code, health.queues()) {
                    (200, _) => Ok(Vec::new()),
                    (_, queues) if queues.is_empty() => Err(Error::Status { path: name, code }),
                    (_, queues) => Ok(queues),
                }
            }
            code => Err(Error::Status { path: name, code }),
        }
    }

    async fn get<T: DeserializeOwned>(&self, name: &'static str, path: &str) -> Result<T, Error> {
        let response = self.ask(name, path).await?;
        match response.status().as_u16() {
            200 => parse(name, &body(name, response).await?),
            code => Err(Error::Status { path: name, code }),
        }
    }

    async fn ask(&self, name: &'static str, path: &str) -> Result<reqwest::Response, Error> {
        let request = self
            .http
            .get(format!("http://{}/api/{path}", self.address))
            .basic_auth(AGENT_USER, Some(self.password.reveal()));
        let response = request.send().await.map_err(|source| failed(name, source))?;
        match response.status().as_u16() {
            401 => Err(Error::Unauthorized),
            _ => Ok(response),
        }
    }
}

fn failed(path: &'static str, source: reqwest::Error) -> Error {
    match source.is_timeout() {
        true => Error::Late { what: path.into() },
        // The address stands in the words already; ours is not to be told twice.
        false => Error::Http { path, source: source.without_url() },
    }
}

async fn body(name: &'static str, mut response: reqwest::Response) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|source| failed(name, source))? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(Error::TooLong { what: name.into() });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn parse<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|source| Error::Unclear { what: name.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::http::{HeaderMap, StatusCode, header};
    use axum::routing::get;

    const CHECK: &str = "/api/health/checks/node-is-quorum-critical";
    const MIRRORS: &str = "/api/health/checks/node-is-mirror-sync-critical";

    async fn served(router: Router) -> Management {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Management::new(address, Password::new("secret"), Duration::from_secs(5))
    }

    #[tokio::test]
    async fn requests_are_those_of_the_agents_user() {
        let nodes = |headers: HeaderMap| async move {
            // `palladion:secret`, as the specification of HTTP has it.
            assert_eq!(headers[header::AUTHORIZATION], "Basic cGFsbGFkaW9uOnNlY3JldA==");
            r#"[{"name":"rabbit@a","running":true}]"#
        };
        let management = served(Router::new().route("/api/nodes", get(nodes))).await;
        assert_eq!(management.nodes().await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_user_that_is_not_known_is_told_apart_from_a_node_that_is_silent() {
        let denied = || async { StatusCode::UNAUTHORIZED };
        let management = served(Router::new().route("/api/overview", get(denied))).await;
        assert!(matches!(management.overview().await, Err(Error::Unauthorized)));
        let missing = management.nodes().await;
        assert!(matches!(missing, Err(Error::Status { code: 404, .. })), "{missing:?}");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let nobody = Management::new(address, Password::new("secret"), Duration::from_secs(5));
        let silent = nobody.overview().await.unwrap_err();
        assert!(matches!(silent, Error::Http { .. }) && !silent.is_a_no(), "{silent}");
    }

    #[tokio::test]
    async fn a_check_names_queues_and_one_that_names_none_is_no_answer() {
        let critical = |body: &'static str| {
            get(move || async move { (StatusCode::SERVICE_UNAVAILABLE, body) })
        };
        let well = || get(|| async { r#"{"status":"ok"}"# });
        let named = r#"{"status":"failed","queues":[{"name":"q","virtual_host":"/"}]}"#;
        let router = Router::new().route(CHECK, critical(named)).route(MIRRORS, well());
        assert_eq!(served(router).await.critical().await.unwrap(), ["q"]);
        // Versions without mirrors have no check for them.
        let router = Router::new().route(CHECK, well());
        assert!(served(router).await.critical().await.unwrap().is_empty());
        let router = Router::new().route(CHECK, critical("{}")).route(MIRRORS, well());
        assert!(served(router).await.critical().await.is_err());
    }

    #[tokio::test]
    async fn an_answer_has_its_bounds() {
        let long = || async { vec![b' '; MOST_BYTES + 1] };
        let management = served(Router::new().route("/api/overview", get(long))).await;
        assert!(matches!(management.overview().await, Err(Error::TooLong { .. })));
    }
}
