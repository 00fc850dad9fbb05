//! A sentence on its way to people: printed late, so that a test may still
//! match what is meant.

use super::Sentence;
use serde::{Serialize, Serializer};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A sentence of any enum, or ready-made text from outside.
#[derive(Clone)]
pub struct Message(Content);

#[derive(Clone)]
enum Content {
    Sentence(Arc<dyn Sentence>),
    Text(Arc<str>),
}

impl Message {
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

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self(Content::Text(text.into()))
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self(Content::Text(text.into()))
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Self {
        message.clone()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.as_str().into()
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
