//! How a backup or a restore goes and how it ends, as its status reports it.

use super::{Asked, Kind, Said};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use palladion_api::conditions::{COMPLETE, FAILED};
use palladion_plan::difference::difference;
use palladion_plan::{Conditions, Event, Step, Truth};
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not ended.
    Open,
    /// It is complete.
    Complete,
    /// It has failed, or was aborted.
    Failed,
}

/// The conditions of one that stands so.
pub fn conditions<K: Kind>(
    (asked, had): (&Asked<'_, K>, &[Condition]),
    (standing, Said(reason, message)): (Standing, &Said),
    now: Timestamp,
) -> Vec<Condition> {
    let is = |what: Standing| if standing == what { Truth::True } else { Truth::False };
    let mut conditions = Conditions::new(had, asked.object.meta.generation, now);
    conditions.set(COMPLETE, is(Standing::Complete), *reason, message);
    conditions.set(FAILED, is(Standing::Failed), *reason, message);
    conditions.all().to_vec()
}

/// Write this status, where it differs; `None` where nothing does. As it was seen: a leader that
/// was frozen must not write over its successor's words.
pub fn step<K: Kind>(
    asked: &Asked<'_, K>,
    status: &impl Serialize,
    doing: impl Display,
    event: Option<Event>,
) -> Option<Step> {
    let meta = &asked.object.meta;
    let change = difference(asked.object.at("/status"), &json!(status))?;
    let patch = json!({ "status": change });
    let step = Step::patch_status_as_seen(K::RESOURCE, meta, patch, doing);
    let event = event.map(|event| event.also_about(K::RESOURCE, meta));
    Some(step.announced(event))
}
