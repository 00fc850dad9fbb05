//! Watches our own member and nothing else.

use super::contact::Contact;
use crate::facts::Source;
use crate::metrics::Common;
use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::DynamicObject;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Resource};
use palladion_api::answers;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch::Sender;

/// How long the API may take to tell the spec before the saved one counts: it could say
/// that the server must not run.
const API_GRACE: Duration = Duration::from_secs(10);

/// What is known of our member.
#[derive(Clone, Debug, Default)]
pub enum News<K> {
    /// Nothing yet.
    #[default]
    Unknown,
    /// The API does not answer, or not us.
    Unreachable(String),
    /// It does not exist.
    Absent,
    /// It exists, and this agent cannot read it: a newer operator wrote it.
    Unreadable(Arc<Unreadable>),
    /// It is this.
    Present(Arc<K>),
}

/// A member that cannot be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// What every object has.
    pub metadata: ObjectMeta,
    /// What of it cannot be read.
    pub why: String,
}

impl<K> News<K> {
    /// Where the spec comes from, as of now.
    pub fn source(&self) -> Source {
        match self {
            News::Present(_) => Source::Live,
            News::Unknown | News::Unreachable(_) | News::Unreadable(_) | News::Absent => {
                Source::Saved
            }
        }
    }

    /// May the spec count that was saved, now that the agent runs for so long?
    pub fn leaves_to_saved(&self, running: Duration) -> bool {
        match self {
            News::Unknown => running >= API_GRACE,
            News::Unreachable(_) | News::Unreadable(_) => true,
            // A server that answers has no record of this member: its address may be
            // somebody else's by now. Whoever makes the record looks first.
            News::Absent | News::Present(_) => false,
        }
    }
}

impl<K: Resource + DeserializeOwned> News<K> {
    /// Read what the API server sent.
    pub fn read(object: DynamicObject) -> Self {
        let metadata = object.metadata.clone();
        match object.try_parse::<K>() {
            Ok(member) => News::Present(Arc::new(member)),
            Err(error) => {
                let why = format!("{:#}", anyhow::Error::from(error));
                News::Unreadable(Arc::new(Unreadable { metadata, why }))
            }
        }
    }
}

/// Selects our own member.
pub(super) fn only_ours(name: &str) -> String {
    format!("metadata.name={name}")
}

/// Watch for ever, backing off while the API is away.
pub async fn watch<K: Resource + DeserializeOwned>(
    members: Api<DynamicObject>,
    name: String,
    news: Sender<News<K>>,
    contact: &Contact,
    metrics: Common,
) {
    loop {
        watch_from_now(members.clone(), &name, &news, contact, &metrics).await;
        tracing::warn!("the API server's store is older than what was read from it; listing again");
    }
}

/// So many answers in a row that the version is not reached yet are no lag of one server
/// behind another any more: with the waits between them they take some ten seconds.
const LAGS: u32 = 4;

/// Watch until the API server's store turns out to be older than what was read from it.
async fn watch_from_now<K: Resource + DeserializeOwned>(
    members: Api<DynamicObject>,
    name: &str,
    news: &Sender<News<K>>,
    contact: &Contact,
    metrics: &Common,
) {
    let only_ours = watcher::Config::default().fields(&only_ours(name));
    let mut events = std::pin::pin!(watcher::watcher(members, only_ours).default_backoff());
    let mut listed = None;
    let mut begun = Instant::now();
    let mut lags = 0;
    while let Some(event) = events.next().await {
        // Each try begins with an `Init`, before anything is sent: that says nothing.
        if matches!(
            event,
            Ok(Event::InitApply(_) | Event::InitDone | Event::Apply(_) | Event::Delete(_))
        ) {
            contact.heard();
            lags = 0;
        }
        match event {
            Ok(Event::Init) => {
                metrics.api_connections.inc();
                listed = None;
                begun = Instant::now();
            }
            Ok(Event::InitApply(member)) => listed = Some(member),
            Ok(Event::InitDone) => {
                let list = listed.take();
                // Whatever is listed is so, also if it is older than what was known.
                if let Some(version) = list.as_ref().and_then(|m| version(&m.metadata)) {
                    contact.believe(version, begun);
                }
                tell(news, list.map_or(News::Absent, News::read), metrics);
            }
            Ok(Event::Apply(member)) => {
                // Versions of a watch only grow.
                let told = version(&member.metadata);
                if let Some(told) = told.filter(|told| known_version(news) > Some(*told)) {
                    contact.believe(told, Instant::now());
                }
                tell(news, News::read(member), metrics);
            }
            Ok(Event::Delete(_)) => tell(news, News::Absent, metrics),
            Err(error) => {
                lags = if is_of_the_future(&error) { lags + 1 } else { 0 };
                failed(news, error, metrics);
                if lags >= LAGS {
                    return;
                }
            }
        }
    }
}

/// What is known stays known.
fn failed<K>(news: &Sender<News<K>>, error: watcher::Error, metrics: &Common) {
    metrics.api_failures.inc();
    let known = match *news.borrow() {
        News::Present(_) | News::Unreadable(_) | News::Absent => true,
        News::Unknown | News::Unreachable(_) => false,
    };
    if !known {
        let why = format!("{:#}", anyhow::Error::from(error));
        tell(news, News::Unreachable(why), metrics);
    }
}

/// Our member, as the API server has told it when it was asked: newer than what the watch
/// has told, or the same.
pub(super) fn learn<K: Resource + DeserializeOwned>(
    news: &Sender<News<K>>,
    member: DynamicObject,
    contact: &Contact,
    metrics: &Common,
) {
    if version(&member.metadata) > known_version(news) {
        tell(news, News::read(member), metrics);
    }
    // Last, so that whoever is in contact knows what there is to know.
    contact.heard();
}

/// The version of our member that was told last.
fn known_version<K: Resource>(news: &Sender<News<K>>) -> Option<u64> {
    match &*news.borrow() {
        News::Present(known) => version(known.meta()),
        News::Unreadable(known) => version(&known.metadata),
        News::Unknown | News::Unreachable(_) | News::Absent => None,
    }
}

/// Has the server not reached the version yet that the watch goes on from? kube's watcher
/// asks for it again and again.
fn is_of_the_future(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => answers::is_of_the_future(status),
        _ => false,
    }
}

fn version(metadata: &ObjectMeta) -> Option<u64> {
    metadata.resource_version.as_ref().and_then(|version| version.parse().ok())
}

/// What cannot be read is logged once, and not in silence: the server runs on
/// by what was read last, and nothing that is new is carried out.
fn tell<K>(news: &Sender<News<K>>, what: News<K>, metrics: &Common) {
    let why = match &what {
        News::Unreadable(unreadable) => Some(unreadable.why.clone()),
        News::Unknown | News::Unreachable(_) | News::Absent | News::Present(_) => None,
    };
    metrics.unreadable.set(i64::from(why.is_some()));
    let before = news.send_replace(what);
    if let Some(why) = why
        && !matches!(before, News::Unreadable(before) if before.why == why)
    {
        tracing::error!(why, "our member cannot be read; it is from a newer operator");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::json;

    #[test]
    fn a_member_that_cannot_be_read_is_told_with_its_uid_and_counted() {
        let object = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "demo-0", "uid": "u" },
            "spec": { "containers": 7 },
        });
        let (news, heard) = tokio::sync::watch::channel(News::<Pod>::Unknown);
        let metrics = Common::default();
        tell(&news, News::read(serde_json::from_value(object).unwrap()), &metrics);
        match &*heard.borrow() {
            News::Unreadable(u) => assert_eq!(u.metadata.uid.as_deref(), Some("u"), "{}", u.why),
            other => panic!("{other:?}"),
        }
        assert_eq!(metrics.unreadable.get(), 1);
        tell(&news, News::Absent, &metrics);
        assert_eq!(metrics.unreadable.get(), 0);
    }
}
