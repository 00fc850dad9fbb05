//! A word of an object that this build does not know, kept and written back as it is.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A word that this build does not know, kept as it stands in the object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(&'static str);

/// Every word that was read, once. The schema of the API server lists what may
/// be written, so they are few.
static READ: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Word {
    /// This word.
    pub fn new(text: &str) -> Self {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(text) {
            return Self(known);
        }
        let word: &'static str = Box::leak(text.to_string().into_boxed_str());
        read.insert(word);
        Self(word)
    }

    /// As it stands in the object.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}
