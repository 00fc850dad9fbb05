//! The notes of a volume in memory, as they are on its disk. The loop and the
//! task beside it, which carries a job out, write them both.

use crate::volume::Volume;
use crate::volume::jobs::Notes;
use anyhow::Result;
use palladion_api::member::{Batch, JobStatus, JobUnit};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far the call under way is; not on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Percentage done of the whole job.
    pub progress: Option<u8>,
    /// How much of the table or of all keyspaces is done.
    pub done: Option<u64>,
    /// How much there is.
    pub total: Option<u64>,
    /// What these count.
    pub unit: Option<JobUnit>,
}

/// The notes.
pub struct Book {
    volume: Volume,
    notes: Mutex<Notes>,
    live: Mutex<Live>,
    offered: Mutex<Vec<Batch>>,
    said: Mutex<Option<String>>,
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// Read them.
    pub fn open(volume: &Volume) -> Result<Self> {
        let notes = Mutex::new(volume.jobs()?);
        let (live, offered, said) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Self { volume: volume.clone(), notes, live, offered, said })
    }

    /// The volume that they are on.
    pub fn volume(&self) -> &Volume {
        &self.volume
    }

    /// Ask them.
    pub fn read<T>(&self, of: impl FnOnce(&Notes) -> T) -> T {
        of(&lock(&self.notes))
    }

    /// Change them; what is in memory is what is on the disk.
    pub fn change(&self, change: impl FnOnce(&mut Notes)) -> Result<()> {
        let mut known = lock(&self.notes);
        let mut notes = known.clone();
        change(&mut notes);
        if notes != *known {
            #[cfg(test)]
            super::kill::point();
            self.volume.save_jobs(&notes)?;
            *known = notes;
        }
        Ok(())
    }

    /// How far the call under way is.
    pub fn show(&self, live: Live) {
        *lock(&self.live) = live;
    }

    /// What can be granted; not on the disk either.
    pub fn offer(&self, batches: Vec<Batch>) {
        *lock(&self.offered) = batches;
    }

    /// What the job waits for, in words; not on the disk either.
    pub fn say(&self, what: Option<String>) {
        *lock(&self.said) = what;
    }

    /// What is to be reported of the job that the spec names, else of the last one.
    pub fn status(&self, id: Option<&str>) -> Option<JobStatus> {
        let mut status = self.read(|notes| notes.status(id).cloned())?;
        if !status.state.is_final() {
            let live = *lock(&self.live);
            (status.progress, status.done) = (live.progress, live.done);
            (status.total, status.unit) = (live.total, live.unit);
            status.batches.clone_from(&lock(&self.offered));
            status.message.clone_from(&lock(&self.said));
        }
        Some(status)
    }
}
