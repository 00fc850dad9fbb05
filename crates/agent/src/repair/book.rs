//! What is remembered of repairs, in memory as it is on the volume. The loop and
//! the task beside it, which repairs, write it both.

use super::memory::Memory;
use super::pieces::AHEAD;
use crate::volume::Volume;
use anyhow::Result;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory, how often it was changed, and the newest of its times.
struct Known {
    memory: Memory,
    version: u64,
    newest: Option<i64>,
}

impl Known {
    fn of(memory: Memory, version: u64) -> Self {
        let newest = memory.newest();
        Self { memory, version, newest }
    }
}

/// The memory, in memory and on the volume.
pub struct Repairs {
    volume: Volume,
    known: Mutex<Known>,
}

impl Repairs {
    /// Read it. What cannot be read is forgotten: nobody knows then how late what is.
    pub fn open(volume: &Volume) -> Self {
        let memory = volume.repairs().unwrap_or_else(|error| {
            tracing::warn!(
                error = format!("{error:#}"),
                "what was repaired cannot be read; all ranges count as never repaired"
            );
            Memory::forgotten()
        });
        Self { volume: volume.clone(), known: Mutex::new(Known::of(memory, 0)) }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ask it.
    pub fn read<T>(&self, of: impl FnOnce(&Memory) -> T) -> T {
        of(&self.lock().memory)
    }

    /// Another number after each change.
    pub fn version(&self) -> u64 {
        self.lock().version
    }

    /// Change it; what is in memory is what is on the disk.
    pub fn change<T>(&self, change: impl FnOnce(&mut Memory) -> T) -> Result<T> {
        let mut known = self.lock();
        let mut memory = known.memory.clone();
        let answer = change(&mut memory);
        if memory != known.memory {
            #[cfg(test)]
            crate::jobs::kill::point();
            self.volume.save_repairs(&memory)?;
            *known = Known::of(memory, known.version + 1);
        }
        Ok(answer)
    }

    /// Forget what was repaired at a time that is ahead of now, as when a clock that
    /// was ahead has been set right.
    pub fn doubt(&self, now: i64) -> Result<()> {
        let newest = self.lock().newest;
        match newest.is_some_and(|newest| newest > now.saturating_add(AHEAD)) {
            true => self.change(|memory| memory.doubt(now)),
            false => Ok(()),
        }
    }
}
