//! How far a server has counted its repairs: where one is looked for whose own
//! number could not be noted.

use super::Notes;
use serde::{Deserialize, Serialize};

/// How far a server has counted its repairs: it begins anew with each launch, and
/// forgets how early ones have ended.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Numbered {
    /// Tag of the launch.
    pub tag: String,
    /// The last number that we know of.
    pub last: i64,
}

impl Notes {
    /// The server has given this number to a repair, whoever asked for it.
    pub fn count_to(&mut self, number: i64) {
        let tag = self.open().and_then(|note| note.tag.clone());
        let last = self.last_number().max(number);
        self.numbered = tag.map(|tag| Numbered { tag, last }).or(self.numbered.take());
    }

    /// The server of this launch has given this number to a repair that is no job's: it is
    /// looked for until it is over.
    pub fn count_before(&mut self, tag: &str, number: i64) {
        let last = self.last_of(Some(tag)).max(number - 1);
        self.numbered = Some(Numbered { tag: tag.into(), last });
    }

    /// The last number that the server of this launch is known to have given.
    pub fn last_of(&self, tag: Option<&str>) -> i64 {
        let known = self.numbered.as_ref().filter(|n| Some(n.tag.as_str()) == tag);
        known.map_or(0, |n| n.last)
    }

    /// The last number that the server of the job under way is known to have given.
    pub fn last_number(&self) -> i64 {
        let tag = self.open().and_then(|note| note.tag.as_deref());
        self.last_of(tag)
    }
}
