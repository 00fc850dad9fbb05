//! The one object that the agent shares with the operator: its own
//! `CassandraMember`, watched here and answered in its status. An API that is
//! away changes nothing for the server.

mod patch;
mod report;
mod watch;

pub use report::report;
pub use watch::{News, Unreadable, watch};

use crate::settings::Settings;
use anyhow::{Context, Result};
use kube::core::{ApiResource, DynamicObject};
use kube::{Api, Client, Config};
use palladion_api::member::CassandraMember;
use palladion_api::rights::{Place, Right, Verb};
use std::time::Duration;

/// What every pod of a member may do. Nothing in a member's object is secret.
pub const RIGHTS: &[Right] = &[
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "cassandramembers",
        &[Verb::List, Verb::Watch],
        "An agent watches its own object",
    ),
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "cassandramembers",
        &[Verb::Patch],
        "An agent writes the status of its own member; an admission policy enforces that",
    )
    .on("status"),
];

/// An API server that does not take a connection in this time is away.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Our member, through the pod's own token (which the client reads again as it is
/// renewed). Read as any object, so that a field that this agent cannot read does
/// not end its watch.
pub fn members(settings: &Settings) -> Result<Api<DynamicObject>> {
    let mut config = match &settings.api_url {
        Some(url) => {
            Config::new(url.parse().with_context(|| format!("parsing the API URL {url}"))?)
        }
        None => Config::incluster().context("reading the pod's API configuration")?,
    };
    config.connect_timeout = Some(CONNECT_TIME);
    let client = Client::try_from(config).context("making an API client")?;
    let kind = ApiResource::erase::<CassandraMember>(&());
    Ok(Api::namespaced_with(client, &settings.pod_namespace, &kind))
}
