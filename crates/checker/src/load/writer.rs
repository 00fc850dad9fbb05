//! One writer: what it does next, and what it knows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::time::{MissedTickBehavior, interval};

use super::Shared;
use crate::dice::Dice;
use crate::history::{Action, Outcome};
use crate::level::Level;

/// Of a hundred attempts, so many are at a register, and so many are deletions.
const AT_REGISTERS: u64 = 20;
const DELETIONS: u64 = 10;

/// Writes its own rows, and everybody's registers.
pub struct Writer {
    shared: Arc<Shared>,
    /// The latest version of each row that was attempted.
    rows: BTreeMap<i64, u64>,
    /// Rows that were never written come first, so that each is.
    first: VecDeque<i64>,
    /// What it last saw in each register; none where it must look.
    registers: BTreeMap<i64, Option<String>>,
    dice: Dice,
    seed: u64,
    pause: Duration,
}

impl Writer {
    /// One for these rows.
    pub fn new(
        shared: Arc<Shared>,
        rows: BTreeMap<i64, u64>,
        dice: Dice,
        seed: u64,
        pause: Duration,
    ) -> Self {
        let first = rows.iter().filter(|(_, version)| **version == 0).map(|(k, _)| *k).collect();
        Self { shared, rows, first, registers: BTreeMap::new(), dice, seed, pause }
    }

    /// Write until it is over.
    pub async fn write(mut self) -> Result<()> {
        let mut ticks = interval(self.pause);
        // A slow answer is not followed by a burst.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if !self.shared.goes_on() {
                return Ok(());
            }
            self.next().await?;
        }
    }

    async fn next(&mut self) -> Result<()> {
        let level = self.shared.levels.draw(&mut self.dice);
        if let Some(key) = self.first.pop_front() {
            return self.row(key, level).await;
        }
        let choice = self.dice.below(100);
        let registers = u64::from(self.shared.registers);
        if choice < AT_REGISTERS && registers > 0 {
            let key = self.dice.below(registers).cast_signed();
            return self.register(key, level).await;
        }
        let index = usize::try_from(self.dice.below(self.rows.len() as u64))?;
        match self.rows.keys().nth(index).copied() {
            Some(key) => self.row(key, level).await,
            None => Ok(()),
        }
    }

    async fn row(&mut self, key: i64, level: Level) -> Result<()> {
        let version = self.rows.get(&key).copied().unwrap_or(0) + 1;
        self.rows.insert(key, version);
        let deletes = version > 1 && self.dice.below(100) < DELETIONS;
        let action = if deletes { Action::Delete { version } } else { Action::Put { version } };
        self.attempt(key, level, |_| action).await.map(drop)
    }

    /// Change a register from what was last seen in it, or look at it.
    async fn register(&mut self, key: i64, level: Level) -> Result<()> {
        let outcome = match self.registers.remove(&key) {
            None => self.attempt(key, level, |_| Action::Read).await?,
            Some(from) => {
                let to = |id: u64| format!("{key}.{id}");
                let action = |id| Action::Swap { from, to: to(id) };
                match self.attempt(key, level, action).await? {
                    (id, Outcome::Acknowledged) => (id, Outcome::Found { value: Some(to(id)) }),
                    other => other,
                }
            }
        };
        if let (_, Outcome::Found { value }) = outcome {
            self.registers.insert(key, value);
        }
        Ok(())
    }

    async fn attempt(
        &self,
        key: i64,
        level: Level,
        action: impl FnOnce(u64) -> Action,
    ) -> Result<(u64, Outcome)> {
        let shared = &self.shared;
        let attempt = shared.recorder.attempt(key, level, action)?;
        let outcome = shared.statements.send(&shared.session, self.seed, &attempt).await;
        shared.recorder.outcome(attempt.id, outcome.clone())?;
        Ok((attempt.id, outcome))
    }
}
