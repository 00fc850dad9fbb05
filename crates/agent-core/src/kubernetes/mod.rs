//! The one object that the agent shares with the operator: its own member,
//! watched here and answered in its status. An API that is away changes nothing
//! for the server.

mod ask;
mod contact;
mod patch;
mod report;
#[cfg(test)]
mod restored;
#[cfg(test)]
mod tests;
mod watch;

pub use ask::ask;
pub use contact::{Contact, Last};
pub use report::report;
pub use watch::{News, Unreadable, watch};

use anyhow::{Context, Result};
use kube::core::{ApiResource, DynamicObject};
use kube::{Api, Client, Config, Resource};
use std::time::Duration;

/// An API server that does not take a connection in this time is away.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// One that has taken a request and sends nothing for so long is away, too. A watch in which
/// nothing happens ends after 290 s.
const READ_TIME: Duration = Duration::from_secs(300);

/// The members of a kind in a namespace, through the pod's own token (which the
/// client reads again as it is renewed), or at a plain URL. Read as any object, so
/// that a field that this agent cannot read does not end its watch.
pub fn members<K>(url: Option<&str>, namespace: &str) -> Result<Api<DynamicObject>>
where
    K: Resource<DynamicType = ()>,
{
    let mut config = match url {
        Some(url) => {
            Config::new(url.parse().with_context(|| format!("parsing the API URL {url}"))?)
        }
        None => Config::incluster().context("reading the pod's API configuration")?,
    };
    config.connect_timeout = Some(CONNECT_TIME);
    config.read_timeout = Some(READ_TIME);
    // Tried again where it is known what for; kube would keep the answer to itself for minutes.
    config.default_retry = false;
    let client = Client::try_from(config).context("making an API client")?;
    Ok(Api::namespaced_with(client, namespace, &ApiResource::erase::<K>(&())))
}
