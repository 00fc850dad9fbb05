//! The job, as it is reported: its beginning and its end at once, its progress
//! not more often than people look.

use palladion_api::member::JobStatus;
use std::time::{Duration, Instant};

/// Progress is written this often at most.
const EVERY: Duration = Duration::from_secs(10);

/// What was reported last.
#[derive(Default)]
pub struct Told {
    last: Option<(JobStatus, Instant)>,
}

impl Told {
    /// What is reported now.
    pub fn next(&mut self, status: Option<JobStatus>, now: Instant) -> Option<JobStatus> {
        let Some(status) = status else {
            self.last = None;
            return None;
        };
        if let Some((told, at)) = &self.last {
            // Whoever grants the next one waits for the end of the last, and for what is there.
            // What it waits for is told when that begins and when it is over.
            let waits =
                |of: &JobStatus| (of.last_grant, of.batches.is_empty(), of.message.is_some());
            let same =
                told.id == status.id && told.state == status.state && waits(told) == waits(&status);
            if *told == status || (same && now.duration_since(*at) < EVERY) {
                return Some(told.clone());
            }
        }
        self.last = Some((status.clone(), now));
        Some(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::member::JobState;

    #[test]
    fn progress_is_told_each_ten_seconds_and_an_end_at_once() {
        let (mut told, start) = (Told::default(), Instant::now());
        let mut at = |second: u64, state: JobState, progress: u8| {
            let mut status = JobStatus::of("a".into(), state);
            status.progress = Some(progress);
            let told = told.next(Some(status), start + Duration::from_secs(second)).unwrap();
            (told.state, told.progress.unwrap())
        };
        assert_eq!(at(0, JobState::Running, 0), (JobState::Running, 0));
        assert_eq!(at(9, JobState::Running, 1), (JobState::Running, 0));
        assert_eq!(at(10, JobState::Running, 2), (JobState::Running, 2));
        assert_eq!(at(11, JobState::Stopping, 3), (JobState::Stopping, 3));
        assert_eq!(at(12, JobState::Aborted, 4), (JobState::Aborted, 4));
    }
}
