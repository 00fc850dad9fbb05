//! The file of what was repaired. One of its own, as with jobs: an older agent
//! refuses a ledger with fields that it does not know.

use super::{Volume, durable};
use crate::repair::Memory;
use anyhow::Result;

const FILE: &str = "repairs.json";

impl Volume {
    /// What was repaired; nothing on a volume that is new.
    pub fn repairs(&self) -> Result<Memory> {
        Ok(durable::read_json(&self.own(FILE))?.unwrap_or_default())
    }

    /// Write it; on return it survives a power cut.
    pub fn save_repairs(&self, memory: &Memory) -> Result<()> {
        durable::write_json(&self.own(FILE), memory)
    }
}
