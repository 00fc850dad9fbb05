//! The schema of a backup, which the child has just written into a file.

use super::Bench;
use palladion_agent_transfer::assign::restore;
use palladion_agent_transfer::restore::described;
use palladion_agent_transfer::restore::schema::Described;
use palladion_agent_transfer::words::stopped::Stopped;

/// Read it, and remove the file.
///
/// # Errors
/// It cannot be read, or has what is not known.
pub fn schema(bench: &Bench) -> Result<Described, Stopped> {
    let file = restore::schema(&bench.own);
    let text = std::fs::read_to_string(&file).map_err(|error| Stopped::Scratch {
        path: file.display().to_string(),
        why: error.to_string(),
    })?;
    // The next one truncates what is left.
    let _ = std::fs::remove_file(&file);
    described(&text)
}
