//! The one object that the agent shares with the operator: its own
//! `ServiceMember`, the rights to it, and how it is watched and written.

use crate::kubernetes as core;
use crate::metrics::Common;
use crate::runtime::AGAIN;
use crate::settings::PodSettings;
use palladion_api::rights::{Place, Right, Verb};
use palladion_api::service_member::{ServiceMember, ServiceMemberStatus};
use tokio::sync::watch;

/// What is known of our member.
pub type News = core::News<ServiceMember>;

/// What every pod of a member may do. Nothing in a member's object is secret.
pub const RIGHTS: &[Right] = &[
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "servicemembers",
        &[Verb::List, Verb::Watch],
        "An agent watches its own object",
    ),
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "servicemembers",
        &[Verb::Patch],
        "An agent writes the status of its own member; an admission policy enforces that",
    )
    .on("status"),
];

/// Watch it, and have its status written, for ever.
pub async fn speak(
    pod: PodSettings,
    news: watch::Sender<News>,
    status: watch::Receiver<Option<ServiceMemberStatus>>,
    heard: watch::Receiver<News>,
    metrics: Common,
) {
    let members = loop {
        match core::members::<ServiceMember>(pod.api_url.as_deref(), &pod.namespace) {
            Ok(members) => break members,
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(error, "there is no way to the Kubernetes API; trying again");
                news.send_replace(News::Unreachable(error));
                tokio::time::sleep(AGAIN).await;
            }
        }
    };
    let name = pod.name.to_string();
    let contact = core::Contact::default();
    let reporting = core::report::<ServiceMember>(
        members.clone(),
        name.clone(),
        status,
        heard,
        &contact,
        metrics.clone(),
    );
    tokio::join!(core::watch(members, name, news, &contact, metrics), reporting);
}
