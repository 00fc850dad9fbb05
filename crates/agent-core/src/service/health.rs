//! What looks at the server add up to: the history of its health. A result counts once
//! three looks in a row agree, so that a look that comes late, or a short election, is
//! neither told nor written; and what goes on is written once.

use crate::facts::Process;
use crate::volume::seconds;
use crate::words::health::Health;
use jiff::Timestamp;
use palladion_api::service_member::{
    MemberHealth as Result, MemberHealthRecord as Record, MemberServerState as State,
};
use palladion_api::words::Message;

/// Looks in a row that must agree.
const LOOKS: u32 = 3;
/// As many records as the schema of the status takes.
const MOST: usize = 5;
/// Characters of a message at the most, as the schema has it.
const LONGEST: usize = 1024;

/// What one look showed.
pub trait Look: Copy {
    /// The result that it speaks for.
    fn result(self) -> Result;

    /// Why, for people, where the result is not the good one.
    fn why(self) -> Option<Message>;
}

/// The history of a server's health, and the looks that do not count yet.
#[derive(Clone, Debug)]
pub struct Watch<L> {
    /// Newest first.
    records: Vec<Record>,
    /// Was what an earlier agent reported read?
    earlier: Earlier,
    /// The look that was taken since the last decision.
    looked: Option<L>,
    /// Looks that agree, and are too few.
    candidate: Option<Candidate<L>>,
}

/// What an earlier agent of this member reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Earlier {
    #[default]
    NotRead,
    Read,
}

#[derive(Clone, Debug)]
struct Candidate<L> {
    seen: L,
    since: Timestamp,
    looks: u32,
}

impl<L> Default for Watch<L> {
    fn default() -> Self {
        Self { records: Vec::new(), earlier: Earlier::NotRead, looked: None, candidate: None }
    }
}

impl<L: Look> Watch<L> {
    /// The records, newest first.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Was what an earlier agent reported read?
    pub fn has_taken_over(&self) -> bool {
        self.earlier == Earlier::Read
    }

    /// Do all looks so far count?
    pub fn is_settled(&self) -> bool {
        self.candidate.is_none()
    }

    /// Go on from what an earlier agent reported. Its last result is over: nobody
    /// has looked in between.
    pub fn take_over(&mut self, earlier: &[Record], now: Timestamp) {
        if self.has_taken_over() {
            return;
        }
        self.earlier = Earlier::Read;
        // A result that this agent does not know cannot be written again.
        for record in earlier.iter().filter(|r| r.result != Result::Unknown) {
            let mut record = record.clone();
            if record.until.is_none() {
                record.until = Some(seconds(now));
                let words = match record.message.take() {
                    None => Health::NotWatched,
                    Some(said) => Health::SaidNotWatched { said },
                };
                record.message = Some(words.to_string().chars().take(LONGEST).collect());
            }
            self.records.push(record);
        }
        self.records.truncate(MOST);
    }

    /// A look was taken.
    pub fn saw(&mut self, seen: L) {
        self.looked = Some(seen);
    }

    /// Count what was seen, in the state that was decided. Only of a server that has
    /// served as a member is anything expected: what starts or stops is told by its state.
    pub fn follow(&mut self, state: State, process: &Process, now: Timestamp) {
        let looked = self.looked.take();
        match (process, state) {
            (Process::Unknown(_), _) => {}
            (Process::Running, State::Running) => {
                if let Some(seen) = looked {
                    self.count(seen, now);
                }
            }
            (Process::Running, State::Stopping | State::Left) => self.candidate = None,
            (
                Process::Running,
                State::Waiting | State::Starting | State::Stopped | State::Failed | State::Unknown,
            )
            | (Process::Absent, _) => self.end(now),
        }
    }

    /// The server that was watched runs no more; that needs no second look.
    fn end(&mut self, now: Timestamp) {
        self.candidate = None;
        if self.open().is_some_and(|open| open.result != Result::NoAnswer) {
            self.push(Result::NoAnswer, now, Some(Health::NoServer.into()));
        }
    }

    fn count(&mut self, seen: L, now: Timestamp) {
        if self.open().is_some_and(|open| open.result == seen.result()) {
            self.candidate = None;
            return;
        }
        // One that answers now and then, and is never healthy, is not healthy.
        let is_healthy = |look: L| look.result() == Result::Healthy;
        let agrees = |other: L| is_healthy(other) == is_healthy(seen);
        let (since, before) = match self.candidate.take() {
            Some(known) if agrees(known.seen) => (known.since, known.looks),
            Some(_) | None => (now, 0),
        };
        let looks = before + 1;
        if looks < LOOKS {
            self.candidate = Some(Candidate { seen, since, looks });
        } else {
            self.push(seen.result(), since, seen.why());
        }
    }

    fn open(&self) -> Option<&Record> {
        self.records.first().filter(|record| record.until.is_none())
    }

    fn push(&mut self, result: Result, since: Timestamp, why: Option<Message>) {
        if let Some(last) = self.records.first_mut().filter(|last| last.until.is_none()) {
            last.until = Some(seconds(since));
        }
        let message = why.map(|why| why.to_string());
        let since = seconds(since);
        self.records.insert(0, Record { result, since, until: None, message });
        self.records.truncate(MOST);
    }
}
