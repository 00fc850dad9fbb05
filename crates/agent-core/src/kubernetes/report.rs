//! Writes our member's status: only where it differs, what belongs together at
//! once, progress at most every ten seconds.

use super::contact::Contact;
use super::patch::{difference, is_progress};
use super::watch::News;
use crate::metrics::Common;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::Resource;
use kube::api::{Patch, PatchParams};
use kube::core::DynamicObject;
use kube::core::object::HasStatus;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Changes of one turn come together.
const TOGETHER: Duration = Duration::from_millis(20);
/// Least time between two writes.
const APART: Duration = Duration::from_millis(250);
/// Least time between two writes that tell of progress only.
const PROGRESS_APART: Duration = Duration::from_secs(10);
/// A write that is not answered in this time is tried again.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Longest wait between tries.
const LONGEST: Duration = Duration::from_secs(30);

struct Reporter<'a> {
    members: Api<DynamicObject>,
    name: String,
    contact: &'a Contact,
    metrics: Common,
    /// The newest version of our object that we know of.
    known: Option<Known>,
    written: Instant,
    failures: u32,
    /// When a write was answered last.
    answered: Option<std::time::Instant>,
}

#[derive(Clone)]
struct Known {
    uid: Option<String>,
    version: Option<u64>,
    status: Value,
}

/// Report for ever.
pub async fn report<K>(
    members: Api<DynamicObject>,
    name: String,
    mut wanted: Receiver<Option<K::Status>>,
    mut news: Receiver<News<K>>,
    contact: &Contact,
    metrics: Common,
) where
    K: Resource + HasStatus,
    K::Status: Serialize + DeserializeOwned,
{
    let written = Instant::now().checked_sub(PROGRESS_APART).unwrap_or_else(Instant::now);
    let mut reporter = Reporter {
        members,
        name,
        contact,
        metrics,
        known: None,
        written,
        failures: 0,
        answered: None,
    };
    loop {
        reporter.learn(&news.borrow_and_update());
        let status = wanted.borrow_and_update().as_ref().map(|s| json!(s));
        let due = status.as_ref().and_then(|status| reporter.due(status));
        let changed = async {
            tokio::select! { r = wanted.changed() => r, r = news.changed() => r }
        };
        match due {
            None => {
                reporter.rests();
                if changed.await.is_err() {
                    return;
                }
                sleep(TOGETHER).await;
            }
            Some(due) if due > Instant::now() => {
                tokio::select! {
                    r = changed => if r.is_err() { return } else { sleep(TOGETHER).await },
                    () = sleep_until(due) => {}
                }
            }
            Some(_) => {
                if let Some(status) = status {
                    reporter.write::<K::Status>(&status).await;
                }
            }
        }
    }
}

impl Reporter<'_> {
    fn learn<K>(&mut self, news: &News<K>)
    where
        K: Resource + HasStatus,
        K::Status: Serialize,
    {
        match news {
            News::Unknown | News::Unreachable(_) => {}
            News::Absent => self.known = None,
            News::Present(member) => self.learn_of(Known::of(&**member)),
            // Its status may be what cannot be read: what was written last counts.
            News::Unreadable(unreadable) => {
                let metadata = &unreadable.metadata;
                let known = self.known.as_ref().filter(|k| k.uid == metadata.uid);
                let status = known.map_or(json!({}), |k| k.status.clone());
                self.learn_of(Known::with(metadata, status));
            }
        }
    }

    fn learn_of(&mut self, newer: Known) {
        let is_older =
            self.known.as_ref().is_some_and(|k| k.uid == newer.uid && k.version > newer.version);
        // Usually it was on its way while we wrote. After etcd was restored from a backup it is
        // what there is, and what we have reported since is lost.
        let believes = |version| self.contact.believes(version, self.answered);
        if !is_older || newer.version.is_some_and(believes) {
            self.known = Some(newer);
        }
    }

    /// When the status must be written; `None` where it need not or cannot be.
    fn due(&self, status: &Value) -> Option<Instant> {
        let patch = difference(&self.known.as_ref()?.status, status)?;
        let apart = if is_progress(&patch) { PROGRESS_APART } else { APART };
        let failed = match self.failures {
            0 => Duration::ZERO,
            n => Duration::from_secs(1 << (n - 1).min(5)).min(LONGEST),
        };
        Some(self.written + apart.max(failed))
    }

    /// Nothing is left to tell to the member that there is; what could not be written before
    /// need not be any more.
    fn rests(&mut self) {
        if self.known.is_some() {
            self.contact.told();
        }
    }

    async fn write<S: Serialize + DeserializeOwned>(&mut self, status: &Value) {
        let Some(known) = &self.known else { return };
        let Some(patch) = difference(&known.status, status) else {
            return;
        };
        // A patch that names the uid never lands on another object of our name.
        let body = json!({ "metadata": { "uid": known.uid }, "status": patch });
        self.written = Instant::now();
        let parameters =
            PatchParams { field_manager: Some("palladion-agent".into()), ..PatchParams::default() };
        let answer = timeout(
            ANSWER_TIME,
            self.members.patch_status(&self.name, &parameters, &Patch::Merge(&body)),
        )
        .await;
        match answer {
            Ok(Ok(member)) => {
                self.answered = Some(std::time::Instant::now());
                self.metrics.status_writes.inc();
                self.failures = 0;
                self.contact.told();
                let read: Option<S> = serde_json::from_value(member.data["status"].clone()).ok();
                let status = read.map_or_else(|| status.clone(), |read| json!(read));
                self.known = Some(Known::with(&member.metadata, status));
            }
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => self.known = None,
            Ok(Err(error)) => self.failed(&error.to_string()),
            Err(_) => self.failed("the API did not answer in time"),
        }
    }

    fn failed(&mut self, why: &str) {
        self.metrics.api_failures.inc();
        self.contact.not_told();
        if self.failures == 0 {
            tracing::warn!(why, "the status of our member could not be written; trying again");
        }
        self.failures = self.failures.saturating_add(1);
    }
}

impl Known {
    fn of<K>(member: &K) -> Self
    where
        K: Resource + HasStatus,
        K::Status: Serialize,
    {
        Self::with(member.meta(), member.status().map_or(json!({}), |s| json!(s)))
    }

    fn with(metadata: &ObjectMeta, status: Value) -> Self {
        let version = metadata.resource_version.as_ref().and_then(|v| v.parse().ok());
        Self { uid: metadata.uid.clone(), version, status }
    }
}
