//! From a history and what was read: what is wrong. No I/O.
//!
//! | Acknowledged at | must be returned at QUORUM | at ALL | be held by |
//! |---|---|---|---|
//! | ONE | – | yes, unless told that it may be lost | – |
//! | QUORUM | yes, through every coordinator | yes | a quorum of its replicas |
//! | ALL | yes, through every coordinator | yes | each of its replicas |
//!
//! "It" is the acknowledged state or any later one: a later write of unknown
//! outcome may have taken its place.

mod line;
mod observed;
pub mod register;
mod table;
mod verdict;

use std::collections::BTreeMap;

pub use line::row_state;
pub use observed::{Found, Member, Observed, Table};
pub use verdict::{Kind, Share, Verdict};

use crate::history::{Action, History, Operation, Outcome};
use line::Line;
use register::{Event, Fault, What};

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

/// Judge.
pub fn judge(history: &History, reading: &Reading, claims: Claims) -> Judgement {
    let first = history.runs.first();
    let (seed, begin) = (first.map_or(0, |run| run.seed), first.map_or(0, |run| run.at));
    let rows: BTreeMap<i64, Line> = history
        .rows()
        .into_iter()
        .map(|(key, operations)| (key, Line::of_row(seed, &operations)))
        .collect();
    let mut judgement = Judgement::default();
    let registers = register_lines(history, &reading.serial, &mut judgement.verdicts);
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

/// The lines of the registers that are linearizable; verdicts on the others.
fn register_lines(
    history: &History,
    serial: &Found,
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
                lines.insert(key, Line::of_register(&chain));
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
