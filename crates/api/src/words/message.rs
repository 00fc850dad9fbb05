//! A sentence on its way to people: printed late, so that a test may still
//! match what is meant.

use super::Sentence;
use serde::{Serialize, Serializer};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A sentence of any enum, or what another program said. A string of ours does
/// not become one: it belongs into a file of `words/`.
///
/// ```compile_fail,E0277
/// # use palladion_api::words::Message;
/// let message: Message = "the ring is fine".into();
/// ```
/// ```compile_fail,E0277
/// # use palladion_api::words::Message;
/// let message = Message::from(format!("member {} is fine", "a-0"));
/// ```
#[derive(Clone)]
pub struct Message(Content);

#[derive(Clone)]
enum Content {
    Sentence(Arc<dyn Sentence>),
    Text(Arc<str>),
}

impl Message {
    /// What another program said, or what was said before and comes back from an
    /// object or a ledger. The one way for text that is not a sentence of ours.
    pub fn quoted(text: impl AsRef<str>) -> Self {
        Self(Content::Text(text.as_ref().into()))
    }

    /// The sentence, if it is one of this enum.
    pub fn get<S: Sentence>(&self) -> Option<&S> {
        match &self.0 {
            Content::Sentence(sentence) => {
                let any: &dyn Any = sentence.as_ref();
                any.downcast_ref()
            }
            Content::Text(_) => None,
        }
    }
}

impl<S: Sentence> From<S> for Message {
    fn from(sentence: S) -> Self {
        Self(Content::Sentence(Arc::new(sentence)))
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Self {
        message.clone()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Content::Sentence(sentence) => sentence.fmt(f),
            Content::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// Two messages are equal if they read the same.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Message {}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
