//! Watches our own member and nothing else.

use crate::metrics::Metrics;
use futures::StreamExt;
use kube::Api;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};
use palladion_api::member::CassandraMember;
use std::sync::Arc;
use tokio::sync::watch::Sender;

/// What is known of our member.
#[derive(Clone, Debug, Default)]
pub enum News {
    /// Nothing yet.
    #[default]
    Unknown,
    /// The API does not answer, or not us.
    Unreachable(String),
    /// It does not exist.
    Absent,
    /// It is this.
    Present(Arc<CassandraMember>),
}

/// Watch for ever, backing off while the API is away.
pub async fn watch(
    members: Api<CassandraMember>,
    name: String,
    news: Sender<News>,
    metrics: Arc<Metrics>,
) {
    let only_ours = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let mut events = std::pin::pin!(watcher::watcher(members, only_ours).default_backoff());
    let mut listed = None;
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => {
                metrics.api_connections.inc();
                listed = None;
            }
            Ok(Event::InitApply(member)) => listed = Some(member),
            Ok(Event::InitDone) => {
                tell(&news, listed.take().map_or(News::Absent, |m| News::Present(Arc::new(m))));
            }
            Ok(Event::Apply(member)) => tell(&news, News::Present(Arc::new(member))),
            Ok(Event::Delete(_)) => tell(&news, News::Absent),
            Err(error) => {
                metrics.api_failures.inc();
                let known = matches!(*news.borrow(), News::Present(_) | News::Absent);
                if !known {
                    tell(&news, News::Unreachable(format!("{:#}", anyhow::Error::from(error))));
                }
            }
        }
    }
}

fn tell(news: &Sender<News>, what: News) {
    news.send_replace(what);
}
