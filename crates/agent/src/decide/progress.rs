//! Whether a start, a join or a leave gets on. A server that hangs does not
//! answer, or says JOINING or LEAVING for ever: nothing but its streams tells it
//! from one that takes long.

use crate::admin::{self, Reading};
use jiff::{SignedDuration, Timestamp};

/// A server that has not answered, or a join or leave that has streamed nothing
/// for this long is reported. Up to 4.1 an SSTable counts when it is through,
/// and a large one takes hours.
const STALLED: SignedDuration = SignedDuration::from_hours(3);

/// How far it is, and since when it has not got any further.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// `None` = the server has not answered since it was started.
    streams: Option<Streams>,
    since: Timestamp,
}

/// What a join or a leave has streamed.
#[derive(Clone, Debug, PartialEq)]
struct Streams {
    mode: String,
    bytes: f64,
}

/// What has not got on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stall {
    /// The server does not answer.
    Silent,
    /// A join or leave, by its mode, streams nothing.
    Streams(String),
}

impl Progress {
    /// After a look at a server that runs; nothing in any other mode, and nothing
    /// where it is not known what was streamed.
    pub fn after(known: Option<Self>, reading: Option<&Reading>, now: Timestamp) -> Option<Self> {
        let Some(reading) = reading.filter(|r| r.mode.is_some()) else {
            return Some(known.unwrap_or(Progress { streams: None, since: now }));
        };
        let moves = reading.is(admin::JOINING) || reading.is(admin::LEAVING);
        let mode = reading.mode.clone().filter(|_| moves)?;
        let streams = Some(Streams { mode, bytes: reading.figures.streamed? });
        match known.filter(|known| known.streams == streams) {
            Some(same) => Some(same),
            None => Some(Progress { streams, since: now }),
        }
    }

    /// From when on it counts as one that hangs.
    pub fn stalled_from(&self) -> Timestamp {
        self.since + STALLED
    }

    /// What hangs and since when, if that is too long.
    pub fn stalled(&self, now: Timestamp) -> Option<(Stall, Timestamp)> {
        let streams = self.streams.as_ref();
        let what = streams.map_or(Stall::Silent, |s| Stall::Streams(s.mode.clone()));
        (self.stalled_from() <= now).then_some((what, self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    fn looks(looks: &[(&str, f64)]) -> Option<Progress> {
        let (mut progress, mut hours) = (None, 0);
        for (mode, streamed) in looks {
            let mut reading = Reading { mode: Some((*mode).into()), ..Reading::default() };
            reading.figures.streamed = Some(*streamed);
            progress = Progress::after(progress, Some(&reading), at(hours));
            hours += 1;
        }
        progress
    }

    #[test]
    fn a_leave_that_streams_nothing_for_three_hours_is_stalled() {
        let still = [("NORMAL", 0.0), ("LEAVING", 0.0), ("LEAVING", 5.0), ("LEAVING", 5.0)];
        let progress = looks(&still).unwrap();
        assert_eq!(progress.stalled(at(4)), None);
        assert_eq!(progress.stalled(at(5)), Some((Stall::Streams("LEAVING".into()), at(2))));
    }

    #[test]
    fn one_that_streams_is_not_and_other_modes_are_not_looked_at() {
        let moves = looks(&[("JOINING", 1.0), ("JOINING", 2.0)]).unwrap();
        assert_eq!(moves.stalled(at(3)), None);
        assert_eq!(looks(&[("JOINING", 0.0), ("NORMAL", 0.0)]), None);
        assert_eq!(looks(&[("DECOMMISSION_FAILED", 0.0)]), None);
        let unknown = Reading { mode: Some("JOINING".into()), ..Reading::default() };
        assert_eq!(Progress::after(None, Some(&unknown), at(0)), None);
    }

    #[test]
    fn a_server_that_does_not_answer_is_stalled_too() {
        let silent = Progress::after(None, None, at(0));
        let silent = Progress::after(silent, Some(&Reading::default()), at(2)).unwrap();
        assert_eq!(silent.stalled(at(3)), Some((Stall::Silent, at(0))));
        // One look that fails does not make a leave younger.
        let leaves = looks(&[("LEAVING", 5.0)]);
        assert_eq!(Progress::after(leaves.clone(), None, at(1)), leaves);
    }
}
