//! What is done about the transfer that the operator orders: pure. Unlike an
//! operation it resumes under its ID, whatever dies meanwhile; what must not be
//! forgotten is noted before the child begins.
//!
//! An order names the member it is for by host ID and volume ID, and carries the
//! epoch of the leader that gave it: a leader that was superseded orders nothing.

mod order;
mod record;
mod report;
#[cfg(test)]
mod tests;

pub use order::{Backups, Order, Repository, Snapshots};
pub use record::{Ended, Kept, Record, Views, Why};
pub use report::{status, unwritten};

use crate::tell::Line;
use crate::words::refusal::Refusal;
use palladion_api::backup::NEVER_STARTED;
use palladion_api::ids::{HostId, VolumeId};

/// The first wait after a try that failed, in seconds; each is twice the one before.
const FIRST_WAIT: i64 = 5;
/// And never longer.
const LONGEST_WAIT: i64 = 300;

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
    pub volume: VolumeId,
    /// Whose backups are taken of it.
    pub repository: Repository,
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
    if let Some(why) = unfit(facts, order) {
        return refused(facts, why);
    }
    match &facts.child {
        Child::Runs { id } if *id != order.id => return Next::End,
        Child::Runs { .. } | Child::Absent | Child::Ended { .. } => {}
    }
    let Some(record) = before.filter(|r| r.id == order.id && r.epoch == order.epoch) else {
        return Next::Note(Box::new(Record::of(order, before)));
    };
    if let Some(ended) = &record.ended {
        return Next::Answer(Box::new(ended.clone()));
    }
    match &facts.child {
        Child::Runs { .. } => Next::Rest,
        Child::Ended { id, last } if *id == order.id => {
            Next::Note(Box::new(record.after(last.as_ref(), facts.now)))
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

/// What keeps an order from being for us, or from being done here.
fn unfit(facts: &Facts, order: &Order) -> Option<Refusal> {
    let is_this = match &facts.host {
        Some(host) => *host == order.host,
        None => order.host.as_str() == NEVER_STARTED,
    };
    if !is_this {
        return Some(Refusal::OtherMember { host: order.host.clone() });
    }
    if facts.volume != order.volume {
        return Some(Refusal::OtherVolume { volume: order.volume.clone() });
    }
    if order.backups == Backups::OfAny {
        return order.unfit.clone();
    }
    match &facts.repository {
        Repository::Unread => Some(Refusal::RepositoryUnread),
        Repository::Noted(noted) if *noted != order.repository => {
            let (ordered, noted) = (order.repository.clone(), noted.clone());
            Some(Refusal::OtherRepository { ordered, noted })
        }
        Repository::Noted(_) | Repository::None => order.unfit.clone(),
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
