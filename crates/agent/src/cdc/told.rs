//! How the segments stand, and how often that is told. Pure.

use super::{Rest, Seen};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::{CdcState, CdcStatus};
use std::time::{Duration, SystemTime};

/// A reader that has left a complete segment for so long does not keep up.
const LATE: Duration = Duration::from_secs(600);
/// Of the space, in percent: from here on it lags.
const HALF: u64 = 50;
/// It keeps up again below this: figures at the edge would be written all the time.
const BELOW_HALF: u64 = 40;
/// From here on it is full.
const FULL: u64 = 95;
/// Below this it is not any more.
const BELOW_FULL: u64 = 85;
/// Figures are told in so many steps.
const STEPS: u64 = 16;
/// Figures that move are told this often.
const OFTEN: Duration = Duration::from_secs(60);
/// While the reader keeps up, this often.
const SELDOM: Duration = Duration::from_secs(300);

/// What is there, with its limit.
pub struct Now<'a> {
    /// What was seen; none where the directory cannot be read.
    pub seen: Option<&'a Seen>,
    /// Bytes that there may be.
    pub total: u64,
    /// Will a server go on with it?
    pub rest: Rest,
    /// By the clock of the files.
    pub now: SystemTime,
}

/// The status, after the one that was told before.
pub fn status(of: &Now<'_>, before: Option<&CdcStatus>) -> CdcStatus {
    let Some(seen) = of.seen else {
        let none = CdcStatus {
            state: CdcState::Unread,
            segments: 0,
            bytes: 0,
            total_bytes: of.total,
            oldest: None,
        };
        return CdcStatus { state: CdcState::Unread, ..before.cloned().unwrap_or(none) };
    };
    let state = state(of, seen, before.map(|before| before.state));
    let tells_oldest = match state {
        CdcState::Current | CdcState::Delivered => false,
        CdcState::Lagging
        | CdcState::Full
        | CdcState::Undelivered
        | CdcState::Unread
        | CdcState::Unknown => true,
    };
    let step = (of.total / STEPS).max(1);
    CdcStatus {
        state,
        segments: seen.segments,
        bytes: seen.bytes / step * step,
        total_bytes: of.total,
        oldest: seen.oldest.filter(|_| tells_oldest).and_then(minute),
    }
}

fn state(of: &Now<'_>, seen: &Seen, before: Option<CdcState>) -> CdcState {
    match (of.rest, seen.segments) {
        (Rest::Ended, 0) => return CdcState::Delivered,
        (Rest::Ended, _) => return CdcState::Undelivered,
        (Rest::Starts, _) => {}
    }
    let was = |state| before == Some(state);
    let (full, half) = match (was(CdcState::Full), was(CdcState::Lagging)) {
        (true, _) => (BELOW_FULL, BELOW_HALF),
        (false, true) => (FULL, BELOW_HALF),
        (false, false) => (FULL, HALF),
    };
    let used = |percent: u64| seen.bytes.saturating_mul(100) >= of.total.saturating_mul(percent);
    // Without a segment that waits nothing is full: the server has two of them open.
    let has_no_room = seen.complete > 0 && seen.bytes.saturating_add(seen.largest) > of.total;
    let is_late = seen
        .oldest
        .is_some_and(|oldest| of.now.duration_since(oldest).is_ok_and(|waited| waited >= LATE));
    if used(full) || has_no_room {
        CdcState::Full
    } else if used(half) || is_late {
        CdcState::Lagging
    } else {
        CdcState::Current
    }
}

fn minute(at: SystemTime) -> Option<Time> {
    let at = jiff::Timestamp::try_from(at).ok()?;
    jiff::Timestamp::from_second(at.as_second().div_euclid(60) * 60).ok().map(Time)
}

/// Is it told now? Its state at once, and what moves all the time only now and then.
pub fn is_due(told: Option<(&CdcStatus, Duration)>, now: &CdcStatus) -> bool {
    let Some((told, ago)) = told else { return true };
    if told.state != now.state || told.total_bytes != now.total_bytes {
        return true;
    }
    let pause = match now.state {
        CdcState::Current => SELDOM,
        CdcState::Lagging
        | CdcState::Full
        | CdcState::Unread
        | CdcState::Undelivered
        | CdcState::Delivered
        | CdcState::Unknown => OFTEN,
    };
    told != now && ago >= pause
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn seen(bytes: u64, complete: u32, age: u64) -> Seen {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000 - age);
        let oldest = (complete > 0).then_some(at);
        Seen { segments: complete + 1, complete, bytes, largest: 32 * MIB, oldest }
    }

    fn told(seen: &Seen, before: Option<CdcState>, rest: Rest) -> CdcStatus {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000);
        let before = before.map(|state| CdcStatus {
            state,
            segments: 3,
            bytes: 0,
            total_bytes: 1000 * MIB,
            oldest: None,
        });
        let of = Now { seen: Some(seen), total: 1000 * MIB, rest, now };
        status(&of, before.as_ref())
    }

    #[test]
    fn a_reader_lags_at_half_of_the_space_or_after_ten_minutes() {
        let state =
            |bytes: u64, age, before| told(&seen(bytes * MIB, 1, age), before, Rest::Starts).state;
        assert_eq!(state(64, 0, None), CdcState::Current);
        assert_eq!(state(499, 599, None), CdcState::Current);
        assert_eq!(state(500, 0, None), CdcState::Lagging);
        assert_eq!(state(64, 600, None), CdcState::Lagging);
        assert_eq!(state(450, 0, Some(CdcState::Lagging)), CdcState::Lagging, "at the edge");
        assert_eq!(state(399, 0, Some(CdcState::Lagging)), CdcState::Current);
        assert_eq!(state(949, 0, None), CdcState::Lagging);
        assert_eq!(state(950, 0, None), CdcState::Full);
        assert_eq!(state(900, 0, Some(CdcState::Full)), CdcState::Full, "at the edge");
        assert_eq!(state(849, 0, Some(CdcState::Full)), CdcState::Lagging);
    }

    #[test]
    fn where_no_other_segment_fits_it_is_full() {
        let small = |complete| {
            let seen = seen(100 * MIB, complete, 0);
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000);
            let of = Now { seen: Some(&seen), total: 128 * MIB, rest: Rest::Starts, now };
            status(&of, None).state
        };
        assert_eq!(small(1), CdcState::Full);
        assert_eq!(small(0), CdcState::Lagging, "the server has its own open");
    }

    #[test]
    fn who_has_left_is_done_when_nothing_is_there() {
        let left = told(&seen(10 * MIB, 2, 0), None, Rest::Ended);
        assert_eq!((left.state, left.segments), (CdcState::Undelivered, 3));
        let done = told(&Seen::default(), Some(CdcState::Undelivered), Rest::Ended);
        assert_eq!((done.state, done.segments), (CdcState::Delivered, 0));
    }

    #[test]
    fn what_cannot_be_read_is_said_to_be_so_and_nothing_else() {
        let now = SystemTime::UNIX_EPOCH;
        let of = Now { seen: None, total: MIB, rest: Rest::Ended, now };
        assert_eq!(status(&of, None).state, CdcState::Unread);
    }

    #[test]
    fn a_state_is_told_at_once_and_figures_now_and_then() {
        let one = told(&seen(100 * MIB, 1, 0), None, Rest::Starts);
        let more = told(&seen(300 * MIB, 9, 60), None, Rest::Starts);
        let lags = told(&seen(600 * MIB, 19, 60), None, Rest::Starts);
        let after = |seconds| Duration::from_secs(seconds);
        assert!(is_due(None, &one));
        assert!(!is_due(Some((&one, after(3600))), &one), "nothing is told at rest");
        assert!(!is_due(Some((&one, after(299))), &more));
        assert!(is_due(Some((&one, after(300))), &more));
        assert!(is_due(Some((&more, after(1))), &lags));
        let worse = told(&seen(700 * MIB, 22, 60), None, Rest::Starts);
        assert!(!is_due(Some((&lags, after(59))), &worse));
        assert!(is_due(Some((&lags, after(60))), &worse));
        // Neither is a minute of the oldest, nor a byte, a change.
        assert_eq!(told(&seen(601 * MIB, 19, 61), None, Rest::Starts), lags);
    }
}
