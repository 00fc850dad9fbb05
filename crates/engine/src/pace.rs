//! How much the API server is asked at once. It says itself when that is too
//! much: by 429, 503 and 504, and by not answering in time. Then half as many
//! owners are decided side by side, and nobody new begins for a while; answers
//! let the number grow again, one by one. One key cannot know this for itself:
//! while it waits, all the others would go on asking.
//!
//! Nothing is kept that a crash may not lose, and nobody who runs is
//! interrupted. The Lease is renewed beside this: its requests are few, and a
//! leader that waits is none.

use crate::backoff;
use crate::error::ApiError;
use prometheus_client::metrics::gauge::Gauge;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Owners decided side by side at most. Each holds at most one request at a
/// time, so this bounds what the API server is asked at once.
pub const MOST: usize = 64;
/// So many answers in a row are a sign that the server keeps up. More than the
/// reads that go well between two writes that do not.
const IN_A_ROW: usize = 8;
/// Longest that a server may have everybody wait for it. One that asks for
/// more is asked again all the same: a broken proxy must not end our work.
const LONGEST: Duration = Duration::from_secs(60);

/// See the module.
#[derive(Debug)]
pub struct Pace {
    state: Mutex<State>,
    shown: Gauge,
}

#[derive(Debug)]
struct State {
    at_once: usize,
    /// How many a person allows.
    most: usize,
    /// Answers in a row that were no sign of too much.
    clean: usize,
    /// Cuts since it was well.
    cuts: u32,
    /// What was asked before the last cut tells nothing about what came after.
    cut: Option<Instant>,
    closed_until: Option<Instant>,
}

impl Default for Pace {
    /// One that nobody sees.
    fn default() -> Self {
        Self::shown_in(Gauge::default())
    }
}

impl Pace {
    /// At its most, and shown in this gauge.
    pub fn shown_in(shown: Gauge) -> Self {
        show(&shown, MOST);
        let state =
            State { at_once: MOST, most: MOST, clean: 0, cuts: 0, cut: None, closed_until: None };
        Self { state: Mutex::new(state), shown }
    }

    /// How many owners may be decided side by side.
    pub fn at_once(&self) -> usize {
        self.lock().at_once
    }

    /// A person allows so many, up to [`MOST`].
    pub fn allow(&self, most: usize) {
        let mut state = self.lock();
        let most = most.clamp(1, MOST);
        if state.most == most {
            return;
        }
        // Whoever was at its most is so again; whoever was held back grows from there.
        let was_at_most = state.at_once == state.most;
        state.most = most;
        state.at_once = if was_at_most { most } else { state.at_once.min(most) };
        show(&self.shown, state.at_once);
    }

    /// Until when nobody new begins; none = now.
    pub fn closed_until(&self) -> Option<Instant> {
        self.lock().closed_until.filter(|until| *until > Instant::now())
    }

    /// Wait until somebody may begin.
    pub async fn open(&self) {
        while let Some(until) = self.closed_until() {
            tokio::time::sleep_until(until).await;
        }
    }

    /// A request that was sent at `asked` has ended.
    pub fn ended<T>(&self, asked: Instant, answer: &Result<T, ApiError>) {
        let mut state = self.lock();
        match answer {
            Err(error) if error.is_overload() => state.too_much(asked, error.retry_after),
            Ok(_) | Err(_) => state.kept_up(asked),
        }
        show(&self.shown, state.at_once);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn too_much(&mut self, asked: Instant, retry_after: Option<Duration>) {
        self.clean = 0;
        let now = Instant::now();
        if self.is_of_before(asked) {
            // Many that were sent together fail together: that is one sign, and
            // only what the server asks for counts of the others.
            self.close(now + retry_after.unwrap_or_default().min(LONGEST));
            return;
        }
        if self.cuts == 0 {
            tracing::warn!("the API server cannot keep up; asking it less");
        }
        self.at_once = (self.at_once / 2).max(1);
        let wait = backoff::for_all(self.cuts).max(retry_after.unwrap_or_default()).min(LONGEST);
        self.close(now + wait);
        self.cuts = self.cuts.saturating_add(1);
        self.cut = Some(now);
    }

    fn kept_up(&mut self, asked: Instant) {
        if self.is_of_before(asked) || (self.cuts == 0 && self.at_once == self.most) {
            return;
        }
        self.clean += 1;
        if self.clean < self.at_once.max(IN_A_ROW) {
            return;
        }
        self.clean = 0;
        self.cuts = 0;
        self.at_once = (self.at_once + 1).min(self.most);
        if self.at_once == self.most {
            tracing::info!("the API server keeps up again");
        }
    }

    fn is_of_before(&self, asked: Instant) -> bool {
        self.cut.is_some_and(|cut| asked <= cut)
    }

    fn close(&mut self, until: Instant) {
        self.closed_until = Some(self.closed_until.map_or(until, |closed| closed.max(until)));
    }
}

fn show(gauge: &Gauge, at_once: usize) {
    gauge.set(i64::try_from(at_once).unwrap_or(i64::MAX));
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;

    const MOMENT: Duration = Duration::from_millis(10);

    async fn answer(pace: &Pace, code: u16) {
        let asked = Instant::now();
        tokio::time::sleep(MOMENT).await;
        let error = ApiError::from_status(Status { code, ..Status::default() });
        pace.ended(asked, &if code == 200 { Ok(()) } else { Err(error) });
    }

    #[tokio::test(start_paused = true)]
    async fn it_halves_to_one_and_grows_one_by_one_to_its_most() {
        let pace = Pace::default();
        for halved in [32, 16, 8, 4, 2, 1, 1] {
            pace.open().await;
            answer(&pace, 503).await;
            assert_eq!(pace.at_once(), halved);
        }
        let mut seen = vec![pace.at_once()];
        while pace.at_once() < MOST {
            answer(&pace, 200).await;
            if seen.last() != Some(&pace.at_once()) {
                seen.push(pace.at_once());
            }
        }
        assert_eq!(seen, (1..=MOST).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn it_never_grows_beyond_what_a_person_allows() {
        let pace = Pace::default();
        pace.allow(8);
        assert_eq!(pace.at_once(), 8);
        answer(&pace, 503).await;
        assert_eq!(pace.at_once(), 4);
        pace.allow(2);
        assert_eq!(pace.at_once(), 2);
        for _ in 0..MOST {
            answer(&pace, 200).await;
        }
        assert_eq!(pace.at_once(), 2);
        pace.allow(MOST);
        assert_eq!(pace.at_once(), MOST);
        pace.allow(0);
        assert_eq!(pace.at_once(), 1, "nobody stops the operator by it");
    }

    #[tokio::test(start_paused = true)]
    async fn what_failed_together_is_one_sign() {
        let pace = Pace::default();
        let asked = Instant::now();
        tokio::time::sleep(MOMENT).await;
        for _ in 0..MOST {
            pace.ended(asked, &Err::<(), _>(ApiError::timeout(MOMENT)));
        }
        assert_eq!(pace.at_once(), MOST / 2);
        assert!(pace.closed_until().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_says_too_much_is_a_sign_of_it() {
        for code in [200, 401, 403, 404, 409, 422, 500] {
            let pace = Pace::default();
            answer(&pace, code).await;
            assert_eq!((pace.at_once(), pace.closed_until()), (MOST, None), "{code}");
        }
        for code in [429, 503, 504] {
            let pace = Pace::default();
            answer(&pace, code).await;
            assert_eq!(pace.at_once(), MOST / 2, "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_while_no_row_of_answers_is_clean_and_have_an_end() {
        let pace = Pace::default();
        let mut longest = Duration::ZERO;
        for _ in 0..20 {
            // Reads go well, writes do not.
            answer(&pace, 200).await;
            answer(&pace, 429).await;
            let closed = Instant::now();
            pace.open().await;
            longest = longest.max(closed.elapsed());
        }
        assert!(longest >= Duration::from_secs(7), "{longest:?}");
        assert!(longest <= Duration::from_secs(13), "{longest:?}");
    }
}
