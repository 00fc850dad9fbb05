//! What an agent has to say, as it changes from turn to turn.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use tokio::sync::watch::Sender;

/// Have a status written where it differs from the one before.
pub fn offer<S: PartialEq>(status: &Sender<Option<S>>, now: S) {
    status.send_if_modified(|told| {
        let differs = told.as_ref() != Some(&now);
        *told = Some(now);
        differs
    });
}

/// The state that was told last, and since when it holds.
#[derive(Clone, Debug)]
pub struct Since<S>(Option<(S, Time)>);

impl<S> Default for Since<S> {
    fn default() -> Self {
        Self(None)
    }
}

impl<S: Copy + PartialEq> Since<S> {
    /// Since when this state holds; a first one since an earlier agent told it, if that is the
    /// same.
    pub fn of(&mut self, state: S, earlier: Option<(S, Time)>, now: Time) -> Time {
        let known = self.0.take().or(earlier);
        let since = known.filter(|(known, _)| *known == state).map_or(now, |(_, since)| since);
        self.0 = Some((state, since.clone()));
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::seconds;
    use jiff::Timestamp;

    fn at(second: i64) -> Time {
        seconds(Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn a_state_holds_since_an_earlier_agent_told_it_or_since_it_changed() {
        let mut since = Since::default();
        assert_eq!(since.of('a', Some(('a', at(1))), at(5)), at(1));
        assert_eq!(since.of('a', Some(('a', at(3))), at(6)), at(1), "of its own it knows");
        assert_eq!(since.of('b', Some(('b', at(1))), at(7)), at(7), "it has changed since");
        assert_eq!(Since::default().of('a', Some(('b', at(1))), at(5)), at(5));
    }

    #[test]
    fn what_is_as_before_is_not_written() {
        let (status, mut written) = tokio::sync::watch::channel(None);
        offer(&status, 1);
        assert!(written.has_changed().unwrap());
        written.mark_unchanged();
        offer(&status, 1);
        assert!(!written.has_changed().unwrap());
    }
}
