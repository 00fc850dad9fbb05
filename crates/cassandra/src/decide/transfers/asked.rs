//! What users ask for by an object, as it is stored: a backup, or a restore.

use crate::facts::Facts;
use palladion_api::ids::Uid;
use palladion_plan::{Object, Resource};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Digits of a nonce, in a name of ours.
const DIGITS: usize = 12;

/// A kind of which one at a time is under way for a ring.
pub trait Kind {
    /// The kind.
    const RESOURCE: Resource;
    /// What is wanted.
    type Spec: DeserializeOwned;
    /// How it goes.
    type Status: DeserializeOwned + Default;
    /// Has one in this phase ended? One that is not known has not.
    fn is_final(phase: &Value) -> bool;
}

/// One of them, as it is stored.
pub struct Asked<'a, K: Kind> {
    /// The stored object.
    pub object: &'a Object,
    /// What is wanted.
    pub spec: K::Spec,
    /// How it went so far.
    pub status: K::Status,
}

/// The object of the one that is under way.
pub enum Found<'a, K: Kind> {
    /// There is none any more.
    Deleted,
    /// It is of another version of this kind, and not ours to judge.
    Unreadable,
    /// What it says.
    There(Box<Asked<'a, K>>),
}

/// Has it ended?
pub fn is_over<K: Kind>(object: &Object) -> bool {
    object.at("/status/phase").is_some_and(K::is_final)
}

/// Those of this cluster that have not ended, in the order in which they come.
pub fn open<'a, K: Kind>(facts: &'a Facts<'_>) -> Vec<Asked<'a, K>> {
    let is_open = |object: &&'a Object| !is_over::<K>(object) && !object.meta.is_terminating();
    let mut all: Vec<Asked<'a, K>> =
        of_cluster::<K>(facts).filter(is_open).filter_map(Asked::read).collect();
    all.sort_by(|a, b| {
        let place = |asked: &Asked<'_, K>| asked.object.meta.creation_timestamp;
        (place(a), a.name()).cmp(&(place(b), b.name()))
    });
    all
}

/// The one with this uid.
pub fn of_uid<'a, K: Kind>(facts: &'a Facts<'_>, uid: &Uid) -> Found<'a, K> {
    let mut all = of_cluster::<K>(facts).filter(|object| !object.meta.is_terminating());
    match all.find(|object| object.meta.uid == *uid).map(Asked::read) {
        None => Found::Deleted,
        Some(None) => Found::Unreadable,
        Some(Some(asked)) => Found::There(Box::new(asked)),
    }
}

fn of_cluster<'a, K: Kind>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a Object> {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let all = facts.objects(K::RESOURCE).iter().map(AsRef::as_ref);
    all.filter(move |object: &&Object| object.str_at("/spec/cluster") == Some(cluster))
}

impl<'a, K: Kind> Asked<'a, K> {
    /// Read it; `None` for one of another version of this kind.
    pub fn read(object: &'a Object) -> Option<Self> {
        let part = |field: &str| object.body.get(field).cloned().unwrap_or(Value::Null);
        let status: Option<K::Status> = serde_json::from_value(part("status")).ok()?;
        Some(Self {
            object,
            spec: serde_json::from_value(part("spec")).ok()?,
            status: status.unwrap_or_default(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.object.meta.name
    }

    /// Its uid: another one of the same name is another one.
    pub fn uid(&self) -> &Uid {
        &self.object.meta.uid
    }

    /// Its name for members when it is taken up now: another one each time, so that no answer
    /// and nothing that was left at an earlier time is taken for one of this.
    pub fn new_id(facts: &Facts<'_>) -> String {
        let nonce = facts.snapshot.nonce.as_str().to_ascii_lowercase();
        let digits: String =
            nonce.chars().filter(char::is_ascii_alphanumeric).take(DIGITS).collect();
        format!("{}-{digits}", facts.now().strftime("%Y%m%d-%H%M%S"))
    }
}
