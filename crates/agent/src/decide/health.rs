//! What looks at the server add up to: the history of its health. A result counts
//! once three looks in a row agree, so a look that comes late, or a server that
//! flaps, is neither told nor written; and what goes on is written once.

use super::Process;
use crate::admin::Reading;
use crate::volume::seconds;
use crate::words::server::Health;
use jiff::Timestamp;
use palladion_api::member::{
    HealthRecord, HealthResult, LONGEST_MESSAGE, LONGEST_MODE, MOST_HEALTH_RECORDS, ServerState,
};

/// Looks in a row that must agree.
const LOOKS: u32 = 3;

/// The history of a server's health, and the looks that do not count yet.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Newest first.
    records: Vec<HealthRecord>,
    /// Is what an earlier agent reported among them?
    earlier: Earlier,
    /// The look that was taken since the last decision.
    looked: Option<Seen>,
    /// Looks that agree, and are too few.
    candidate: Option<Candidate>,
}

/// What an earlier agent of this member reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Earlier {
    #[default]
    NotRead,
    Read,
}

#[derive(Clone, Debug)]
struct Candidate {
    seen: Seen,
    since: Timestamp,
    looks: u32,
}

/// What one look showed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    result: HealthResult,
    mode: Option<String>,
    native_transport: Option<bool>,
    gossip: Option<bool>,
}

impl Watch {
    /// The records, newest first.
    pub fn records(&self) -> &[HealthRecord] {
        &self.records
    }

    /// Was what an earlier agent reported read?
    pub fn has_taken_over(&self) -> bool {
        self.earlier == Earlier::Read
    }

    /// Does no answer of the server wait to count? For silence nobody hurries: a
    /// collection of the JVM is none.
    pub fn is_settled(&self) -> bool {
        let result = self.candidate.as_ref().map(|c| c.seen.result);
        result.is_none_or(|result| result == HealthResult::NoAnswer)
    }

    /// Do all looks so far count?
    pub fn is_complete(&self) -> bool {
        self.candidate.is_none()
    }

    /// Go on from what an earlier agent reported. Its last result is over: nobody
    /// has looked in between.
    pub fn take_over(&mut self, earlier: &[HealthRecord], now: Timestamp) {
        if self.earlier == Earlier::Read {
            return;
        }
        self.earlier = Earlier::Read;
        // A result that this agent does not know cannot be written again.
        for record in earlier.iter().filter(|r| r.result != HealthResult::Unknown) {
            let mut record = record.clone();
            if record.until.is_none() {
                record.until = Some(seconds(now));
                let words = match record.message.take() {
                    None => Health::NotWatched,
                    Some(said) => Health::SaidNotWatched { said },
                };
                record.message = Some(cut(&words.to_string(), LONGEST_MESSAGE));
            }
            self.records.push(record);
        }
        self.records.truncate(MOST_HEALTH_RECORDS);
    }

    /// A look was taken; `None` is a server that did not answer.
    pub fn look(&mut self, reading: Option<&Reading>) {
        self.looked = Some(Seen::of(reading));
    }

    /// Count what was seen, in the state that was decided. Only of a server that
    /// has been a full member is anything expected: what starts or stops is told
    /// by its state.
    pub fn follow(&mut self, state: ServerState, process: &Process, now: Timestamp) {
        let looked = self.looked.take();
        match (process, state) {
            (Process::Unknown(_), _) => {}
            (Process::Running, ServerState::Running) => {
                if let Some(seen) = looked {
                    self.count(seen, now);
                }
            }
            (Process::Running, ServerState::Stopping | ServerState::Decommissioned) => {
                self.candidate = None;
            }
            (
                Process::Running,
                ServerState::Waiting
                | ServerState::Starting
                | ServerState::Stopped
                | ServerState::Failed
                | ServerState::Unknown,
            )
            | (Process::Absent, _) => self.end(now),
        }
    }

    /// The server that was watched runs no more; that needs no second look.
    fn end(&mut self, now: Timestamp) {
        self.candidate = None;
        if self.open().is_some_and(|open| open.result != HealthResult::NoAnswer) {
            let seen = Seen::of(None);
            self.push(&seen, now, Health::NoServer);
        }
    }

    fn count(&mut self, seen: Seen, now: Timestamp) {
        let same = self.open().filter(|open| open.result == seen.result);
        if let Some(open) = same {
            // Mode and native transport are told with the state of the server, at
            // once; here they go along.
            let goes_along = (&open.mode, open.native_transport);
            if goes_along != (&seen.mode, seen.native_transport) {
                return self.describe(&seen);
            }
            if open.gossip == seen.gossip {
                self.candidate = None;
                return;
            }
        }
        let (since, before) = match self.candidate.take() {
            Some(known) if known.seen.agrees_with(&seen) => (known.since, known.looks),
            Some(_) | None => (now, 0),
        };
        let looks = before + 1;
        if looks < LOOKS {
            self.candidate = Some(Candidate { seen, since, looks });
        } else if self.open().is_some_and(|open| open.result == seen.result) {
            self.describe(&seen);
        } else {
            self.push(&seen, since, Health::Silent);
        }
    }

    fn open(&self) -> Option<&HealthRecord> {
        self.records.first().filter(|record| record.until.is_none())
    }

    /// The same result, seen otherwise.
    fn describe(&mut self, seen: &Seen) {
        self.candidate = None;
        if let Some(open) = self.records.first_mut() {
            *open = seen.record(open.since.0, Health::Silent);
        }
    }

    fn push(&mut self, seen: &Seen, since: Timestamp, silence: Health) {
        if let Some(last) = self.records.first_mut().filter(|last| last.until.is_none()) {
            last.until = Some(seconds(since));
        }
        self.records.insert(0, seen.record(since, silence));
        self.records.truncate(MOST_HEALTH_RECORDS);
    }
}

/// As much as the schema takes: with more of it the whole status would be refused.
fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

impl Seen {
    /// One that answers now and then, and is never healthy, is not healthy.
    fn agrees_with(&self, other: &Self) -> bool {
        let is_ill = |seen: &Self| seen.result != HealthResult::Healthy;
        self == other || is_ill(self) && is_ill(other)
    }

    fn of(reading: Option<&Reading>) -> Self {
        let Some(reading) = reading else {
            let result = HealthResult::NoAnswer;
            return Self { result, mode: None, native_transport: None, gossip: None };
        };
        // A server that does not say whether it gossips is not said not to.
        let is_healthy = reading.serves() && reading.gossip != Some(false);
        Self {
            result: if is_healthy { HealthResult::Healthy } else { HealthResult::Unhealthy },
            mode: reading.reported_mode().map(|mode| cut(&mode, LONGEST_MODE)),
            native_transport: reading.native_transport,
            gossip: reading.gossip,
        }
    }

    fn record(&self, since: Timestamp, silence: Health) -> HealthRecord {
        HealthRecord {
            result: self.result,
            since: seconds(since),
            until: None,
            mode: self.mode.clone(),
            native_transport: self.native_transport,
            gossip: self.gossip,
            message: self.why(silence).map(|why| cut(&why.to_string(), LONGEST_MESSAGE)),
        }
    }

    fn why(&self, silence: Health) -> Option<Health> {
        match self.result {
            HealthResult::Healthy | HealthResult::Unknown => None,
            HealthResult::NoAnswer => Some(silence),
            HealthResult::Unhealthy => Some(match &self.mode {
                Some(mode) if mode != crate::admin::NORMAL => Health::Mode { mode: mode.clone() },
                None => Health::NoMode,
                Some(_) if self.gossip == Some(false) => Health::GossipDown,
                Some(_) => Health::NativeTransportDown,
            }),
        }
    }
}
