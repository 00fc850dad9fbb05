//! Which repairs a server has under way, by the numbers that it gives them: it counts
//! up from its launch, and forgets some that are over.

use crate::admin::RepairState;
use futures::future::BoxFuture;
use std::collections::BTreeSet;

/// How many numbers in a row the server may not know, until nothing is looked for
/// behind them: those of repairs that it has forgotten.
const NUMBERS: i64 = 256;

/// Repairs under way.
#[derive(Clone, Debug)]
pub struct Numbers {
    next: i64,
    running: BTreeSet<i64>,
}

impl Numbers {
    /// Those that were given after this one.
    pub fn after(last: i64) -> Self {
        Self { next: last + 1, running: BTreeSet::new() }
    }

    /// Look again, at those that were given meanwhile and at those that ran.
    pub async fn look<'a, E>(
        &mut self,
        state: impl Fn(i64) -> BoxFuture<'a, Result<RepairState, E>>,
    ) -> Result<(), E> {
        let mut number = self.next;
        while number < self.next + NUMBERS {
            match state(number).await? {
                RepairState::Unknown => {}
                RepairState::Running => {
                    self.running.insert(number);
                    self.next = number + 1;
                }
                RepairState::Completed | RepairState::Failed(_) => self.next = number + 1,
            }
            number += 1;
        }
        for number in std::mem::take(&mut self.running) {
            if state(number).await? == RepairState::Running {
                self.running.insert(number);
            }
        }
        Ok(())
    }

    /// The last number that the server is known to have given.
    pub fn last(&self) -> i64 {
        self.next - 1
    }

    /// Those that run.
    pub fn running(&self) -> &BTreeSet<i64> {
        &self.running
    }
}
