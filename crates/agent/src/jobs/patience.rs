//! What a job cannot tell for a while, such as the schema while CQL does not answer: it
//! is waited for, said in the status, and not for ever.

use super::bench::{Bench, Step};
use super::segments::unclear;
use crate::words::repair::Unclear;
use crate::words::work::Waits;
use jiff::Timestamp;
use tokio::time::Instant;

/// Since when something cannot be told, and until when that is waited for.
#[derive(Default)]
pub struct Patience(Option<(Instant, Timestamp)>);

impl Patience {
    /// Wait before the next look, which fails the job once the time is over.
    pub async fn wait(&mut self, bench: &Bench, why: Unclear) -> Step<()> {
        let until = || {
            let until = Timestamp::now().checked_add(bench.pace.unclear).unwrap_or(Timestamp::MAX);
            Timestamp::from_second(until.as_second()).unwrap_or(until)
        };
        let (since, until) = *self.0.get_or_insert_with(|| (Instant::now(), until()));
        if since.elapsed() >= bench.pace.unclear {
            return Err(unclear(why));
        }
        tracing::info!(why = why.to_string(), "the repair waits and looks again");
        let every = bench.pace.grant.as_secs();
        let said = Waits::NotClear { why: why.to_string(), every, until };
        bench.book.say(Some(said.to_string()));
        bench.pause(bench.pace.grant).await;
        bench.may_stop()
    }

    /// It can be told.
    pub fn end(&mut self, bench: &Bench) {
        if self.0.take().is_some() {
            bench.book.say(None);
        }
    }
}
