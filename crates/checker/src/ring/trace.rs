//! Whose data answered? A read at ONE goes to one replica, and a coordinator
//! that is a replica mostly asks itself, but nothing promises it: its snitch
//! may find another one faster. So each such read is traced, and its answer
//! counts only if the trace shows that the coordinator read its own data, for
//! every range that it asked for, and asked nobody else.
//!
//! The words are those of Cassandra 4.0 to 5.0 (`RangeCommandIterator` and
//! `PartitionRangeReadCommand`).

use std::net::IpAddr;

/// One thing that a trace tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who did it.
    pub source: IpAddr,
    /// What.
    pub activity: String,
}

/// What a trace shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The coordinator's own data answered.
    Itself,
    /// Somebody else was asked.
    Another,
    /// Not enough has been written yet.
    NotYet,
}

/// How a coordinator says how many ranges it asks for at once.
const ASKED: &str = "Submitted ";
const ASKED_WHAT: &str = " concurrent range requests";
/// How a replica says that it reads its data for a range.
const READS: &str = "Executing seq scan across ";
/// How a coordinator says that it asks another.
const OTHERS: [&str; 3] = ["Enqueuing request to ", "Sending RANGE_REQ ", "Sending READ_REQ "];

/// What these events show of a read through a coordinator.
pub fn shown(coordinator: IpAddr, events: &[Event]) -> Shown {
    let foreign = events.iter().any(|event| {
        event.source != coordinator || OTHERS.iter().any(|other| event.activity.starts_with(other))
    });
    if foreign {
        return Shown::Another;
    }
    let asked: u32 = events.iter().filter_map(|event| asked(&event.activity)).sum();
    let read = events.iter().filter(|event| event.activity.starts_with(READS)).count();
    if asked > 0 && usize::try_from(asked).is_ok_and(|asked| asked == read) {
        Shown::Itself
    } else {
        Shown::NotYet
    }
}

fn asked(activity: &str) -> Option<u32> {
    activity.strip_prefix(ASKED)?.split_once(ASKED_WHAT)?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [u8; 4] = [10, 0, 0, 1];
    const OTHER: [u8; 4] = [10, 0, 0, 2];

    fn shown_by(events: &[([u8; 4], &str)]) -> Shown {
        let events: Vec<Event> = events
            .iter()
            .map(|(source, activity)| Event {
                source: IpAddr::from(*source),
                activity: (*activity).to_owned(),
            })
            .collect();
        shown(IpAddr::from(OWN), &events)
    }

    #[test]
    fn a_coordinator_that_read_every_range_itself_answered_itself() {
        let events = [
            (OWN, "Computing ranges to query"),
            (OWN, "Submitted 1 concurrent range requests"),
            (OWN, "Executing seq scan across 1 sstables for (min(-1), max(5)]"),
            (OWN, "Read 3 live rows and 0 tombstone cells"),
        ];
        assert_eq!(shown_by(&events), Shown::Itself);
    }

    #[test]
    fn a_trace_that_is_not_whole_shows_nothing_yet() {
        assert_eq!(shown_by(&[]), Shown::NotYet);
        assert_eq!(shown_by(&[(OWN, "Submitted 1 concurrent range requests")]), Shown::NotYet);
        let one_of_two = [
            (OWN, "Submitted 2 concurrent range requests"),
            (OWN, "Executing seq scan across 1 sstables for (min(-1), max(5)]"),
        ];
        assert_eq!(shown_by(&one_of_two), Shown::NotYet);
    }

    #[test]
    fn another_that_did_something_or_was_asked_is_another() {
        let read_elsewhere = [
            (OWN, "Submitted 1 concurrent range requests"),
            (OTHER, "Executing seq scan across 1 sstables for (min(-1), max(5)]"),
        ];
        assert_eq!(shown_by(&read_elsewhere), Shown::Another);
        let asked_elsewhere = [(OWN, "Enqueuing request to Full(/10.0.0.2:7000,(1,5])")];
        assert_eq!(shown_by(&asked_elsewhere), Shown::Another);
    }
}
