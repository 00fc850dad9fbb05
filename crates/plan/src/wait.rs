//! What is waited for: the reason, the object, the sentence, and when to look
//! again.

use crate::object::{ObjectKey, Resource};
use jiff::Timestamp;
use palladion_api::reasons::Reason;
use palladion_api::waits::{self, WaitObject};
use palladion_api::words::Message;
use serde::Serialize;
use serde_json::{Value, json};

/// The object that a wait or a trouble is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

impl Subject {
    /// An object in the owner's namespace, or one without a namespace.
    pub fn new(resource: Resource, name: impl ToString) -> Self {
        Self { kind: resource.kind, name: name.to_string() }
    }
}

impl From<&ObjectKey> for Subject {
    fn from(key: &ObjectKey) -> Self {
        Self::new(key.resource, &key.name)
    }
}

/// Something that is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// A documented reason.
    pub reason: Reason,
    /// The object that it is about.
    pub object: Option<Subject>,
    /// What is waited for.
    pub message: Message,
    /// When to look again at the latest, if nothing changes before.
    pub until: Option<Timestamp>,
}

impl Wait {
    /// Wait for what a sentence says.
    pub fn new(reason: Reason, message: impl Into<Message>) -> Self {
        Self { reason, object: None, message: message.into(), until: None }
    }

    /// It is about this object.
    pub fn about(&mut self, subject: Subject) -> &mut Self {
        self.object = Some(subject);
        self
    }

    /// Look again at this time, even if nothing changes before.
    pub fn until(&mut self, time: Timestamp) -> &mut Self {
        self.until = Some(time);
        self
    }
}

/// The waits as a status shows them: `null` where there are none, so that the
/// field is absent.
pub fn in_status(stored: &[waits::Wait], waits: &[Wait], now: Timestamp) -> Value {
    let object = |s: &Subject| WaitObject { kind: s.kind.to_string(), name: s.name.clone() };
    let shown =
        waits.iter().map(|w| (w.reason, w.object.as_ref().map(object), w.message.to_string()));
    match waits::carried_on(stored, shown, now) {
        none if none.is_empty() => Value::Null,
        some => json!(some),
    }
}
