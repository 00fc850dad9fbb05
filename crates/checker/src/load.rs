//! `load`: writes rows and registers for a time, and notes every attempt.
//!
//! A row has one writer at a time, so that the order of its versions is beyond
//! doubt. Registers are everybody's: that is what they are for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use scylla::client::session::Session;

use crate::dice::Dice;
use crate::history::{self, History, Recorder};
use crate::level::Mix;
use crate::report::Tally;
use crate::ring::{Contact, schema};

mod statements;
mod writer;

use statements::Statements;
use writer::Writer;

/// What to write, and for how long.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    contact: Contact,
    /// Where to note every attempt; one that exists is gone on with
    #[arg(long)]
    history: PathBuf,
    /// Copies of each row, where the keyspace is not there yet
    #[arg(long, default_value_t = 3)]
    copies: u32,
    /// How many rows
    #[arg(long, default_value_t = 300)]
    rows: u32,
    /// How many registers
    #[arg(long, default_value_t = 8)]
    registers: u32,
    /// Stop after so many seconds; SIGTERM stops at any time
    #[arg(long = "for", default_value_t = 10)]
    seconds: u64,
    /// Stop after so many attempts
    #[arg(long, default_value_t = 1_000_000)]
    attempts: u64,
    /// Attempts in a second, at most
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// Writers, each with one attempt under way; few are enough to meet each other at a register
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    writers: u32,
    /// How often each level is chosen
    #[arg(long, default_value = "ONE=1,QUORUM=2,ALL=1")]
    levels: Mix,
    /// What values and choices follow from; a history that exists keeps its own
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What all writers share.
struct Shared {
    session: Session,
    statements: Statements,
    recorder: Recorder,
    levels: Mix,
    registers: u32,
    left: AtomicU64,
    end: Instant,
    stop: AtomicBool,
}

impl Shared {
    /// Take one of the attempts that are left.
    fn goes_on(&self) -> bool {
        let in_time = Instant::now() < self.end && !self.stop.load(Ordering::Relaxed);
        let take = |left: u64| left.checked_sub(1);
        in_time && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// Run it; returns what was attempted in this run.
pub async fn run(arguments: &Arguments) -> Result<Tally> {
    ensure!(arguments.rate > 0, "--rate 0 never writes anything");
    let keyspace = &arguments.contact.keyspace;
    let session = arguments.contact.connect().await?;
    schema::make(&session, keyspace, arguments.copies).await?;
    let statements = Statements::prepare(&session, keyspace).await?;
    let (recorder, history) = Recorder::open(&arguments.history, arguments.seed, keyspace)?;
    let shared = Arc::new(Shared {
        session,
        statements,
        recorder,
        levels: arguments.levels.clone(),
        registers: arguments.registers,
        left: AtomicU64::new(arguments.attempts),
        end: Instant::now() + Duration::from_secs(arguments.seconds),
        stop: AtomicBool::new(false),
    });
    let stopper = tokio::spawn(stop_when_told(Arc::clone(&shared)));
    let begin = history.next_id();
    let writers = writers(&shared, arguments, &history)?.into_iter().map(|writer| {
        let writing = tokio::spawn(writer.write());
        async move { writing.await.context("a writer broke")? }
    });
    try_join_all(writers).await?;
    stopper.abort();
    let whole = history::read(&arguments.history)?;
    let tally = Tally::of(whole.operations.iter().filter(|o| o.attempt.id >= begin));
    ensure!(!tally.acknowledged.is_empty(), "nothing was acknowledged: {}", last_cause(&whole));
    Ok(tally)
}

fn writers(shared: &Arc<Shared>, arguments: &Arguments, history: &History) -> Result<Vec<Writer>> {
    let seed = history.runs.first().map_or(arguments.seed, |run| run.seed);
    let mut versions: BTreeMap<i64, u64> =
        (0..i64::from(arguments.rows)).map(|key| (key, 0)).collect();
    for (key, operations) in history.rows() {
        versions.insert(key, u64::try_from(operations.len())?);
    }
    let mut dice = Dice::new(seed ^ history.next_id());
    let count = u64::from(arguments.writers);
    let pause = Duration::from_secs(count) / arguments.rate;
    let writers = (0..count).map(|number| {
        let mine = |key: &i64| key.cast_unsigned() % count == number;
        let rows = versions.iter().filter(|(key, _)| mine(key)).map(|(k, v)| (*k, *v)).collect();
        Writer::new(Arc::clone(shared), rows, Dice::new(dice.next_number()), seed, pause)
    });
    Ok(writers.collect())
}

async fn stop_when_told(shared: Arc<Shared>) {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut told) = signal(SignalKind::terminate()) {
        told.recv().await;
        shared.stop.store(true, Ordering::Relaxed);
    }
}

fn last_cause(history: &History) -> String {
    use crate::history::Outcome;
    let mut causes = history.operations.iter().filter_map(|o| match &o.outcome {
        Outcome::Failed { cause } | Outcome::Unknown { cause } => Some(cause.clone()),
        Outcome::Acknowledged | Outcome::Found { .. } => None,
    });
    causes.next_back().unwrap_or_else(|| "nothing was attempted".to_owned())
}
