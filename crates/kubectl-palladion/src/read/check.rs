//! Checks of a ring, as the operator reports them.

use super::{items, text};
use serde::Serialize;
use serde_json::Value;

/// What a check that is as it should be comes to.
const PASS: &str = "Pass";

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its name, which is a documented reason.
    pub name: String,
    /// `Pass`, `Fail` or `Unknown`.
    pub result: String,
    /// For people.
    pub message: String,
}

impl Check {
    /// Is it as it should be?
    pub fn passes(&self) -> bool {
        self.result == PASS
    }
}

/// All checks of a ring; an older operator reports none.
pub fn checks(object: &Value) -> Vec<Check> {
    let read = |check: &Value| Check {
        name: text(check, "/name"),
        result: text(check, "/result"),
        message: text(check, "/message"),
    };
    items(object, "/status/health/checks").map(read).collect()
}
