//! The ring as a client sees it. Every request is sent once: what a driver or
//! a server tries again on its own would blur what was acknowledged.

pub mod outcome;
pub mod places;
pub mod replica;
pub mod scan;
pub mod schema;
mod tls;
pub mod trace;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::{
    LoadBalancingPolicy, NodeIdentifier, SingleTargetLoadBalancingPolicy,
};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::statement::{Consistency, SerialConsistency};
use uuid::Uuid;

use crate::level::Level;

/// Longer than a server's own patience, which is 2 s for writes and 10 s for
/// ranges: an answer "timed out" says more than no answer.
const REQUEST_PATIENCE: Duration = Duration::from_secs(12);
/// A ring on a busy machine, or one that has lost a member a moment ago.
const CONNECT_PATIENCE: Duration = Duration::from_secs(60);

/// Whom to talk to, and as whom.
#[derive(Clone, Debug, clap::Args)]
pub struct Contact {
    /// Members' addresses, with a port if it is not 9042, and commas between
    #[arg(long, value_delimiter = ',', required = true)]
    pub contact: Vec<String>,
    /// A directory with the files `username` and `password`, as a mounted Secret has them
    #[arg(long)]
    pub credentials: Option<std::path::PathBuf>,
    /// A file with the authority of the members' certificates (PEM); with it, TLS is spoken
    #[arg(long)]
    pub authority: Option<std::path::PathBuf>,
    /// The keyspace of the checked tables; made if it is not there
    #[arg(long, default_value = "checked")]
    pub keyspace: String,
}

impl Contact {
    /// Connect, with patience.
    pub async fn connect(&self) -> Result<Session> {
        if !self.keyspace.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        {
            bail!("{:?} is no keyspace of small letters, digits and _", self.keyspace);
        }
        let profile = ExecutionProfile::builder()
            .request_timeout(Some(REQUEST_PATIENCE))
            .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
            .serial_consistency(Some(SerialConsistency::Serial))
            .consistency(Consistency::Quorum)
            .build();
        let mut builder = SessionBuilder::new()
            .known_nodes(&self.contact)
            .default_execution_profile_handle(profile.into_handle())
            .fetch_schema_metadata(true);
        if let Some(directory) = &self.credentials {
            builder = builder.user(secret(directory, "username")?, secret(directory, "password")?);
        }
        if let Some(authority) = &self.authority {
            builder = builder.tls_context(Some(tls::trusting(authority)?));
        }
        let end = Instant::now() + CONNECT_PATIENCE;
        loop {
            match builder.build().await {
                Ok(session) => return Ok(session),
                Err(error) if Instant::now() > end => {
                    return Err(error)
                        .with_context(|| format!("connecting to {}", self.contact.join(", ")));
                }
                Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
            }
        }
    }
}

fn secret(directory: &Path, name: &str) -> Result<String> {
    let path = directory.join(name);
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Sends to this member and to no other.
pub fn pinned(host_id: Uuid) -> Arc<dyn LoadBalancingPolicy> {
    SingleTargetLoadBalancingPolicy::new(NodeIdentifier::HostId(host_id), None)
}

/// The driver's word for a level.
pub fn consistency(level: Level) -> Consistency {
    match level {
        Level::One => Consistency::One,
        Level::Quorum => Consistency::Quorum,
        Level::All => Consistency::All,
    }
}
