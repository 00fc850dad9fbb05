//! What is remembered of repairs, in memory as it is on the volume. The loop and
//! the task beside it, which repairs, write it both.

use super::memory::Memory;
use crate::volume::Volume;
use anyhow::Result;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory, and how often it was changed.
pub struct Repairs {
    volume: Volume,
    known: Mutex<(Memory, u64)>,
}

impl Repairs {
    /// Read it. What cannot be read is forgotten: nothing was ever repaired then.
    pub fn open(volume: &Volume) -> Self {
        let memory = volume.repairs().unwrap_or_else(|error| {
            tracing::warn!(
                error = format!("{error:#}"),
                "what was repaired cannot be read; all ranges count as never repaired"
            );
            Memory::default()
        });
        Self { volume: volume.clone(), known: Mutex::new((memory, 0)) }
    }

    fn lock(&self) -> MutexGuard<'_, (Memory, u64)> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ask it.
    pub fn read<T>(&self, of: impl FnOnce(&Memory) -> T) -> T {
        of(&self.lock().0)
    }

    /// Another number after each change.
    pub fn version(&self) -> u64 {
        self.lock().1
    }

    /// Change it; what is in memory is what is on the disk.
    pub fn change<T>(&self, change: impl FnOnce(&mut Memory) -> T) -> Result<T> {
        let mut known = self.lock();
        let mut memory = known.0.clone();
        let answer = change(&mut memory);
        if memory != known.0 {
            self.volume.save_repairs(&memory)?;
            *known = (memory, known.1 + 1);
        }
        Ok(answer)
    }
}
