//! The door for people's tools: requests to the API server in the name of
//! whoever runs the tool. What it may do is theirs to say; a right that is
//! missing is named by its rule ([`rights`]). The operator is built without it.

pub mod exec;
pub mod logs;
pub mod look;
pub mod read;
pub mod rights;
pub mod write;

use crate::client;
use crate::error::ApiError;
use crate::request::path::object_path;
use crate::request::{Body, REQUEST_TIMEOUT, with_body};
use crate::words::NoWay;
use http::{Method, Request};
use jiff::Timestamp;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use palladion_api::rights::Verb;
use palladion_plan::ObjectKey;
use rights::{Attempt, Refusal};
use serde_json::Value;
use std::path::PathBuf;

/// How the API server is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The kubeconfig; otherwise `$KUBECONFIG`, `~/.kube/config`, or the pod's account.
    pub kubeconfig: Option<PathBuf>,
    /// Its context; otherwise the current one.
    pub context: Option<String>,
}

/// A connection in somebody's name.
#[derive(Clone)]
pub struct Door {
    client: Client,
    namespace: String,
    context: String,
    server: String,
}

impl Door {
    /// Read the kubeconfig. Nothing is sent yet.
    ///
    /// # Errors
    /// Which file or context cannot be used, and why.
    pub async fn open(way: &Way) -> Result<Self, NoWay> {
        let config = config(way).await?;
        let (context, server) = (context(way), config.cluster_url.to_string());
        let namespace = config.default_namespace.clone();
        let client = client::client(config).map_err(|e| NoWay::Client { why: e.to_string() })?;
        Ok(Self { client, namespace, context, server })
    }

    /// A door over a client, for tests.
    pub fn over(client: Client) -> Self {
        let namespace = client.default_namespace().to_string();
        Self { client, namespace, context: String::new(), server: String::new() }
    }

    /// The namespace of the context.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The context of the kubeconfig; empty where there is none.
    pub fn context(&self) -> &str {
        &self.context
    }

    /// The address of the API server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Version of the API server, for example `v1.34.2`.
    ///
    /// # Errors
    /// Why the server did not answer.
    pub async fn server_version(&self) -> Result<String, ApiError> {
        let version = self.within(self.client.apiserver_version()).await?;
        Ok(version.git_version)
    }

    /// What time it is for the API server, to the second: its answers are dated.
    /// `None` where something on the way takes the date off.
    ///
    /// # Errors
    /// Nobody answered.
    pub async fn time(&self, asked: &ObjectKey) -> Result<Option<Timestamp>, Refusal> {
        let attempt = Attempt::on_object(Verb::Get, asked.resource, &asked.namespace, &asked.name);
        let refused = |answer| Refusal { attempt: attempt.clone(), answer };
        let request = request(attempt.method(), &object_path(asked), None).map_err(refused)?;
        let sent = self.client.send(request.map(kube::client::Body::from));
        let answer = self.within(sent).await.map_err(refused)?;
        let date = answer.headers().get(http::header::DATE).and_then(|date| date.to_str().ok());
        let parsed = date.map(jiff::fmt::rfc2822::parse);
        Ok(parsed.and_then(Result::ok).map(|zoned| zoned.timestamp()))
    }

    async fn call(&self, attempt: &Attempt, path: &str, body: Body<'_>) -> Result<Value, Refusal> {
        let method = attempt.method();
        let answer = match request(method, path, body) {
            Ok(request) => self.within(self.client.request::<Value>(request)).await,
            Err(error) => Err(error),
        };
        answer.map_err(|answer| Refusal { attempt: attempt.clone(), answer })
    }

    async fn within<T>(
        &self,
        asked: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, ApiError> {
        match tokio::time::timeout(REQUEST_TIMEOUT, asked).await {
            Ok(answer) => answer.map_err(ApiError::from),
            Err(_) => Err(ApiError::timeout(REQUEST_TIMEOUT)),
        }
    }
}

fn request(method: Method, path: &str, body: Body<'_>) -> Result<Request<Vec<u8>>, ApiError> {
    with_body(Request::builder().method(method).uri(path), path, body)
}

async fn config(way: &Way) -> Result<Config, NoWay> {
    let asked = way.kubeconfig.is_some() || way.context.is_some();
    if !asked {
        // A pod has an account and no kubeconfig; to everybody else the
        // kubeconfig's own error is the one that helps.
        let of_file = Config::from_kubeconfig(&KubeConfigOptions::default()).await;
        return of_file.or_else(|error| {
            let why = deepest(&error);
            if has_kubeconfig() {
                // Never another cluster than the one that somebody has named.
                return Err(NoWay::File { file: "the kubeconfig".to_string(), why });
            }
            Config::incluster().map_err(|_| NoWay::Nothing { why })
        });
    }
    let (file, read) = match &way.kubeconfig {
        Some(path) => (path.display().to_string(), Kubeconfig::read_from(path)),
        None => ("the kubeconfig".to_string(), Kubeconfig::read()),
    };
    let unreadable = |e: kube::config::KubeconfigError| {
        let (file, why) = (file.clone(), deepest(&e));
        NoWay::File { file, why }
    };
    let options = KubeConfigOptions { context: way.context.clone(), ..Default::default() };
    let kubeconfig = read.map_err(unreadable)?;
    Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(unreadable)
}

/// The context that is used, by its name.
fn context(way: &Way) -> String {
    let read = || match &way.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let current = || read().ok().and_then(|kubeconfig| kubeconfig.current_context);
    way.context.clone().or_else(current).unwrap_or_default()
}

/// Is there a kubeconfig, whatever is in it?
fn has_kubeconfig() -> bool {
    let of_home = std::env::home_dir().map(|home| home.join(".kube/config"));
    std::env::var_os("KUBECONFIG").is_some_and(|names| !names.is_empty())
        || of_home.is_some_and(|file| file.exists())
}

/// The innermost cause says what is wrong with a file.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
