//! What was attempted and what was answered, in the order in which it happened.
//!
//! An attempt is noted before it is sent: one whose answer never came, because
//! it timed out or because the checker itself was killed, is unknown for ever.

mod file;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use file::{Recorder, read};

use crate::level::Level;

/// A number of microseconds since 1970, never the same twice in a history.
pub type Micros = i64;

/// One line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Record {
    /// A run of `load` begins.
    Run(Run),
    /// Something is about to be sent.
    Attempt(Attempt),
    /// An attempt is over.
    Outcome(Ending),
}

/// What a whole run has in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// When it began.
    pub at: Micros,
    /// What values and choices follow from; the same for all runs of a history.
    pub seed: u64,
    /// Where the tables are.
    pub keyspace: String,
}

/// Something that was sent, or was about to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Counts through the history.
    pub id: u64,
    /// When it was about to be sent; the time stamp of a write.
    pub at: Micros,
    /// Of the row or register.
    pub key: i64,
    /// What it was.
    pub action: Action,
    /// At which level; that of the commit for a compare-and-set.
    pub level: Level,
}

/// What was attempted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Give a row its next version.
    Put {
        /// Counts the puts and deletes of the row, from 1.
        version: u64,
    },
    /// Delete a row.
    Delete {
        /// As of `Put`.
        version: u64,
    },
    /// Give a register another value if it has this one.
    Swap {
        /// The value that is asked for; `None` where there is no row yet.
        from: Option<String>,
        /// The new one, which no other attempt has.
        to: String,
    },
    /// Read a register at SERIAL.
    Read,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Of the attempt.
    pub id: u64,
    /// When the answer came.
    pub at: Micros,
    /// The answer.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "result")]
pub enum Outcome {
    /// Done, at the level of the attempt.
    Acknowledged,
    /// The register had another value, which is nobody's failure, or this is what a read found.
    Found {
        /// The register's value.
        value: Option<String>,
    },
    /// Surely not done: no server has begun with it.
    Failed {
        /// The server's or driver's words.
        cause: String,
    },
    /// Done, or not, or yet to be done.
    Unknown {
        /// The server's or driver's words.
        cause: String,
    },
}

/// An attempt with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What was attempted.
    pub attempt: Attempt,
    /// What was answered.
    pub outcome: Outcome,
    /// When; `None` where no answer was noted.
    pub ended: Option<Micros>,
}

impl Operation {
    /// The level that it was acknowledged at, if it was.
    pub fn acknowledged(&self) -> Option<Level> {
        match self.outcome {
            Outcome::Acknowledged => Some(self.attempt.level),
            Outcome::Found { .. } | Outcome::Failed { .. } | Outcome::Unknown { .. } => None,
        }
    }
}

/// A whole history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Its runs.
    pub runs: Vec<Run>,
    /// Its attempts in the order in which they were sent.
    pub operations: Vec<Operation>,
}

impl History {
    /// Put together from the lines of a file.
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Self {
        let mut runs = Vec::new();
        let mut operations: BTreeMap<u64, Operation> = BTreeMap::new();
        for record in records {
            match record {
                Record::Run(run) => runs.push(run),
                Record::Attempt(attempt) => {
                    let outcome = Outcome::Unknown { cause: "no answer was noted".into() };
                    operations.insert(attempt.id, Operation { attempt, outcome, ended: None });
                }
                Record::Outcome(ending) => {
                    if let Some(operation) = operations.get_mut(&ending.id) {
                        operation.outcome = ending.outcome;
                        operation.ended = Some(ending.at);
                    }
                }
            }
        }
        Self { runs, operations: operations.into_values().collect() }
    }

    /// The next attempt's number.
    pub fn next_id(&self) -> u64 {
        self.operations.last().map_or(1, |last| last.attempt.id + 1)
    }

    /// The last moment that anything was noted of.
    pub fn last_moment(&self) -> Micros {
        let runs = self.runs.iter().map(|run| run.at);
        let operations = self.operations.iter().map(|o| o.ended.unwrap_or(0).max(o.attempt.at));
        runs.chain(operations).max().unwrap_or(0)
    }

    /// Puts and deletes by row, oldest first. A row has one writer, so their
    /// order is that of their time stamps.
    pub fn rows(&self) -> BTreeMap<i64, Vec<&Operation>> {
        self.by_key(|action| matches!(action, Action::Put { .. } | Action::Delete { .. }))
    }

    /// Compare-and-sets and reads by register.
    pub fn registers(&self) -> BTreeMap<i64, Vec<&Operation>> {
        self.by_key(|action| matches!(action, Action::Swap { .. } | Action::Read))
    }

    fn by_key(&self, wanted: impl Fn(&Action) -> bool) -> BTreeMap<i64, Vec<&Operation>> {
        let mut by_key: BTreeMap<i64, Vec<&Operation>> = BTreeMap::new();
        for operation in self.operations.iter().filter(|o| wanted(&o.attempt.action)) {
            by_key.entry(operation.attempt.key).or_default().push(operation);
        }
        by_key
    }
}
