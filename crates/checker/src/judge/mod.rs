//! From a history and what was read: what is wrong. No I/O.
//!
//! | Acknowledged at | must be returned at QUORUM | at ALL | be held by |
//! |---|---|---|---|
//! | ONE | – | yes, unless told that it may be lost | – |
//! | QUORUM | yes, through every coordinator | yes | a replica in each quorum [^1] |
//! | ALL | yes, through every coordinator | yes | each of its replicas |
//!
//! "It" is the acknowledged state or any later one: a later write of unknown
//! outcome may have taken its place.
//!
//! [^1]: Of three replicas these are two, of two it is one: where the replication factor
//! was lowered, a replica may be left that did not acknowledge.

mod line;
mod observed;
pub mod register;
mod table;
mod verdict;

use std::collections::BTreeMap;

pub use line::row_state;
pub use observed::{Found, Member, Observed, Table};
pub use verdict::{Kind, Share, Verdict};

use crate::history::{Action, History, Micros, Operation, Outcome};
use line::Line;
use register::{Event, Fault, What};

/// Deletions of unknown outcome are few. With more the writes timed out throughout.
const UNKNOWN_PERCENT: usize = 20;

/// What is held against a ring.
#[derive(Clone, Copy, Debug)]
pub struct Claims {
    /// What was acknowledged at ONE.
    pub at_one: AtOne,
    /// How much of what it should hold each replica must hold, in percent:
    /// hints are lost where the coordinator that keeps them is killed.
    pub replica_percent: u8,
    /// How many keys each replica may lack whatever the percentage: those of the writes that were
    /// under way when all coordinators ended at once, and their hints with them.
    pub in_flight: usize,
    /// What was attempted before this moment and acknowledged at ONE alone may be lost, with the
    /// volume of the one that had it; later attempts may not.
    pub lost_before: Option<Micros>,
}

/// Whether one replica's word is held against the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AtOne {
    /// What was acknowledged at ONE must be found at ALL.
    MustBeKept,
    /// A replica was lost with its volume, and with it what it alone had.
    MayBeLost,
}

/// All that was read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The rows.
    pub rows: Observed,
    /// The registers.
    pub registers: Observed,
    /// The registers at SERIAL, after all else.
    pub serial: Found,
}

/// All that follows.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// What is wrong, worst first.
    pub verdicts: Vec<Verdict>,
    /// How full each replica is.
    pub shares: Vec<Share>,
}

/// Of how many rows something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How many rows the history knows.
    pub rows: usize,
    /// Those of which any answer is right: nothing is known of them.
    pub unknown: usize,
}

impl Coverage {
    /// Of a history. What may have been lost with a volume is known all the same.
    pub fn of(history: &History) -> Self {
        let lines = row_lines(history, None);
        let unknown = lines.values().filter(|line| line.proves_nothing()).count();
        Self { rows: lines.len(), unknown }
    }

    /// Whether enough rows could be judged to say anything about the replicas: how
    /// full they are is counted in those alone.
    pub fn says_enough(self) -> bool {
        self.unknown * 100 <= self.rows * UNKNOWN_PERCENT
    }
}

/// Judge.
pub fn judge(history: &History, reading: &Reading, claims: Claims) -> Judgement {
    let first = history.runs.first();
    let begin = first.map_or(0, |run| run.at);
    let rows = row_lines(history, claims.lost_before);
    let mut judgement = Judgement::default();
    let registers =
        register_lines(history, &reading.serial, claims.lost_before, &mut judgement.verdicts);
    for (table, lines, observed) in
        [(Table::Rows, &rows, &reading.rows), (Table::Registers, &registers, &reading.registers)]
    {
        let judged = table::Judge { table, lines, observed, claims, begin }.judge();
        judgement.verdicts.extend(judged.verdicts);
        judgement.shares.extend(judged.shares);
    }
    judgement.verdicts.sort_by_key(|verdict| (verdict.kind, verdict.table, verdict.key));
    judgement
}

fn row_lines(history: &History, lost_before: Option<Micros>) -> BTreeMap<i64, Line> {
    let seed = history.runs.first().map_or(0, |run| run.seed);
    let line = |operations: &[&Operation]| Line::of_row(seed, operations, lost_before);
    history.rows().into_iter().map(|(key, operations)| (key, line(&operations))).collect()
}

/// The lines of the registers that are linearizable; verdicts on the others.
fn register_lines(
    history: &History,
    serial: &Found,
    lost_before: Option<Micros>,
    verdicts: &mut Vec<Verdict>,
) -> BTreeMap<i64, Line> {
    let mut lines = BTreeMap::new();
    for (key, operations) in history.registers() {
        // What was surely not done says nothing, and neither does a read without an answer.
        let said: Vec<(Event, &Operation)> =
            operations.iter().filter_map(|o| Some((event(o)?, *o))).collect();
        let events: Vec<Event> = said.iter().map(|(event, _)| event.clone()).collect();
        let last = serial.get(&key).map(String::as_str);
        match register::chain(&events, last) {
            Ok(chain) => {
                let chain: Vec<&Operation> = chain.into_iter().map(|index| said[index].1).collect();
                lines.insert(key, Line::of_register(&chain, lost_before));
            }
            Err(fault) => {
                let (kind, what) = told(&fault, &said);
                let last = last.unwrap_or("nothing");
                verdicts.push(Verdict {
                    kind,
                    table: Table::Registers,
                    key: Some(key),
                    member: None,
                    message: format!("register {key}, whose value at SERIAL is {last}: {what}"),
                });
            }
        }
    }
    lines
}

fn event(operation: &Operation) -> Option<Event> {
    let what = match (&operation.attempt.action, &operation.outcome) {
        (Action::Swap { from, to }, Outcome::Acknowledged) => {
            What::Swapped { from: from.clone(), to: to.clone() }
        }
        (Action::Swap { from, to }, Outcome::Unknown { .. }) => {
            What::MaybeSwapped { from: from.clone(), to: to.clone() }
        }
        (Action::Swap { .. } | Action::Read, Outcome::Found { value }) => What::Seen(value.clone()),
        (Action::Swap { .. }, Outcome::Failed { .. })
        | (
            Action::Read,
            Outcome::Acknowledged | Outcome::Failed { .. } | Outcome::Unknown { .. },
        )
        | (Action::Put { .. } | Action::Delete { .. }, _) => return None,
    };
    let ended = match what {
        What::MaybeSwapped { .. } => None,
        What::Swapped { .. } | What::Seen(_) => operation.ended,
    };
    Some(Event { begun: operation.attempt.at, ended, what })
}

fn told(fault: &Fault, said: &[(Event, &Operation)]) -> (Kind, String) {
    let attempt = |index: &usize| format!("attempt {}", said[*index].1.attempt.id);
    match fault {
        Fault::NobodyWrote(value) => {
            (Kind::WrongValue, format!("{value} was never written, or its attempt was refused"))
        }
        Fault::Lost(index) => {
            let level = said[*index].1.attempt.level;
            let what = match &said[*index].0.what {
                What::Swapped { to, .. } | What::MaybeSwapped { to, .. } => to.as_str(),
                What::Seen(_) => "a value",
            };
            let message = format!(
                "{what} was acknowledged at {level} ({}), and no later value stands on it",
                attempt(index)
            );
            (Kind::Lost, message)
        }
        Fault::SeenAside(index) => (
            Kind::NotLinearizable,
            format!("{} saw a value that no later value stands on", attempt(index)),
        ),
        Fault::OutOfTime(index) => (
            Kind::NotLinearizable,
            format!(
                "by the order of the values {} happened outside of its own time",
                attempt(index)
            ),
        ),
    }
}

#[cfg(test)]
mod tests;
