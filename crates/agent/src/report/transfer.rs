//! A transfer, as it is reported: its beginning and its end at once, its progress not
//! more often than people look.

use palladion_api::backup::TransferStatus;
use std::time::{Duration, Instant};

/// Progress is written this often at most.
const EVERY: Duration = Duration::from_secs(10);

/// What was reported last.
#[derive(Default)]
pub struct Told {
    last: Option<(TransferStatus, Instant)>,
}

impl Told {
    /// What is reported now.
    pub fn next(&mut self, status: Option<TransferStatus>, now: Instant) -> Option<TransferStatus> {
        let Some(status) = status else {
            self.last = None;
            return None;
        };
        if let Some((told, at)) = &self.last {
            let same = TransferStatus { progress: status.progress, ..told.clone() } == status;
            if same && (told.progress == status.progress || now.duration_since(*at) < EVERY) {
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
    use palladion_api::backup::TransferState::{Done, Running, Waiting};
    use serde_json::json;

    #[test]
    fn progress_is_told_each_ten_seconds_and_all_else_at_once() {
        let (mut told, start) = (Told::default(), Instant::now());
        let mut at = |second: u64, state: &str, progress: Option<u8>| {
            let status = json!({"id": "a", "state": state, "progress": progress});
            let status = serde_json::from_value(status).unwrap();
            let told = told.next(Some(status), start + Duration::from_secs(second)).unwrap();
            (told.state, told.progress)
        };
        assert_eq!(at(0, "Running", None), (Running, None));
        assert_eq!(at(9, "Running", Some(1)), (Running, None));
        assert_eq!(at(10, "Running", Some(2)), (Running, Some(2)));
        assert_eq!(at(11, "Running", Some(3)), (Running, Some(2)));
        assert_eq!(at(12, "Waiting", None), (Waiting, None));
        assert_eq!(at(13, "Done", None), (Done, None));
        assert_eq!(told.next(None, start), None);
    }
}
