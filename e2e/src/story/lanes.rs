//! Which stories share a testbed, so that all testbeds end at about the same
//! time: the longest story first, each to the testbed that has least to do.

use super::{Durations, Length, Story};

/// Stories of one testbed, in the order in which they are played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Their names.
    pub stories: Vec<&'static str>,
    /// What they take together, in seconds, by the record.
    pub seconds: u64,
}

/// So many lanes, of stories that have something to do in a run of this length.
pub fn balanced(
    stories: &[Story],
    durations: &Durations,
    length: Length,
    lanes: usize,
) -> Vec<Lane> {
    let mut weighed: Vec<(u64, &'static str)> =
        stories.iter().map(|s| (durations.expected(length, s), s.name)).collect();
    // The longest first; of two that are alike, by name, so that all agree.
    weighed.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let mut all = vec![Lane::default(); lanes.max(1)];
    for (seconds, name) in weighed {
        if let Some(lane) = all.iter_mut().min_by_key(|lane| lane.seconds) {
            lane.stories.push(name);
            lane.seconds += seconds;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_story_is_in_exactly_one_lane_and_the_lanes_end_together() {
        fn nothing() {}
        let mut durations = Durations::default();
        let seconds = [("a", 600), ("b", 500), ("c", 300), ("d", 200), ("e", 10)];
        let stories: Vec<Story> = seconds
            .iter()
            .map(|(name, seconds)| {
                durations.record(Length::Landing, name, Duration::from_secs(*seconds));
                Story::named(name).step("it holds", nothing).into()
            })
            .collect();
        let lanes = balanced(&stories, &durations, Length::Landing, 2);
        assert_eq!(lanes[0], Lane { stories: vec!["a", "d", "e"], seconds: 810 });
        assert_eq!(lanes[1], Lane { stories: vec!["b", "c"], seconds: 800 });
        assert_eq!(balanced(&stories, &durations, Length::Landing, 1)[0].stories.len(), 5);
    }
}
