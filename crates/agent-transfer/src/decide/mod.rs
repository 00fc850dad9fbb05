//! What is done about the transfer that the operator orders: pure. Unlike an
//! operation it resumes under its ID, whatever dies meanwhile; what must not be
//! forgotten is noted before the child begins.
//!
//! An order names the member it is for by host ID and volume ID, and carries the
//! epoch of the leader that gave it: a leader that was superseded orders nothing.

#[cfg(test)]
mod tests;

use crate::tell::{Done, Line};
use crate::words::refusal::Refusal;
use crate::words::stopped::Cause;
use palladion_backup::names::HostId;
use serde::{Deserialize, Serialize};

/// The first wait after a try that failed, in seconds; each is twice the one before.
const FIRST_WAIT: i64 = 5;
/// And never longer.
const LONGEST_WAIT: i64 = 300;

/// What of an order is decided on. What is to be done stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The transfer.
    pub id: String,
    /// Of the leader that gave it.
    pub epoch: u64,
    /// Whose.
    pub host: HostId,
    /// On which volume.
    pub volume: String,
}

/// What is noted on the volume, beside the journal of the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The transfer.
    pub id: String,
    /// The highest epoch that has ordered it, or one before it.
    pub epoch: u64,
    /// Tries that have failed one after the other.
    pub failures: u32,
    /// When the last of them did, in seconds since 1970.
    pub failed_at: Option<i64>,
    /// How it ended.
    pub ended: Option<Ended>,
}

/// How a transfer ended, for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ended {
    /// It is done.
    Done(Done),
    /// It never will be.
    Failed {
        /// By what the operator sorts it.
        cause: Cause,
        /// For people.
        message: String,
    },
}

/// The record, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// There is none: nothing was ever ordered on this volume.
    Nothing,
    /// What it says.
    Record(Box<Record>),
    /// It cannot be read.
    Unread,
}

/// The child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Child {
    /// There is none.
    Absent,
    /// It runs for this transfer.
    Runs {
        /// The transfer.
        id: String,
    },
    /// It has ended; its last line, if it said how.
    Ended {
        /// The transfer.
        id: String,
        /// What it said last.
        last: Option<Line>,
    },
}

/// What is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What is ordered.
    pub order: Option<Order>,
    /// What is noted.
    pub noted: Noted,
    /// Does it run?
    pub child: Child,
    /// Who this member is; none before it has joined.
    pub host: Option<HostId>,
    /// The volume.
    pub volume: String,
    /// In seconds since 1970.
    pub now: i64,
}

/// What is to be done next; then the facts are looked at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Rest,
    /// Say in the status why not; nothing is begun.
    Refuse(Refusal),
    /// End the child.
    End,
    /// Bring this to the disk, and forget a child that has ended.
    Note(Box<Record>),
    /// Begin, or go on.
    Start,
    /// Nothing until then.
    Wait {
        /// In seconds since 1970.
        until: i64,
    },
    /// Say in the status how it ended.
    Answer(Box<Ended>),
}

/// What is to be done.
pub fn next(facts: &Facts) -> Next {
    let Some(order) = &facts.order else {
        return match facts.child {
            Child::Runs { .. } => Next::End,
            Child::Absent | Child::Ended { .. } => Next::Rest,
        };
    };
    let before = match &facts.noted {
        Noted::Nothing => None,
        Noted::Record(record) => Some(&**record),
        Noted::Unread => return refused(facts, Refusal::RecordUnread),
    };
    // What a leader of today has ordered goes on, whatever one of yesterday writes.
    if let Some(Record { epoch: newest, .. }) = before.filter(|r| r.epoch > order.epoch) {
        return Next::Refuse(Refusal::OlderEpoch { epoch: order.epoch, newest: *newest });
    }
    if facts.host.as_ref() != Some(&order.host) {
        return refused(facts, Refusal::OtherMember { host: order.host.to_string() });
    }
    if facts.volume != order.volume {
        return refused(facts, Refusal::OtherVolume { volume: order.volume.clone() });
    }
    match &facts.child {
        Child::Runs { id } if *id != order.id => return Next::End,
        Child::Runs { .. } | Child::Absent | Child::Ended { .. } => {}
    }
    let Some(record) = before.filter(|r| r.id == order.id && r.epoch == order.epoch) else {
        return Next::Note(Box::new(begun(order, before)));
    };
    if let Some(ended) = &record.ended {
        return Next::Answer(Box::new(ended.clone()));
    }
    match &facts.child {
        Child::Runs { .. } => Next::Rest,
        Child::Ended { id, last } if *id == order.id => {
            Next::Note(Box::new(after(record, last.as_ref(), facts.now)))
        }
        Child::Absent | Child::Ended { .. } => start(record, facts.now),
    }
}

/// Nothing runs for an order that is refused.
fn refused(facts: &Facts, why: Refusal) -> Next {
    match facts.child {
        Child::Runs { .. } => Next::End,
        Child::Absent | Child::Ended { .. } => Next::Refuse(why),
    }
}

/// The record of an order: the same transfer under a newer leader keeps what it has.
fn begun(order: &Order, before: Option<&Record>) -> Record {
    let same = before.filter(|record| record.id == order.id).cloned();
    let new = || Record {
        id: order.id.clone(),
        epoch: order.epoch,
        failures: 0,
        failed_at: None,
        ended: None,
    };
    Record { epoch: order.epoch, ..same.unwrap_or_else(new) }
}

/// The record after a try.
fn after(record: &Record, last: Option<&Line>, now: i64) -> Record {
    let ended = match last {
        Some(Line::Done(done)) => Some(Ended::Done(done.clone())),
        Some(Line::Stopped { cause, message }) if is_final(*cause) => {
            Some(Ended::Failed { cause: *cause, message: message.clone() })
        }
        Some(Line::Stopped { .. } | Line::Progress(_)) | None => None,
    };
    let failures = record.failures.saturating_add(u32::from(ended.is_none()));
    Record { failures, failed_at: Some(now), ended, ..record.clone() }
}

/// Is it the same at every try, or can it come right by itself?
fn is_final(cause: Cause) -> bool {
    match cause {
        // A Secret that is filled, a store that is back, an operator of the agent's version.
        Cause::StoreUnreachable | Cause::EncryptionKeyMissing | Cause::Refused => false,
        Cause::StoreUnsuited
        | Cause::RepositoryForeign
        | Cause::RepositoryDamaged
        // The snapshot itself is what holds the space.
        | Cause::NotEnoughSpace
        | Cause::BackupFailed => true,
    }
}

fn start(record: &Record, now: i64) -> Next {
    let Some(failed_at) = record.failed_at.filter(|_| record.failures > 0) else {
        return Next::Start;
    };
    let wait = FIRST_WAIT.saturating_mul(1 << (record.failures - 1).min(16)).min(LONGEST_WAIT);
    // A clock that was set back makes nobody wait for years.
    let until = failed_at.min(now) + wait;
    if now >= until { Next::Start } else { Next::Wait { until } }
}
