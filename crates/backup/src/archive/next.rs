//! What a look at a member's commit log comes to: which segments are read, from where, and which
//! entries are written of what is found there.

use super::cursor::{At, Cursor};
use crate::words::trouble::Ends;
use std::collections::BTreeSet;

/// At rest an entry comes this often, in seconds.
pub const REST: i64 = 300;
/// Parts of one look: what is behind by more is sent by several.
pub const PARTS: usize = 64;
/// A segment has been written to its end once the third one after it is there: one is made in
/// advance, and those before it are in use.
const IN_USE: i64 = 3;

/// A start of the server.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// Which one.
    pub tag: String,
    /// Its segments have numbers above this one.
    pub after: i64,
}

/// A segment on the volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct There {
    /// Its number.
    pub number: i64,
    /// Is it linked: written to its end?
    pub is_linked: bool,
}

/// What is on the volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Segments, by number.
    pub there: Vec<There>,
    /// Starts of the server, in order.
    pub runs: Vec<Run>,
    /// Segments whose links were dropped.
    pub dropped: BTreeSet<i64>,
    /// Segments up to this one may hold what was truncated later: no window begins with them.
    pub truncated: i64,
    /// Why the window ends in any case.
    pub broken: Option<String>,
    /// Segments of the window up to this one were sent to their ends.
    pub done: i64,
    /// Is anything whole in a segment behind those of the course? The last of these is full then,
    /// and not linked yet, as the server does that beside all else.
    pub goes_beyond: bool,
}

/// A clock may be put right by so much: a window goes on.
const CLOCK: i64 = 60;
/// The run of segments before the first start that is noted.
const EARLIER: &str = "earlier";

impl Volume {
    /// Which start of the server wrote a segment.
    pub fn run(&self, number: i64) -> &str {
        let run = self.runs.iter().rev().find(|run| run.after < number);
        run.map_or(EARLIER, |run| &run.tag)
    }

    /// The highest segment that was there when the server was started that wrote this one.
    fn before_run(&self, number: i64) -> i64 {
        let run = self.runs.iter().rev().find(|run| run.after < number);
        run.map_or(0, |run| run.after)
    }

    fn find(&self, number: i64) -> Option<&There> {
        self.there.iter().find(|there| there.number == number)
    }

    /// Is nothing more written to it?
    fn is_ended(&self, number: i64) -> bool {
        let newest = self.runs.last().map_or(EARLIER, |run| &run.tag);
        self.find(number).is_some_and(|there| there.is_linked)
            || self.run(number) != newest
            || self.there.iter().any(|there| there.number >= number + IN_USE)
    }
}

/// Which segments are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// The window goes on: these segments, each from this place.
    GoesOn(Vec<(i64, u64)>),
    /// The window ends, or none is open. The next one begins with these.
    Begins(Option<Ends>, Vec<(i64, u64)>),
}

/// Which segments are read, by how far the journal is. `start` is the segment with which the
/// window began; `ended` says that the one it is at was sent to its end.
pub fn course(volume: &Volume, cursor: &Cursor, start: i64, ended: bool) -> Course {
    if cursor.since.is_none() {
        return Course::Begins(None, newest(volume));
    }
    if cursor.at.is_none() && start == 0 {
        return Course::Begins(Some(Ends::LostNote), newest(volume));
    }
    let began = At { segment: start, run: volume.run(start).to_string(), to: 0 };
    let at = cursor.at.clone().unwrap_or(began);
    match goes_on(volume, &at, ended) {
        Ok(all) => Course::GoesOn(all),
        Err(why) => Course::Begins(Some(why), newest(volume)),
    }
}

fn goes_on(volume: &Volume, at: &At, ended: bool) -> Result<Vec<(i64, u64)>, Ends> {
    if let Some(why) = &volume.broken {
        return Err(Ends::Broken { why: why.clone() });
    }
    let first = at.segment + i64::from(ended);
    if let Some(segment) = volume.dropped.range(first..).next() {
        return Err(Ends::Dropped { segment: *segment });
    }
    let mut all = Vec::new();
    match volume.find(at.segment) {
        Some(_) => all.push((at.segment, at.to)),
        None if ended => {}
        None => return Err(Ends::Missing { segment: at.segment }),
    }
    let mut last = at.segment;
    while (ended && last == at.segment) || volume.is_ended(last) {
        let later = volume.there.iter().map(|there| there.number);
        let Some(next) = later.filter(|number| *number > last).min() else { break };
        let run = if last == at.segment { &at.run } else { volume.run(last) };
        if next != last + 1 && volume.run(next) == run {
            return Err(Ends::Missing { segment: last + 1 });
        }
        // A server replays what it finds at its start and deletes it, linked or not.
        let before = volume.before_run(next);
        if last.max(volume.done) < before {
            return Err(Ends::Missing { segment: before });
        }
        all.push((next, 0));
        last = next;
    }
    Ok(all)
}

/// With what a window begins: the newest segments, as far back as none is missing.
fn newest(volume: &Volume) -> Vec<(i64, u64)> {
    let mut all: Vec<(i64, u64)> = Vec::new();
    for there in volume.there.iter().rev() {
        let follows = all.last().is_none_or(|(next, _)| {
            let is_other = volume.run(there.number) != volume.run(*next);
            there.number + 1 == *next || (is_other && there.number >= volume.before_run(*next))
        });
        let is_dropped = all
            .last()
            .is_some_and(|(next, _)| volume.dropped.range(there.number..*next).next().is_some());
        if !follows || is_dropped {
            break;
        }
        all.push((there.number, 0));
    }
    all.reverse();
    // What is behind one that is written still is read by the next look.
    let open = all.iter().position(|(number, _)| !volume.is_ended(*number));
    all.truncate(open.map_or(all.len(), |open| open + 1));
    all
}

/// What an entry is written of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "is", rename_all = "camelCase", deny_unknown_fields)]
pub enum Step {
    /// The window ends.
    Gap {
        /// Why, for people.
        why: String,
    },
    /// One opens.
    Opening {
        /// With this segment.
        segment: i64,
    },
    /// A part of a segment.
    Part {
        /// The segment.
        segment: i64,
        /// From here.
        from: u64,
        /// To here.
        to: u64,
    },
    /// Nothing is new.
    Rest,
}

/// What a look comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// The entries, in order.
    pub steps: Vec<Step>,
    /// Was all read that is there? Then the last entry says so.
    pub is_all: bool,
    /// No window opens before this segment is full.
    pub waits: Option<i64>,
    /// Of these segments all is sent once the entries are written: their links go.
    pub sent: BTreeSet<i64>,
}

/// What was found in the segments of a course, each with its parts.
pub type Scanned = Vec<(i64, Vec<(u64, u64)>)>;

/// What is written. `ends` is why the window ends by what the server and the operator say,
/// whatever is on the volume; `now` is when the look began.
pub fn next(
    volume: &Volume,
    (cursor, ends): (&Cursor, Option<Ends>),
    (course, scanned): (&Course, &Scanned),
    now: i64,
) -> Next {
    let mut next = Next { is_all: true, ..Next::default() };
    let broken = match course {
        Course::GoesOn(_) => ends,
        Course::Begins(why, _) => why.clone().or(ends),
    };
    // What was said of a time that has not come yet cannot be taken back.
    let broken = broken.or((now < cursor.until - CLOCK).then_some(Ends::Clock));
    let mut scanned = scanned.as_slice();
    match (cursor.since, broken) {
        // What was read is of the window that ends: the next look opens another.
        (Some(_), Some(why)) => {
            next.steps.push(Step::Gap { why: why.to_string() });
            next.is_all = false;
            return next;
        }
        (Some(_), None) => {}
        (None, _) => {
            let is_later = |(number, _): &(i64, _)| *number > volume.truncated;
            let Some(first) = scanned.iter().position(is_later) else {
                let earlier = volume.there.iter().filter(|there| there.number <= volume.truncated);
                next.sent.extend(earlier.map(|there| there.number));
                // A server that has no segment has not begun.
                next.waits = (!scanned.is_empty()).then_some(volume.truncated);
                return next;
            };
            scanned = &scanned[first..];
            next.steps.push(Step::Opening { segment: scanned[0].0 });
        }
    }
    let first = scanned.first().map(|(number, _)| *number);
    let before = volume.there.iter().filter(|there| Some(there.number) < first);
    next.sent.extend(before.map(|there| there.number));
    let mut parts = 0;
    for (number, of) in scanned {
        let left = PARTS - parts;
        let take = of.iter().take(left);
        let part = |(from, to): &(u64, u64)| Step::Part { segment: *number, from: *from, to: *to };
        next.steps.extend(take.map(part));
        parts += of.len().min(left);
        if of.len() > left {
            next.is_all = false;
            return next;
        }
        if volume.is_ended(*number) {
            next.sent.insert(*number);
        }
    }
    // What is behind them may have been acknowledged before this look: it says nothing of now.
    if volume.goes_beyond {
        next.is_all = false;
    }
    if next.steps.is_empty() && next.is_all && now - cursor.until >= REST {
        next.steps.push(Step::Rest);
    }
    next
}

#[cfg(test)]
mod tests;
