//! A system that knows its servers by a word.

use super::ledger::Own;
use serde::{Deserialize, Serialize};

/// What it notes.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Named {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Own for Named {
    type Id = String;

    fn name(&mut self, id: String) {
        self.name = Some(id);
    }
}
